"""`tableturn eval`, `score`, `report`, `models` and `data check`: runs over questions, and what they showed."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ...agent.cli.options import AnnotatorOption, BaseUrlOption, PresetOption, SettingsOption
from ...tools.errors import SettingsError
from ...tools.terminal import say, warn
from .moved import add_moved
from .options import (
    DataOption,
    DatasetOption,
    EvalEmbeddingOption,
    ExamplesOption,
    JobsOption,
    JsonOption,
    LimitOption,
    ModelOption,
    RecordOption,
    SplitOption,
    VerdictsOption,
    WithoutOption,
)
from .summaries import print_doubts, print_outcomes, print_summary

if TYPE_CHECKING:
    from ..datasets import Dataset
    from ..metrics import Verdict
    from ..runner import RunSpec
    from ..runner.run import Engine

app = typer.Typer(invoke_without_command=True)


@app.callback()
def evaluate(
    context: typer.Context,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="A benchmark's name, or a file of your own questions; required.")
    ] = None,
    split: SplitOption = "dev",
    model: ModelOption = None,
    preset: PresetOption = None,
    settings: SettingsOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", help="zero-shot, random-examples, random-dialogues or langchain, instead of the agent."
        ),
    ] = None,
    history: Annotated[
        str, typer.Option("--history", help="The SQL of earlier turns that a turn sees: predicted, or gold.")
    ] = "predicted",
    examples: ExamplesOption = None,
    embedding: EvalEmbeddingOption = "hashed",
    base_url: BaseUrlOption = None,
    annotator: AnnotatorOption = None,
    jobs: JobsOption = 4,
    engine: Annotated[str, typer.Option("--engine", help="Where to run: local, or ray (an extra).")] = "local",
    out: Annotated[Path, typer.Option("--out", help="Folder of the run; give the same one to resume.")] = Path(
        "eval-run"
    ),
    price: Annotated[
        tuple[float, float] | None, typer.Option("--price", help="Dollars per million prompt and completion tokens.")
    ] = None,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    verdicts: VerdictsOption = None,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="How often to run, each time in its own folder in --out.")
    ] = 1,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the agent over a benchmark, or over your own questions, and judge its answers.

    If a run was stopped or killed, start it again with the same folder to continue it. Exits with 1
    if some questions could not be sent to the model.
    """
    if context.invoked_subcommand is not None:
        return
    if dataset is None:
        raise typer.BadParameter("say which benchmark to run", param_hint="--dataset")
    from ...agent.settings import read_settings
    from ..datasets import load_dataset
    from ..runner import RunSpec, RunStopped

    if history not in ("gold", "predicted"):
        raise typer.BadParameter("--history is gold or predicted")
    if engine not in ("local", "ray"):
        raise typer.BadParameter("--engine is local or ray")
    questions = load_dataset(dataset, split, data)
    fields = read_settings(settings) if settings else {}
    left_out = tuple(without or ())
    spec = RunSpec(
        dataset, split, model, preset, fields, history, limit, left_out, examples, base_url, baseline, embedding,
        annotator,
    )  # fmt: skip
    folders = [out] if repeats == 1 else [out / f"repeat-{number}" for number in range(1, repeats + 1)]
    try:
        ended = [_run(spec, questions, folder, jobs, engine, price, verdicts, record) for folder in folders]
    except RunStopped as error:
        warn(str(error))
        raise typer.Exit(1) from error
    if as_json and repeats == 1:
        say(json.dumps({"run": ended[0].results["run"], **ended[0].shown}))
    elif not as_json:
        for run in ended:
            run.print()
    if repeats > 1:
        _print_repeats(ended, as_json)
    if left := [verdict for run in ended for verdict in run.verdicts if not verdict.asked]:
        asked = sum(len(run.verdicts) for run in ended if not all(verdict.asked for verdict in run.verdicts))
        told = f"{len(left)} of {asked} questions have no answer: {left[0].error}"
        warn(f"{told}; start the same run again to ask them")
        raise typer.Exit(1)


