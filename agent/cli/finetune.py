"""The commands around fine-tuning, under `tableturn eval`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .plain import plain_errors


def register(app: typer.Typer) -> None:
    """Adds the commands; what they need is imported only when one runs."""
    app.command("export-sft")(export_sft)


def export_sft(
    out: Annotated[Path, typer.Option("--out", help="The JSONL file to write.")],
    dataset: Annotated[str, typer.Option("--dataset", help="A benchmark's name.")] = "cosql",
    split: Annotated[str, typer.Option("--split", help="Which part of the benchmark.")] = "train",
    data: Annotated[
        Path | None, typer.Option("--data", envvar="TABLETURN_DATA", help="Folder of benchmark data.")
    ] = None,
    limit: Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many interactions.")] = None,
    perturb: Annotated[
        float, typer.Option("--perturb", min=0, max=1, help="Share of records with a shuffled, padded schema.")
    ] = 0.15,
) -> None:
    """Write fine-tuning data: a chat a turn, in the form in which the `track` preset asks (Track-SQL B.4)."""
    from ...evals.datasets import load_dataset
    from ...evals.export_sft import export

    with plain_errors():
        count = export(load_dataset(dataset, split, data).first(limit), out, perturb)
    typer.echo(f"{out}: {count} turns")
