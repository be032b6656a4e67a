"""`tableturn eval`, `score`, `report` and `models`: runs over questions, and what they showed."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Annotated

import typer

from ...agent.options import AnnotatorOption, BaseUrlOption, EmbeddingOption, PresetOption, SettingsOption
from ...tools.terminal import say, warn
from .options import (
    DataOption,
    DatasetOption,
    ExamplesOption,
    JobsOption,
    JsonOption,
    LimitOption,
    ModelOption,
    RecordOption,
    SplitOption,
    VerdictsOption,
    WithoutOption,
    add_removed,
    in_laboratory,
    print_doubts,
    print_sections,
    read_fields,
    removed_option,
    stopping,
)

app = typer.Typer(invoke_without_command=True)


@app.callback()
def evaluate(
    context: typer.Context,
    dataset: Annotated[
        str | None, typer.Option(help="A benchmark's name, or a file of your own questions; required.")
    ] = None,
    split: SplitOption = "dev",
    model: ModelOption = None,
    preset: PresetOption = None,
    settings: SettingsOption = None,
    baseline: Annotated[
        str | None,
        typer.Option(help="zero-shot, random-examples, random-dialogues or langchain, instead of the agent."),
    ] = None,
    history: Annotated[
        str, typer.Option(help="The SQL of earlier turns that a turn sees: predicted, or gold.")
    ] = "predicted",
    examples: ExamplesOption = None,
    embedding: EmbeddingOption = "hashed",
    base_url: BaseUrlOption = None,
    annotator: AnnotatorOption = None,
    jobs: JobsOption = 4,
    engine: Annotated[str, typer.Option(help="Where to run: local, or ray (an extra).")] = "local",
    out: Annotated[Path, typer.Option(help="Folder of the run; give the same one to resume.")] = Path("eval-run"),
    price: Annotated[
        tuple[float, float] | None, typer.Option(help="Dollars per million prompt and completion tokens.")
    ] = None,
    data: DataOption = None,
    limit: LimitOption = None,
    without: WithoutOption = None,
    verdicts: VerdictsOption = None,
    repeats: Annotated[int | None, removed_option("run again with another --out, and give both to `report`")] = None,
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
    if history not in ("gold", "predicted"):
        raise typer.BadParameter("--history is gold or predicted")
    if engine not in ("local", "ray"):
        raise typer.BadParameter("--engine is local or ray")
    from ...agent.model.record import check_record_file, record_file
    from ..adjudication.ruling import rulings_beside, tell_scores
    from ..datasets import load_dataset
    from ..report.page import run_sections
    from ..runner import RunSpec, run_evaluation
    from ..runner.model import is_replay
    from ..runner.progress import RunProgress
    from ..runner.results import RESULTS_FILE, add_records, read_results, run_results, write_results

    questions = load_dataset(dataset, split, data)
    fields = read_fields(settings)
    left_out = tuple(without or ())
    spec = RunSpec(
        dataset, split, model, preset, fields, history, limit, left_out, examples, base_url, baseline, embedding,
        annotator,
    )  # fmt: skip
    asked = questions.without(spec.without).first(spec.limit)
    # Recorded predictions and baselines say nothing of what a model does in the agent.
    file = None if record is None and (baseline or is_replay(model)) else record_file(record)
    if file is not None:
        check_record_file(file)
    # A run is added to the record once, however often it is started again.
    recorded = str(read_results(out).get("recorded") or "") if (out / RESULTS_FILE).exists() else ""
    rulings = rulings_beside(out, verdicts)
    start = time.perf_counter()
    with stopping(), RunProgress(len(asked.questions), price) as progress:
        answered = run_evaluation(spec, questions, out, jobs=jobs, listener=progress, engine=engine)
    results = run_results(spec, asked, answered, time.perf_counter() - start, rulings)
    judged = [verdict for _, verdict in answered]
    unasked = [verdict for verdict in judged if not verdict.asked]
    if file is not None and recorded != str(file) and not unasked:
        add_records(spec, answered, results, file)
        recorded = str(file)
    write_results({**results, "recorded": recorded}, out)
    if as_json:
        shown = ("run", "strict", "official", "linking", "cost", "by_verdict")
        say(json.dumps({key: results[key] for key in (*shown, *(["outcomes"] if results["outcomes"] else []))}))
    else:
        print_sections(run_sections({f"{asked.name} {asked.split}": results}))
        if results["by_verdict"]["ruled"]:
            say(tell_scores(results["by_verdict"], results["strict"]["ex"]))
        print_doubts(judged)
        say(str(out))
    if unasked:
        told = f"{len(unasked)} of {len(judged)} questions have no answer: {unasked[0].error}"
        warn(f"{told}; start the same run again to ask them")
        raise typer.Exit(1)


add_removed(app, "eval export-sft", in_laboratory("sft export"))
add_removed(app, "eval train-lora", in_laboratory("sft lora"))


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
    timings: Annotated[int | None, removed_option("BIRD's own script computes R-VES")] = None,
    as_json: JsonOption = False,
) -> None:
    """Judge predictions made elsewhere: execution accuracy, exact set match, share that runs."""
    from ..adjudication.ruling import judge_outcomes, read_rulings, score_outcomes, tell_scores
    from ..datasets import find_empty, load_dataset
    from ..metrics import StrictJudge, official_judge, read_predictions
    from ..metrics import as_json as score_verdicts
    from ..report.page import run_sections

    rulings = read_rulings(verdicts) if verdicts is not None else None
    whole = load_dataset(dataset, split, data)
    questions = whole.without(without or ()).first(limit)
    found = read_predictions(predictions, whole, questions)
    questions = questions.on(databases)
    with official_judge(questions) if official else StrictJudge(questions) as judge:
        judged = [judge.judge(question, found.get(question.id, "")) for question in questions.questions]
    notes = find_empty(questions)
    scores = score_verdicts(judged)
    ruled = {} if rulings is None else {"by_verdict": score_outcomes(judge_outcomes(questions, judged, rulings))}
    mode = "official" if official else "strict"
    if as_json:
        shown = ("ex", "em", "hardness", "error")
        by_question = [{"id": one.question.id} | {name: getattr(one, name) for name in shown} for one in judged]
        say(json.dumps({"mode": mode, "notes": notes, **scores, "per_question": by_question, **ruled}))
        return
    print_sections(run_sections({f"{questions.name} {questions.split}": {mode: scores}}))
    for note in notes:
        warn(f"note: EX means little on {note}")
    if ruled:
        say(tell_scores(ruled["by_verdict"], scores["ex"]))
    print_doubts(judged)


def report(
    folders: Annotated[
        list[Path], typer.Argument(help="Folders of finished runs; the others are compared with the first.")
    ],
    out: Annotated[Path, typer.Option(help="The page to write.")] = Path("report.html"),
) -> None:
    """Write one self-contained page about finished runs, side by side, with every question.

    Says in a sentence each whether the runs differ from the first.
    """
    from ..report import write_report

    say("\n".join([str(out), *write_report(folders, out)]))


def models(
    record: Annotated[
        Path | None, typer.Option(help="The file of records. Default: the one in your data folder.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show how often each model was right, by database, and what it took."""
    from ...agent.model.record import read_records, record_file
    from ..metrics.summary import show_share, standings

    path = record or record_file()
    assert path is not None
    found = standings(read_records(path))
    if as_json:
        say(json.dumps(found))
        return
    if not found:
        say(f"nothing in {path} yet: `tableturn eval`, `tableturn trial` and approved answers add to it")
        return
    from rich.console import Console
    from rich.table import Table

    table = Table()
    for name in ("model", "database", "runs", "n", "right by gold", "by verdict", "calls", "prompt tokens", "last"):
        table.add_column(name, overflow="fold")
    for one in found:
        shown = {name: show_share(one[name]) for name in ("by_gold", "by_verdict")}
        table.add_row(*map(str, {**one, **shown, "last": one["last"][:10]}.values()))
    Console().print(table)


data_app = typer.Typer(hidden=True)
add_removed(data_app, "data check", "`tableturn score` names what cannot be judged, and databases without rows")
add_removed(data_app, "data disputes", in_laboratory("disputes DATASET"))