@dataclass(frozen=True)
class _Ended:
    """A run that has come to its end."""

    title: str
    out: Path
    results: dict[str, Any]
    verdicts: Sequence[Verdict]

    @property
    def shown(self) -> dict[str, Any]:
        """What `--json` prints beside the run's specification."""
        outcomes = ["outcomes"] if self.results["outcomes"] else []
        printed = ("strict", "official", "linking", "cost", "by_verdict", *outcomes)
        return {key: self.results[key] for key in printed}

    def print(self) -> None:
        """Print scores, doubts and cost."""
        from ..adjudication.ruling import tell_scores
        from ..metrics import summarize

        with_gold = [verdict for verdict in self.verdicts if verdict.question.golds]
        summary = summarize(with_gold)
        print_summary(summary, self.title)
        if self.results["by_verdict"]["ruled"]:
            say(tell_scores(self.results["by_verdict"], summary.all.ex))
        print_outcomes(self.results["outcomes"])
        print_doubts(summary, with_gold)
        cost = self.results["cost"]
        tokens = f"{cost['prompt_tokens']} + {cost['completion_tokens']} tokens"
        say(f"{cost['llm_calls']} calls, {tokens}; {self.out}")


def _run(
    spec: RunSpec,
    questions: Dataset,
    out: Path,
    jobs: int,
    engine: Engine,
    price: tuple[float, float] | None,
    verdict_file: Path | None,
    record: Path | None,
) -> _Ended:
    import time

    from ...agent.model.record import check_record_file
    from ..adjudication.ruling import rulings_beside
    from ..runner import run_evaluation
    from ..runner.progress import RunProgress
    from ..runner.results import add_records, chosen_record, recorded_in, run_results, write_results

    file = chosen_record(record, spec)
    if file is not None:
        check_record_file(file)
    kept_before = recorded_in(out)
    rulings = rulings_beside(out, verdict_file)
    asked = questions.without(spec.without).first(spec.limit)
    start = time.perf_counter()
    with RunProgress(len(asked.questions), price) as progress:
        answered = run_evaluation(spec, questions, out, jobs=jobs, listener=progress, engine=engine)
    results = run_results(spec, asked, answered, time.perf_counter() - start, rulings)
    verdicts = [verdict for _, verdict in answered]
    if file is not None and kept_before != str(file) and all(verdict.asked for verdict in verdicts):
        add_records(spec, answered, results, file)
        kept_before = str(file)
    write_results({**results, "recorded": kept_before}, out)
    return _Ended(f"{asked.name} {asked.split}, strict", out, results, verdicts)


def _print_repeats(ended: Sequence[_Ended], as_json: bool) -> None:
    """Print how far apart the runs of `--repeats` are."""
    from ..metrics.summary import repeats

    found = repeats([{v.question.id: v.ex for v in run.verdicts if v.ex is not None} for run in ended])
    if as_json:
        runs = [run.shown for run in ended]
        say(json.dumps({"run": ended[0].results["run"], "repeats": asdict(found), "runs": runs}))
        return
    say(found.told)
    if found.unstable:
        say(f"unstable: {', '.join(found.unstable)}")


add_moved(app, "eval export-sft", "sft export")
add_moved(app, "eval train-lora", "sft lora")


