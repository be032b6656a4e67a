"""`tableturn eval`, `score`, `report`, `models`, `experiment` and `impact`."""

from __future__ import annotations

import json
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from ...agent.options import (
    OFFLINE_LINE,
    AnnotatorOption,
    EmbeddingOption,
    PresetOption,
    PriceOption,
    SettingsOption,
    UrlOption,
    expand_options,
    is_model_unnamed,
)
from ...tools.errors import SettingsError
from ...tools.terminal import say, warn
from ...tools.words import format_count

if TYPE_CHECKING:
    from ..impact import Change
    from ..metrics.judging import Verdict
    from ..report.page import Section

DataOption = Annotated[
    Path | None, typer.Option(envvar="TABLETURN_DATA", help="Folder of benchmark data.", show_envvar=True)
]
DatasetOption = Annotated[str, typer.Option(help="A benchmark's name, or a file of your own questions.")]
SplitOption = Annotated[str, typer.Option(help="Which part of the benchmark, such as dev.")]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="Use only the first interactions, as many as this. Default: all.")
]
WithoutOption = Annotated[list[str] | None, typer.Option(help="Leave out a database; repeatable.")]
ExamplesOption = Annotated[str | None, typer.Option(help="An example store.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
RecordOption = Annotated[
    Path | None,
    typer.Option(help="The record of models to add to (`tableturn models`), or off. Default: in your data folder."),
]
VerdictsOption = Annotated[
    Path | None, typer.Option(help="A verdict file. Default: verdicts.jsonl in the run's folder.")
]


@dataclass(frozen=True, kw_only=True)
class AnsweringOptions:
    """Command-line options for the model, the settings and the examples of a run."""

    model: Annotated[str | None, typer.Option(help="A model, as for ask; or stored replies, replay:FILE,FILE.")] = None
    preset: PresetOption = None
    settings: SettingsOption = None
    examples: ExamplesOption = None
    embedding: EmbeddingOption = "hashed"
    base_url: UrlOption = None
    annotator: AnnotatorOption = None
    jobs: Annotated[int, typer.Option(min=1, help="Number of interactions to run at once.")] = 4

    def read_settings(self) -> dict[str, Any]:
        """Return the fields of the settings file; {} if no file is given."""
        from ...agent.settings import read_settings_file

        return read_settings_file(self.settings) if self.settings else {}

    def get_fields(self, *names: str, warns: bool = True) -> dict[str, Any]:
        """Return the shared fields of runs and trials, plus `names`; warn if no model is chosen."""
        from ...agent.model import choose_model_name

        model = choose_model_name(self.model, self.base_url)
        if is_model_unnamed(self.model) and model == "offline" and warns:
            warn(f"tableturn: {OFFLINE_LINE}")
        fields = {name: getattr(self, name) for name in ("preset", "examples", "base_url", *names)}
        return {**fields, "model": model, "settings": self.read_settings()}


MAX_IDS = 10  # the number of questions that are named one by one


def warn_of_doubtful_verdicts(verdicts: Sequence[Verdict]) -> None:
    """Warn of unjudged questions and of disputed gold queries, and name a few of each."""
    failures = [verdict for verdict in verdicts if verdict.ex is None and verdict.was_asked and verdict.question.golds]
    for verdict in failures[:MAX_IDS]:
        warn(f"note: {verdict.question.id} is not judged: {verdict.error}")
    if len(failures) > MAX_IDS:
        warn(f"note: further questions that are not judged: {len(failures) - MAX_IDS}")
    for verdict in [verdict for verdict in verdicts if verdict.question.disputed and verdict.ex is not None][:MAX_IDS]:
        outcome = f"{verdict.question.id}, counted {'right' if verdict.ex else 'wrong'}"
        warn(f"note: {outcome}, has a gold query that may be wrong: {verdict.question.disputed}")


def print_report_sections(sections: Sequence[Section]) -> None:
    """Print the sections of a run's report, one line per row."""
    for section in sections:
        if section.rows:
            say(section.title)
        for row in section.rows:
            say(f"  {row.name}: {', '.join(row.cells)}")


@contextmanager
def exit_if_run_stopped() -> Generator[None]:
    """Exit with status 1 if the run stopped because several questions could not be asked."""
    from ..runner.run import RunStopped

    try:
        yield
    except RunStopped as error:
        warn(str(error))
        raise typer.Exit(1) from error


@expand_options()
def evaluate(
    dataset: DatasetOption,
    options: AnsweringOptions,
    split: SplitOption = "dev",
    baseline: Annotated[
        str | None,
        typer.Option(help="zero-shot, random-examples, random-dialogues or langchain, instead of the agent."),
    ] = None,
    history: Annotated[Literal["predicted", "gold"], typer.Option(help="The SQL that later turns see.")] = "predicted",
    engine: Annotated[Literal["local", "ray"], typer.Option(help="On this machine or a Ray cluster.")] = "local",
    out: Annotated[Path, typer.Option(help="Folder of the run; give the same one to resume.")] = Path("eval-run"),
    price: PriceOption = None,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    verdicts: VerdictsOption = None,
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Run the agent over a benchmark, or over your own questions, and judge its answers.

    If a run was stopped or killed, start it again with the same folder to continue it. Exits with 1
    if the model or a database was out of reach for some questions.
    """
    from ...agent.model import check_record_file, get_record_file_path
    from ..adjudication.ruling import VERDICTS_FILE, format_scores_line, read_rulings
    from ..datasets import load_dataset
    from ..metrics.judging import describe_unanswered
    from ..report.page import make_run_sections
    from ..runner.record import RunSpec, is_replay_model
    from ..runner.results import RESULTS_FILE, RunResults, add_model_records, read_results, write_results
    from ..runner.run import RunProgress, run_evaluation

    questions = load_dataset(dataset, split, data)
    fields = options.get_fields("embedding", "annotator", warns=baseline is None)
    spec = RunSpec(
        dataset, split, history=history, limit=limit, without=tuple(without or ()), baseline=baseline, **fields
    )
    selection = questions.without(spec.without).head(spec.limit)
    # Recorded predictions and baselines say nothing of what a model does in the agent.
    file = None if record is None and (baseline or is_replay_model(spec.model)) else get_record_file_path(record)
    if file is not None:
        check_record_file(file)
    # A run is added to the record once, however often it is started again.
    record_file = str(read_results(out).get("recorded") or "") if (out / RESULTS_FILE).exists() else ""
    rulings = read_rulings(verdicts or out / VERDICTS_FILE, allow_missing=verdicts is None)
    start = time.perf_counter()
    with exit_if_run_stopped(), RunProgress(len(selection.questions), price) as progress:
        answers = run_evaluation(spec, questions, out, jobs=options.jobs, listener=progress, engine=engine)
    results = RunResults(selection, answers).as_json(spec, time.perf_counter() - start, rulings)
    if questions.root is None:  # a file, which is read again from elsewhere
        results["run"]["dataset"] = str(Path(dataset).absolute())
    outcomes = [verdict for _, verdict in answers]
    unanswered = describe_unanswered([verdict.error for verdict in outcomes])
    if file is not None and record_file != str(file) and not unanswered and add_model_records(results, file):
        record_file = str(file)
    write_results({**results, "recorded": record_file}, out)
    if as_json:
        keys = ["run", "strict", "official", "linking", "cost", "by_verdict", *["outcomes"] * bool(results["outcomes"])]
        say(json.dumps({key: results[key] for key in keys}))
    else:
        print_report_sections(make_run_sections({f"{selection.name} {selection.split}": results}))
        if results["by_verdict"]["ruled"]:
            say(format_scores_line(results["by_verdict"], outcomes))
        warn_of_doubtful_verdicts(outcomes)
        say(str(out))
    if unanswered:
        warn(unanswered)
        raise typer.Exit(1)


def score(
    dataset: DatasetOption,
    predictions: Annotated[Path, typer.Option(help="One SQL query per line, or JSON with id and sql.")],
    split: SplitOption = "dev",
    official: Annotated[
        bool, typer.Option("--official", help="Judge by the rules of the published evaluator.")
    ] = False,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    databases: Annotated[
        Path | None, typer.Option(help="Folder of databases to judge on instead, such as a test suite's.")
    ] = None,
    verdicts: Annotated[
        Path | None, typer.Option(help="A verdict file, to print EX by verdict as well as EX by gold.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge predictions made elsewhere: execution accuracy, exact set match, share that runs."""
    from ..adjudication.ruling import apply_rulings, format_scores_line, read_rulings, score_outcomes
    from ..datasets import find_empty_tables, load_dataset, read_predictions
    from ..metrics.judging import StrictJudge, make_official_judge
    from ..metrics.summary import dump_scores as score_verdicts
    from ..report.page import make_run_sections

    rulings = read_rulings(verdicts) if verdicts is not None else None
    all_questions = load_dataset(dataset, split, data)
    questions = all_questions.without(without or ()).head(limit)
    sql_by_id = read_predictions(predictions, all_questions, questions)
    questions = questions.on(databases)
    with make_official_judge(questions) if official else StrictJudge(questions) as judge:
        # As `eval` counts: what is to be declined has no gold to be judged by.
        results = [judge.judge(turn, sql_by_id.get(turn.id, "")) for turn in questions.questions if turn.golds]
    notes = find_empty_tables(questions)
    scores = score_verdicts(results)
    by_verdict = {} if rulings is None else {"by_verdict": score_outcomes(apply_rulings(questions, results, rulings))}
    mode = "official" if official else "strict"
    if as_json:
        names = ("ex", "em", "hardness", "error")
        by_question = [{"id": item.question.id} | {name: getattr(item, name) for name in names} for item in results]
        say(json.dumps({"mode": mode, "notes": notes, **scores, "per_question": by_question, **by_verdict}))
        return
    print_report_sections(make_run_sections({f"{questions.name} {questions.split}": {mode: scores}}))
    for note in notes:
        warn(f"note: EX means little on {note}")
    if by_verdict:
        say(format_scores_line(by_verdict["by_verdict"], results))
    warn_of_doubtful_verdicts(results)


def report(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of finished runs; the others are compared with the first.")
    ],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one self-contained page about finished runs, side by side, with every question.

    Says in a sentence each whether the runs differ from the first.
    """
    from ..report.page import write_report

    say("\n".join([str(out), *write_report(folders, out)]))


def models(
    record: Annotated[
        Path | None, typer.Option(help="The file of records. Default: the one in your data folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how often each model was right, by database, and what it took."""
    from ...agent.model import get_record_file_path, read_records
    from ..metrics.summary import compute_model_standings, format_share_with_interval

    path = record or get_record_file_path()
    assert path is not None
    standings = compute_model_standings(read_records(path))
    if as_json:
        say(json.dumps(standings))
        return
    if not standings:
        say(f"no records in {path} yet: `tableturn eval`, `tableturn trial` and approved answers add them")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for name in ("model", "database", "runs", "n", "right by gold", "by verdict", "calls", "prompt tokens", "last"):
        table.add_column(name, overflow="fold")
    for row in standings:
        shares = {name: format_share_with_interval(row[name]) for name in ("by_gold", "by_verdict")}
        table.add_row(*map(str, {**row, **shares, "last": row["last"][:10]}.values()))
    Console().print(table)


@expand_options(without=("preset", "settings"))
def experiment(
    options: AnsweringOptions,
    name: Annotated[str | None, typer.Argument(help="The experiment; without it, all are listed.")] = None,
    model_for: Annotated[
        list[str] | None, typer.Option(help="ROW=MODEL: another model for the row with this name; repeatable.")
    ] = None,
    suites: Annotated[Path | None, typer.Option(help="Folder of test suites, for measuring TS.")] = None,
    out: Annotated[Path, typer.Option(help="Folder of the runs.")] = Path("experiments"),
    data: DataOption = None,
    split: Annotated[
        str | None, typer.Option(help="The dataset to use instead of the paper's, such as mini_dev.")
    ] = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    repeats: Annotated[
        int, typer.Option(min=1, help="How often to run each row, with different seeds; prints mean and deviation.")
    ] = 1,
    as_json: JsonOption = False,
) -> None:
    """Repeat a paper's table or figure and show its numbers beside ours.

    Where the data or the example store that it needs is not there, it says `not run` and why, and exits with 1.
    """
    from ..experiments.measure import (
        ExperimentSetup,
        NotRun,
        format_figure_comparison,
        format_row_name,
        list_experiment_names,
        list_remarks,
        measure,
        read_experiment,
    )
    from ..runner.record import RunSpec
    from ..runner.run import RunProgress

    if name is None:
        for experiment_name in list_experiment_names():
            say(f"{experiment_name:<18} {read_experiment(experiment_name).title}")
        return
    plan = read_experiment(name)
    row_models = plan.parse_row_models(model_for or ())
    run_rows = (row for row in plan.rows if not row.not_run and row.combine is None)
    about = options.get_fields("embedding", "annotator", warns=any(row.name not in row_models for row in run_rows))
    spec = RunSpec("", split or "", limit=limit, without=tuple(without or ()), **about)
    setup = ExperimentSetup(spec, data, suites, options.jobs, repeats, row_models)
    try:
        rows = measure(plan, setup, out / name, lambda _, total: RunProgress(total))
    except NotRun as reason:
        outcome = {"name": name, "title": plan.title, "rows": [], "not_run": str(reason)}
        say(json.dumps(outcome) if as_json else f"{plan.title}\nnot run: {reason}")
        raise typer.Exit(1) from reason
    notes = list_remarks(plan, setup, rows)
    if as_json:
        say(json.dumps({"name": name, "title": plan.title, "rows": list(map(asdict, rows)), "remarks": notes}))
        return
    say(f"{plan.title}\n(paper / here)")
    width = max(10, *map(len, plan.measures))
    for row in rows:
        say(format_row_name(row))
        for figure in plan.measures:
            say(f"  {figure:<{width}} {format_figure_comparison(row, figure)}")
    for note in notes:
        say(note)
    if suites is None and any(figure.endswith("ts") for figure in plan.measures):
        warn("TS is skipped: pass --suites DIR, made with `python -m tableturn.evals.lab suite build --out DIR`")


def impact(
    before: Annotated[str, typer.Option(help="The old state: a database, by its path or URL.")],
    after: Annotated[str, typer.Option(help="The new state: a path or URL, too.")],
    history: Annotated[
        list[Path] | None,
        typer.Option(help="Past answers: an audit trail, SQL, or the folder of a trial or a run; repeatable."),
    ] = None,
    examples: ExamplesOption = None,
    embedding: EmbeddingOption = "hashed",
    knowledge_before: Annotated[Path | None, typer.Option(help="The old state's knowledge file.")] = None,
    knowledge_after: Annotated[Path | None, typer.Option(help="The new state's knowledge file.")] = None,
    gate: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exit with 1 if a smaller share of past answers stays the same.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Replay past answers on a new state of a database and show which of them change.

    What only a model can settle does not count as staying for --gate.
    """
    from ...tools.database import Database
    from ..impact import impact as replay
    from ..impact import read_past_answers, read_side, read_verified_queries

    old_state, new_state = read_side(before, knowledge_before), read_side(after, knowledge_after)
    past = [answer for path in history or () for answer in read_past_answers(path)]
    if examples is not None:
        with Database.open(old_state.database) as database:
            past += read_verified_queries(database, examples, embedding)
    if not past:
        raise SettingsError("there are no past answers to replay: pass --history or --examples")
    effects = replay(old_state, new_state, past)
    fields = effects.as_json()
    is_met = gate is None or (effects.kept_share is not None and effects.kept_share >= gate)
    if as_json:
        say(json.dumps({**fields, "gate": None if gate is None else {"least": gate, "met": is_met}}))
    else:
        for change in [*effects.of("error", "rows"), *effects.of("unsettled")]:
            _print_answer_change(change)
        counts = ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in fields["counts"].items() if count)
        say(f"{format_count(fields['answers'], 'past answer', 'past answers')}: {counts}")
    if not is_met:
        warn(f"fewer than {100 * (gate or 0):g} % of past answers stay the same (--gate)")
        raise typer.Exit(1)


def _print_answer_change(change: Change) -> None:
    past = change.past
    origin = ", ".join(part for part in (past.user, past.time, past.source) if part)
    effect = "unknown without a model" if change.kind == "unsettled" else change.kind
    say(f"{past.question or past.sql} ({origin})\n  {effect}: {change.why}")
    for name, result, other_side in (("before", change.before, change.after), ("now", change.after, change.before)):
        if result is None or change.kind == "unsettled":
            continue
        # Three of the rows that the other side lacks, else of the first ones.
        rows = [row for row in result["rows"] if other_side is None or row not in other_side["rows"]] or result["rows"]
        lines = [", ".join("NULL" if cell is None else str(cell)[:40] for cell in row) for row in rows[:3]]
        total = f" ({result['row_count']} rows)" if result["row_count"] > 3 else ""
        say(f"  {name + ':':<8}{' | '.join(lines) + total if result['row_count'] else 'no rows'}")
