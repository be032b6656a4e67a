"""`python -m tableturn.evals.lab sft`: fine-tuning, as Track-SQL does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ....agent.cli.options import AnnotatorOption
from ....tools.terminal import say
from ...commands.options import DataOption, DatasetOption, JsonOption, LimitOption, SplitOption

app = typer.Typer(help="Fine-tune a model as Track-SQL does.", no_args_is_help=True)


@app.command("export")
def export_sft(
    out: Annotated[Path, typer.Option("--out", help="The JSONL file to write.")],
    dataset: DatasetOption = "cosql",
    split: SplitOption = "train",
    data: DataOption = None,
    limit: LimitOption = None,
    perturb: Annotated[
        float, typer.Option("--perturb", min=0, max=1, help="Share of records with a shuffled, padded schema.")
    ] = 0.15,
    annotator: AnnotatorOption = None,
    parts: Annotated[
        list[str] | None,
        typer.Option("--without-part", help="Leave out sese, acid or sace, as an ablation does; repeatable."),
    ] = None,
) -> None:
    """Write fine-tuning data: a chat a turn, in the form in which the `track` preset asks (Track-SQL B.4).

    With `--without-part sese --without-part sace` it is the paper's plain fine-tuning.
    """
    from ...datasets import load_dataset
    from ..training.export_sft import export

    count = export(load_dataset(dataset, split, data).first(limit), out, perturb, tuple(parts or ()), annotator)
    say(f"{out}: {count} turns")


@app.command("lora")
def train_lora(
    records: Annotated[Path, typer.Option("--records", help="The file that export wrote.")],
    model: Annotated[str, typer.Option("--model", help="The base model: a folder, or a name for transformers.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write the adapters in.")],
    rank: Annotated[int, typer.Option("--rank", min=1, help="The rank of the adapters.")] = 32,
    alpha: Annotated[int, typer.Option("--alpha", min=1, help="The scale of the adapters.")] = 64,
    dropout: Annotated[
        float, typer.Option("--dropout", min=0, max=0.99, help="The dropout before the adapters.")
    ] = 0.1,
    batch: Annotated[int, typer.Option("--batch", min=1, help="Records per batch.")] = 6,
    accumulate: Annotated[int, typer.Option("--accumulate", min=1, help="Batches per step.")] = 1,
    epochs: Annotated[float, typer.Option("--epochs", min=0.0001, help="Passes over the records.")] = 3.0,
    learning_rate: Annotated[float, typer.Option("--learning-rate", min=0, help="The highest learning rate.")] = 1e-4,
    max_tokens: Annotated[int, typer.Option("--max-tokens", min=16, help="Longer records are left out.")] = 4_096,
    seed: Annotated[int, typer.Option("--seed", help="The seed for order and weights.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Fine-tune a model on exported turns by LoRA, with Track-SQL's hyper-parameters; needs the extra `sft`."""
    from dataclasses import asdict

    from ..training.lora import LoraOptions, train

    options = LoraOptions(rank, alpha, dropout, batch, accumulate, epochs, learning_rate, max_tokens, seed)
    trained = train(records, model, out, options)
    if as_json:
        say(json.dumps(asdict(trained)))
        return
    say(f"{out}: {trained.records} records, {trained.steps} steps, loss {trained.loss}")
    if trained.too_long:
        say(f"{trained.too_long} records were too long")