def score(
    dataset: DatasetOption,
    predictions: Annotated[
        Path, typer.Option("--predictions", help="One SQL query per line, or JSON with id and sql.")
    ],
    split: SplitOption = "dev",
    official: Annotated[
        bool, typer.Option("--official", help="Judge by the rules of the published evaluator.")
    ] = False,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    databases: Annotated[
        Path | None,
        typer.Option("--databases", help="Folder of databases to judge on instead, such as a test suite's."),
    ] = None,
    verdicts: Annotated[
        Path | None, typer.Option("--verdicts", help="A verdict file, to print EX by verdict as well as EX by gold.")
    ] = None,
    timings: Annotated[
        int, typer.Option("--timings", min=0, help="How often to time each query for BIRD's R-VES.")
    ] = 0,
    as_json: JsonOption = False,
) -> None:
    """Judge predictions made elsewhere: execution accuracy, exact set match, share that runs."""
    from ..adjudication.ruling import judge_outcomes, read_rulings, score_outcomes, tell_scores
    from ..datasets import load_dataset
    from ..datasets.check import empty_databases
    from ..metrics import StrictJudge, official_judge, read_predictions, summarize
    from ..metrics import as_json as summary_as_json

    rulings = read_rulings(verdicts) if verdicts is not None else None
    whole = load_dataset(dataset, split, data)
    questions = whole.without(without or ()).first(limit)
    found = read_predictions(predictions, whole, questions)
    questions = questions.on(databases)
    with official_judge(questions, timings) if official else StrictJudge(questions) as judge:
        judged = [judge.judge(question, found.get(question.id, "")) for question in questions.questions]
    notes = [f"{finding.where}: {finding.message}" for finding in empty_databases(questions)]
    summary = summarize(judged)
    ruled = None if rulings is None else score_outcomes(judge_outcomes(questions, judged, rulings))
    mode = "official" if official else "strict"
    if as_json:
        more = {} if ruled is None else {"by_verdict": ruled}
        say(json.dumps({"mode": mode, "notes": notes, **summary_as_json(summary, judged), **more}))
        return
    print_summary(summary, f"{questions.name} {questions.split}, {mode}")
    for note in notes:
        warn(f"note: EX means little on {note}")
    if ruled is not None:
        say(tell_scores(ruled, summary.all.ex))
    print_doubts(summary, judged)


def report(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of finished runs; the others are compared with the first.")
    ],
    out: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one self-contained page about finished runs, side by side, with every question.

    Says in a sentence each whether the runs differ from the first.
    """
    from ..report import write_report

    conclusions = write_report(folders, out)
    say(str(out))
    for conclusion in conclusions:
        say(conclusion)


def models(
    record: Annotated[
        Path | None, typer.Option("--record", help="The file of records. Default: the one in your data folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how often each model was right, by database, and what it took."""
    from ...agent.model.record import read_records, record_file
    from ..metrics.summary import standings

    path = record or record_file()
    assert path is not None
    found = standings(read_records(path))
    if as_json:
        say(json.dumps([asdict(standing) for standing in found]))
        return
    if not found:
        say(f"nothing in {path} yet: `tableturn eval`, `tableturn trial` and approved answers add to it")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for name in ("model", "database", "runs", "n", "right by gold", "by verdict", "calls", "prompt tokens", "last"):
        table.add_column(name, overflow="fold")
    for standing in found:
        table.add_row(*standing.cells())
    Console().print(table)


data_app = typer.Typer(help="Check benchmark data.", no_args_is_help=True)


@data_app.command("check")
def check(
    directory: Annotated[
        Path | None, typer.Argument(help="Folder of benchmark data, or a file of your own questions.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check that benchmarks are complete: databases exist and have rows, gold queries run, counts are as published.

    Exits with 1 if something is missing or fails.
    """
    from ..datasets import read_plain
    from ..datasets.check import check_data, check_dataset

    root = directory or Path(os.environ.get("TABLETURN_DATA", "."))
    if root.is_file():
        reports = [check_dataset(read_plain(root))]
    elif root.is_dir():
        reports = check_data(root, lambda name: warn(f"checking {name}"))
    else:
        raise SettingsError(f"there is no {root}: name the folder that holds the benchmarks' folders, or a file")
    if not reports:
        raise SettingsError(f"no known benchmark in {root}")
    if as_json:
        say(json.dumps([asdict(report) for report in reports]))
    else:
        for report in reports:
            counts = f"{report.interactions} interactions, {report.questions} questions, {report.databases} databases"
            say(f"{report.dataset} {report.split}: {counts}{'' if report.findings else ', whole'}")
            for finding in report.findings:
                say(f"  {finding.kind} {finding.where} ({finding.questions} questions): {finding.message}")
    raise typer.Exit(1 if any(report.findings for report in reports) else 0)


add_moved(data_app, "data disputes", "disputes DATASET")
