"""The laboratory's commands; what a command needs is imported when it runs."""

from __future__ import annotations

import json
import logging
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated

import typer
from typer import Argument, Option

from ...agent.cli import RootCommandGroup
from ...agent.options import AnnotatorOption, UrlOption, expand_options
from ...tools.errors import SettingsError
from ...tools.terminal import say, warn
from ..commands.evaluate import DataOption, DatasetOption, JsonOption, LimitOption, SplitOption, WithoutOption


class _LaboratoryGroup(RootCommandGroup):
    _complete = True  # plug-ins add their commands to `tableturn` alone


app = typer.Typer(
    name="tableturn.evals.lab",
    cls=_LaboratoryGroup,
    help="Measure tableturn, and fit what it carries.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command()
def bench(
    name: Annotated[str | None, Argument(help="The benchmark; without it, all are listed.")] = None,
    as_json: JsonOption = False,
    data: DataOption = None,
    limit: Annotated[int | None, Option(min=1, help="Measure only this many items.")] = None,
    official: Annotated[Path | None, Option(help="Folder of the official evaluator to compare with.")] = None,
    replies: Annotated[Path | None, Option(help="A JSONL file of stored model replies.")] = None,
    model: Annotated[str | None, Option(help="The model to ask for replies that are not stored yet.")] = None,
    base_url: UrlOption = None,
) -> None:
    """Run a benchmark, or list all benchmarks."""
    from .bench.registry import BENCHES, BenchOptions, run_bench

    if name is None:
        if as_json:
            say(json.dumps({key: entry.summary for key, entry in BENCHES.items()}))
            return
        width = max(map(len, BENCHES))
        for key, entry in BENCHES.items():
            say(f"{key:<{width}}  {entry.summary}{' (needs data)' if entry.needs_data else ''}")
        return
    try:
        figures = run_bench(name, BenchOptions(data, limit, official, replies, model, base_url))
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "tests":
            raise
        raise SettingsError(f"bench {name} takes its cases from the tests: run it in a clone of tableturn") from None
    command = " ".join(["python -m tableturn.evals.lab", *sys.argv[1:]])
    if as_json:
        say(json.dumps({"name": name, "figures": figures, "command": command}))
    else:
        say(f"{command}\n{json.dumps(figures, indent=2)}")


@app.command()
def disputes(
    dataset: Annotated[str, Argument(help="A benchmark's name, or a file of your own questions.")],
    split: Annotated[
        str | None, Option(help="The part of the benchmark. Default: dev, or test if there is no dev.")
    ] = None,
    verdicts: Annotated[
        Path | None, Option(help="A verdict file; the judgements of its readers count as evidence.")
    ] = None,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """List doubtful gold queries, with the evidence.

    A gold query is listed if it does not run, spells a value differently from the data, compares text where numbers or
    dates are meant, joins tables without a condition, or contradicts the gold query of the same question. It is also
    listed if readers, or readers and several published systems, disagree with it.
    """
    from ..adjudication.ruling import read_rulings
    from ..datasets import load_dataset
    from ..datasets.load import LAYOUTS
    from .disputes import find_disputes, read_published_predictions

    layout = LAYOUTS.get(dataset)
    part = split or ("test" if layout is not None and "dev" not in layout.splits else "dev")
    whole = load_dataset(dataset, part, data)
    asked = whole.without(without or ()).head(limit)
    rulings = read_rulings(verdicts) if verdicts is not None else ()
    found = find_disputes(asked, rulings, read_published_predictions(data, whole))
    golds = sum(bool(question.golds) for question in asked.questions)
    disputed = len({dispute.question.id for dispute in found})
    records = [
        {
            "id": dispute.question.id,
            "database": dispute.question.database,
            "question": dispute.question.text,
            "gold": dispute.question.golds[0],
            "kind": dispute.kind,
            "evidence": dispute.evidence,
        }
        for dispute in found
    ]
    if as_json:
        say(json.dumps({"golds": golds, "disputed": disputed, "disputes": records}))
        return
    for record in records:
        say("{id} ({database}, {kind}): {question}\n  {gold}\n  {evidence}".format(**record))
    say(f"{disputed} of {golds} golds are disputed")


train = typer.Typer(
    help="Fit the weights in the package, all except `evidence` on training databases.", no_args_is_help=True
)
app.add_typer(train, name="train")

FileArgument = Annotated[Path, Argument(help="The JSON file to write.")]


@train.command()
def evidence(out: FileArgument, data: DataOption = None, limit: LimitOption = None) -> None:
    """Fit evidence weights on published drafts (agent/evidence/data/evidence.json)."""
    from .training.fit_evidence import train_evidence_weights

    if data is None:
        raise SettingsError("published drafts are needed: pass --data, or set TABLETURN_DATA")
    say(f"{out}: {train_evidence_weights(out, data, limit)}")


@train.command()
def expectation(out: FileArgument, data: DataOption = None) -> None:
    """Fit the expected shape of a query (tools/expectation/data/expectation.json)."""
    from .training.fit_expectation import train_trait_models

    say(f"{out}: {train_trait_models(out, data)} questions")


@train.command()
def linker(
    out: Annotated[Path, Argument(help="The folder to write to; in the repository: tools/linking/data.")],
    data: DataOption = None,
    limit: LimitOption = None,
) -> None:
    """Fit the schema linker, in stages; needs the extra `sft`."""
    from .training.fit_linker import train_schema_linker

    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    say(f"{out}: {json.dumps(train_schema_linker(out, data, limit))}")


suite = typer.Typer(
    help="Test suites: databases that distinguish right queries from nearly right ones.", no_args_is_help=True
)
app.add_typer(suite, name="suite")


@suite.command("build")
def build_suites(
    dataset: DatasetOption,
    out: Annotated[Path, Option(help="Folder of suites, with one folder per schema.")],
    split: SplitOption = "dev",
    data: DataOption = None,
    without: WithoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build test suites from a dataset's gold queries; judge on them with `score --databases`."""
    from ..datasets import load_dataset
    from .bench.gold import group_golds
    from .suite import build_suite, check_output_folder

    questions = load_dataset(dataset, split, data).without(without or ())
    questions.on(out)  # not for questions of one's own
    golds = group_golds(questions.questions)
    for name in golds:
        check_output_folder(name, out)
    reports = []
    for name, queries in golds.items():
        found = build_suite(questions.find_file(name), queries, out)
        reports.append(asdict(found))
        line = f"{name}: {found.killed} of {found.mutants} mutants told apart by {found.databases} databases"
        (warn if as_json else say)(f"{line}, {found.seconds} s")
    if as_json:
        say(json.dumps(reports))


sft = typer.Typer(help="Fine-tune a model as Track-SQL does.", no_args_is_help=True)
app.add_typer(sft, name="sft")


@sft.command("export")
def export_sft(
    out: Annotated[Path, Option(help="The JSONL file to write.")],
    dataset: DatasetOption = "cosql",
    split: SplitOption = "train",
    data: DataOption = None,
    limit: LimitOption = None,
    perturb: Annotated[float, Option(min=0, max=1, help="Share of records with a shuffled, padded schema.")] = 0.15,
    annotator: AnnotatorOption = None,
    parts: Annotated[
        list[str] | None,
        Option("--without-part", help="Leave out sese, acid or sace, as an ablation does; repeatable."),
    ] = None,
) -> None:
    """Write fine-tuning data: one chat per turn, in the `track` preset's form (B.4).

    With `--without-part sese --without-part sace` it is the paper's plain fine-tuning.
    """
    from ..datasets import load_dataset
    from .training.sft import export_chats

    count = export_chats(load_dataset(dataset, split, data).head(limit), out, perturb, tuple(parts or ()), annotator)
    say(f"{out}: {count} turns")


@dataclass(frozen=True, kw_only=True)
class LoraOptions:
    """Training options.

    Rank, alpha, dropout and batch are those of Track-SQL 3.1. The learning rate falls as a cosine.
    """

    rank: Annotated[int, Option(min=1, help="The rank of the adapters.")] = 32
    alpha: Annotated[int, Option(min=1, help="The scale of the adapters.")] = 64
    dropout: Annotated[float, Option(min=0, max=0.99, help="The dropout before the adapters.")] = 0.1
    batch: Annotated[int, Option(min=1, help="Records per batch.")] = 6
    accumulate: Annotated[int, Option(min=1, help="Batches per step.")] = 1
    epochs: Annotated[float, Option(min=0.0001, help="Passes over the records.")] = 3.0
    learning_rate: Annotated[float, Option(min=0, help="The highest learning rate.")] = 1e-4
    max_tokens: Annotated[int, Option(min=16, help="Longer records are left out.")] = 4_096
    seed: Annotated[int, Option(help="The seed for order and weights.")] = 0


@sft.command("lora")
@expand_options()
def train_lora(
    records: Annotated[Path, Option(help="The file that export wrote.")],
    model: Annotated[str, Option(help="The base model: a folder, or a name for transformers.")],
    out: Annotated[Path, Option(help="The folder to write the adapters in.")],
    options: LoraOptions,
    as_json: JsonOption = False,
) -> None:
    """Fine-tune a model on exported turns by LoRA; needs the extra `sft`."""
    from .training.sft import train_lora_adapters

    trained = train_lora_adapters(records, model, out, options)
    if as_json:
        say(json.dumps(asdict(trained)))
        return
    say(f"{out}: {trained.records} records, {trained.steps} steps, loss {trained.loss}")
    if trained.too_long:
        say(f"{trained.too_long} records were too long")
