"""The command line's scripted evaluations: `bench`, `data check`, `score`, `eval`, `report`."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import finetune
from .plain import plain_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...evals.metrics import Scores, Summary, Verdict

DataOption = Annotated[
    Path | None, typer.Option("--data", envvar="TABLETURN_DATA", help="Folder of benchmark data.", show_envvar=True)
]
DatasetOption = Annotated[str, typer.Option("--dataset", help="A benchmark's name, or a file of your own questions.")]
SplitOption = Annotated[str, typer.Option("--split", help="Which part of the benchmark.")]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Only the first so many interactions.")]
WithoutOption = Annotated[list[str] | None, typer.Option("--without", help="Leave out a database; may be repeated.")]
DatabasesOption = Annotated[
    Path | None, typer.Option("--databases", help="Folder of databases to judge on instead, such as a test suite's.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_TOLD = 10
"""Questions whose gold fails that are told one by one."""

suite_app = typer.Typer(
    help="Test suites: databases that tell right queries from nearly right ones.", no_args_is_help=True
)
eval_app = typer.Typer(invoke_without_command=True)
data_app = typer.Typer(help="Look after benchmark data.", no_args_is_help=True)


def register(app: typer.Typer) -> None:
    """Adds the evaluation commands; what they need is imported only when one runs."""
    app.command("bench")(bench)
    app.command("score")(score)
    eval_app.callback()(evaluate)
    finetune.register(eval_app)
    app.add_typer(eval_app, name="eval")
    app.command("report")(report)
    app.command("experiment")(experiment)
    app.add_typer(data_app, name="data")
    app.add_typer(suite_app, name="suite")


def bench(
    name: Annotated[str | None, typer.Argument(help="Which one; without it, all are listed.")] = None,
    as_json: JsonOption = False,
    data: DataOption = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Measure only so many items.")] = None,
    official: Annotated[Path | None, typer.Option(help="Folder of the official evaluator to compare with.")] = None,
) -> None:
    """Measure a figure, or list what can be measured."""
    from ...evals.bench.registry import BENCHES, BenchOptions, run_bench

    if name is None:
        if as_json:
            typer.echo(json.dumps({key: entry.summary for key, entry in BENCHES.items()}))
            return
        width = max(map(len, BENCHES))
        for key, entry in BENCHES.items():
            typer.echo(f"{key:<{width}}  {entry.summary}{' (needs data)' if entry.needs_data else ''}")
        return
    with plain_errors():
        figures = run_bench(name, BenchOptions(data, limit, official))
    command = " ".join(["tableturn", *sys.argv[1:]])
    if as_json:
        typer.echo(json.dumps({"name": name, "figures": figures, "command": command}))
    else:
        typer.echo(f"{command}\n{json.dumps(figures, indent=2)}")


@data_app.command("check")
def check(
    directory: Annotated[
        Path | None, typer.Argument(help="Folder of benchmark data, or a file of your own questions.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check that benchmarks are whole: databases there and filled, gold queries running, published counts met.

    Exits with 1 where something is missing or fails.
    """
    from dataclasses import asdict

    from ...evals.datasets import read_plain
    from ...evals.datasets.check import check_data, check_dataset

    root = directory or Path(os.environ.get("TABLETURN_DATA", "."))
    with plain_errors():
        if root.is_file():
            reports = [check_dataset(read_plain(root))]
        elif root.is_dir():
            reports = check_data(root, lambda name: typer.echo(f"checking {name}", err=True))
        else:
            typer.echo(f"there is no {root}: name the folder that holds the benchmarks' folders, or a file", err=True)
            raise typer.Exit(2)
        if not reports:
            typer.echo(f"no known benchmark in {root}", err=True)
            raise typer.Exit(2)
    if as_json:
        typer.echo(json.dumps([asdict(report) for report in reports]))
    else:
        for report in reports:
            counts = f"{report.interactions} interactions, {report.questions} questions, {report.databases} databases"
            typer.echo(f"{report.dataset} {report.split}: {counts}{'' if report.findings else ', whole'}")
            for finding in report.findings:
                typer.echo(f"  {finding.kind} {finding.where} ({finding.questions} questions): {finding.message}")
    raise typer.Exit(1 if any(report.findings for report in reports) else 0)


@suite_app.command("build")
def build(
    dataset: DatasetOption,
    out: Annotated[Path, typer.Option("--out", help="Folder of suites, one folder a schema.")],
    split: SplitOption = "dev",
    data: DataOption = None,
    without: WithoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Build test suites from a dataset's gold queries; judge on them with `score --databases`."""
    from dataclasses import asdict

    from ...evals.datasets import load_dataset, schema_name
    from ...evals.suite import build_suite, check_folder

    with plain_errors():
        questions = load_dataset(dataset, split, data).without(without or ())
        golds: dict[str, list[str]] = {}
        for question in questions.questions:
            golds.setdefault(question.database, []).append(question.golds[0])
        for name in golds:
            check_folder(schema_name(name), out, questions.database(name))
        reports = []
        for name, queries in golds.items():
            reports.append(build_suite(questions.database(name), queries, out, name=schema_name(name)))
            found = reports[-1]
            line = f"{name}: {found.killed} of {found.mutants} mutants told apart by {found.databases} databases"
            typer.echo(f"{line}, {found.seconds} s", err=as_json)
    if as_json:
        typer.echo(json.dumps([asdict(found) for found in reports]))


def score(
    dataset: DatasetOption,
    predictions: Annotated[Path, typer.Option("--predictions", help="SQL by line, or JSON with id and sql.")],
    split: SplitOption = "dev",
    official: Annotated[bool, typer.Option("--official", help="Judge as the published evaluator does.")] = False,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    databases: DatabasesOption = None,
    timings: Annotated[int, typer.Option("--timings", min=0, help="Times each query is timed for BIRD's R-VES.")] = 0,
    as_json: JsonOption = False,
) -> None:
    """Judge predictions made elsewhere: execution accuracy, exact set match, share that runs."""
    from ...evals.datasets import load_dataset
    from ...evals.datasets.check import empty_databases
    from ...evals.metrics import StrictJudge, official_judge, read_predictions, summarize
    from ...evals.metrics import as_json as summary_as_json

    with plain_errors():
        whole = load_dataset(dataset, split, data)
        questions = whole.without(without or ()).first(limit)
        found = read_predictions(predictions, whole, questions)
        questions = questions.on(databases)
        with official_judge(questions, timings) if official else StrictJudge(questions) as judge:
            verdicts = [judge.judge(question, found.get(question.id, "")) for question in questions.questions]
        notes = [f"{finding.where}: {finding.message}" for finding in empty_databases(questions)]
    summary = summarize(verdicts)
    mode = "official" if official else "strict"
    if as_json:
        typer.echo(json.dumps({"mode": mode, "notes": notes, **summary_as_json(summary, verdicts)}))
        return
    _print_summary(summary, f"{questions.name} {questions.split}, {mode}")
    for note in notes:
        typer.echo(f"note: EX means little on {note}", err=True)
    _print_doubts(summary, verdicts)


def evaluate(
    context: typer.Context,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="A benchmark's name, or a file of your own questions; required.")
    ] = None,
    split: SplitOption = "dev",
    model: Annotated[str | None, typer.Option("--model", help="As for ask; or replay:FILE,FILE.")] = None,
    preset: Annotated[str | None, typer.Option("--preset", help="The agent's preset.")] = None,
    settings: Annotated[Path | None, typer.Option("--settings", help="A settings file, over the preset.")] = None,
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", help="zero-shot, random-examples, random-dialogues or langchain, instead of the agent."
        ),
    ] = None,
    history: Annotated[
        str, typer.Option("--history", help="What turns see of earlier ones: predicted SQL, or gold.")
    ] = "predicted",
    examples: Annotated[str | None, typer.Option("--examples", help="An example store.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="Of an OpenAI-compatible server.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Interactions at once.")] = 4,
    engine: Annotated[
        str, typer.Option("--engine", help="Where questions are answered: local, or ray (an extra).")
    ] = "local",
    out: Annotated[Path, typer.Option("--out", help="Folder of the run; the same one resumes it.")] = Path("eval-run"),
    price: Annotated[
        tuple[float, float] | None, typer.Option("--price", help="Dollars a million prompt and completion tokens.")
    ] = None,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the agent over a benchmark, or over your own questions, and judge its answers.

    A run that was ended, however hard, goes on where it was when it is started again with the same folder. Exits with 1
    where the model could not be asked some of the questions.
    """
    if context.invoked_subcommand is not None:
        if dataset is not None:
            raise typer.BadParameter(f"give --dataset after {context.invoked_subcommand}", param_hint="--dataset")
        return
    if dataset is None:
        raise typer.BadParameter("say which benchmark to run", param_hint="--dataset")
    import time

    from ...evals.datasets import load_dataset
    from ...evals.metrics import summarize
    from ...evals.runner import RunSpec, RunStopped, run_evaluation
    from ...evals.runner.progress import RunProgress
    from ...evals.runner.results import run_results, write_results
    from ..settings import read_settings

    with plain_errors():
        if history not in ("gold", "predicted"):
            raise typer.BadParameter("--history is gold or predicted")
        if engine not in ("local", "ray"):
            raise typer.BadParameter("--engine is local or ray")
        questions = load_dataset(dataset, split, data)
        fields = read_settings(settings) if settings else {}
        spec = RunSpec(
            dataset, split, model, preset, fields, history, limit, tuple(without or ()), examples, base_url, baseline
        )  # fmt: skip
        asked = questions.without(spec.without).first(limit)
        start = time.perf_counter()
        try:
            with RunProgress(len(asked.questions), price) as progress:
                answered = run_evaluation(spec, questions, out, jobs=jobs, listener=progress, engine=engine)
        except RunStopped as error:
            typer.echo(str(error), err=True)
            raise typer.Exit(1) from error
        results = run_results(spec, asked, answered, time.perf_counter() - start)
        write_results(results, out)
    verdicts = [verdict for _, verdict in answered]
    summary = summarize(verdicts)
    if as_json:
        typer.echo(json.dumps({key: results[key] for key in ("run", "strict", "official", "linking", "cost")}))
    else:
        _print_summary(summary, f"{asked.name} {asked.split}, strict")
        _print_doubts(summary, verdicts)
        cost = results["cost"]
        typer.echo(f"{cost['llm_calls']} calls, {cost['prompt_tokens']} + {cost['completion_tokens']} tokens; {out}")
    if summary.not_asked:
        first = next(verdict.error for verdict in verdicts if not verdict.asked)
        told = f"{len(summary.not_asked)} of {len(verdicts)} questions have no answer: {first}"
        typer.echo(f"{told}; start the same run again to ask them", err=True)
        raise typer.Exit(1)


def experiment(
    name: Annotated[str | None, typer.Argument(help="Which one; without it, all are listed.")] = None,
    model: Annotated[str | None, typer.Option("--model", help="As for ask; or replay:FILE,FILE.")] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="Of an OpenAI-compatible server.")] = None,
    examples: Annotated[str | None, typer.Option("--examples", help="An example store.")] = None,
    suites: Annotated[Path | None, typer.Option("--suites", help="Folder of test suites, to measure TS.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", min=1, help="Interactions at once.")] = 4,
    out: Annotated[Path, typer.Option("--out", help="Folder of the runs.")] = Path("experiments"),
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    as_json: JsonOption = False,
) -> None:
    """Repeat a table or figure of a paper, its numbers beside ours; judged as the papers did."""
    from dataclasses import asdict

    from ...evals.experiments import Setup, experiment_names, measure, read_experiment
    from ...evals.runner.progress import RunProgress

    if name is None:
        for known in experiment_names():
            typer.echo(f"{known:<18} {read_experiment(known).title}")
        return
    with plain_errors():
        chosen = read_experiment(name)
        setup = Setup(model, base_url, examples, data, suites, limit, tuple(without or ()), jobs)
        rows = measure(chosen, setup, out / name, lambda _, total: RunProgress(total))
    if as_json:
        typer.echo(json.dumps({"name": name, "title": chosen.title, "rows": [asdict(row) for row in rows]}))
        return
    typer.echo(f"{chosen.title}\n(paper / here)")
    for row in rows:
        typer.echo(f"{row.name}{f' (not run: {row.failed})' if row.failed else ''}")
        for figure in chosen.shown:
            paper, ours = (f"{v:.1f}" if v is not None else "-" for v in (row.paper.get(figure), row.ours.get(figure)))
            typer.echo(f"  {figure:<10} {paper:>6} / {ours}")
    if suites is None and any(figure.endswith("ts") for figure in chosen.shown):
        typer.echo("TS is not run: it needs --suites DIR, which `tableturn suite build --out DIR` makes", err=True)


def report(
    folders: Annotated[list[Path], typer.Argument(help="Folders of finished runs; the first is compared with.")],
    out: Annotated[Path, typer.Option("--out", help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one self-contained page about finished runs, side by side, with every question."""
    from ...evals.report import write_report

    with plain_errors():
        write_report(folders, out)
    typer.echo(str(out))


def _print_doubts(summary: Summary, verdicts: Sequence[Verdict]) -> None:
    """Says which questions are not judged, and which golds are disputed, a few one by one."""
    unjudged = [verdict for verdict in verdicts if verdict.question.id in summary.unjudged]
    notes = [f"{verdict.question.id} is not judged: {verdict.error}" for verdict in unjudged[:_TOLD]]
    if len(unjudged) > _TOLD:
        notes.append(f"{len(unjudged) - _TOLD} more are not judged")
    for verdict in [verdict for verdict in verdicts if verdict.question.disputed and verdict.ex is not None][:_TOLD]:
        outcome = "right" if verdict.ex else "wrong"
        notes.append(f"{verdict.question.id}, counted {outcome}, has a disputed gold: {verdict.question.disputed}")
    for note in notes:
        typer.echo(f"note: {note}", err=True)


def _print_summary(summary: Summary, title: str) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("", "n", "EX", "EM", "valid", title=title)

    def add(name: str, scores: Scores) -> None:
        shares = ["-" if share is None else f"{100 * share:.1f}" for share in (scores.ex, scores.em, scores.valid)]
        counted = str(scores.n) if scores.judged == scores.n else f"{scores.judged} of {scores.n}"
        table.add_row(name, counted, *shares)

    for level, scores in summary.by_hardness.items():
        add(level, scores)
    if len(summary.by_turn) > 1:
        for turn, scores in summary.by_turn.items():
            add(f"turn {turn}", scores)
        add("interactions", summary.interactions)
    add("all", summary.all)
    Console().print(table)
