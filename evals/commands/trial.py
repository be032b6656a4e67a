"""The commands `trial`, `trust` and `judge`, which test the agent and judge its answers."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...agent.options import PriceOption, expand_options
from ...tools.errors import ModelError, SettingsError
from ...tools.terminal import say, warn
from ...tools.words import format_count
from .evaluate import (
    MAX_IDS,
    AnsweringOptions,
    DataOption,
    JsonOption,
    RecordOption,
    VerdictsOption,
    exit_if_run_stopped,
    print_report_sections,
)

if TYPE_CHECKING:
    from ...agent.evidence import TrustBound
    from ...prompts.judge import QueryVerdict, Word
    from ..adjudication.judging import JudgeCase

app = typer.Typer(invoke_without_command=True)


@app.callback()
@expand_options(without=("embedding", "annotator"))
def trial(
    context: typer.Context,
    options: AnsweringOptions,
    db: Annotated[str | None, typer.Option(help="The database: a path, or a URL; required.")] = None,
    questions: Annotated[Path | None, typer.Option(help="The question file; required.")] = None,
    tries: Annotated[int, typer.Option(min=1, help="How often to ask each question.")] = 1,
    gate: Annotated[
        float | None, typer.Option(min=0, max=1, help="Exit with 1 if a smaller share of questions passes.")
    ] = None,
    price: PriceOption = None,
    out: Annotated[
        Path, typer.Option(help="Folder of the trial. The same one again continues it, or compares with the last.")
    ] = Path("trial"),
    record: RecordOption = None,
    as_json: JsonOption = False,
) -> None:
    """Test the agent on your own questions and compare the results with the last trial.

    Exits with 1 if --gate is not met, or if some questions could not be sent to the model.
    """
    if context.invoked_subcommand is not None:
        return
    if db is None or questions is None:
        missing = "--db" if db is None else "--questions"
        raise typer.BadParameter(f"a trial needs {missing}", param_hint=missing)
    from ...agent.model import check_record_file, get_record_file_path
    from ..metrics.judging import describe_unanswered
    from ..report.page import make_trial_sections
    from ..runner.results import add_model_records, write_results
    from ..runner.run import RunProgress
    from ..trial import TrialOptions, read_trial_questions, run_trial
    from ..trial.run import TRIAL_KEYS

    plan = TrialOptions(db, questions, tries=tries, jobs=options.jobs, price=price, gate=gate, **options.get_fields())
    file = get_record_file_path(record)
    if file is not None:
        check_record_file(file)
    items = read_trial_questions(questions)
    with exit_if_run_stopped(), RunProgress(tries * sum(len(item.turns) for item in items), price, "passed") as bar:
        results = run_trial(plan, out, bar, items)
    if file is not None and not results["not_asked"] and not (results["compared"] or {}).get("as_before"):
        is_recorded = add_model_records(results, file)
        write_results(results | {"recorded": str(file) if is_recorded else ""}, out)
    is_below_gate = bool(results["gate"] and not results["gate"]["met"])
    if as_json:
        data = {key: results[key] for key in TRIAL_KEYS} | {"questions": results["trial"]["questions"], "out": str(out)}
        say(json.dumps(data))
    else:
        print_report_sections(make_trial_sections(results))
        for failure in results["failed"][:MAX_IDS]:
            share = f" (passes in {100 * failure['share']:.0f} % of its tries)" if failure["share"] else ""
            say(f"{failure['id']}: {failure['question']}: {failure['why']}{share}")
        if len(results["failed"]) > MAX_IDS:
            say(f"further questions that fail: {len(results['failed']) - MAX_IDS}")
        say(str(out))
        if is_below_gate:
            warn(f"fewer than {100 * results['gate']['least']:g} % of questions pass (--gate)")
    if results["not_asked"]:
        warn(describe_unanswered([record["error"] for record in results["questions"]]))
    if results["not_asked"] or is_below_gate:
        raise typer.Exit(1)


@app.command("schema")
def schema() -> None:
    """Print the JSON schema of a question file."""
    from ..trial import build_trial_schema

    say(json.dumps(build_trial_schema(), indent=2))


trust_app = typer.Typer(
    help="Mark answers as trusted, with a limit on how many are wrong, from labelled questions of your own."
)

TrustOption = Annotated[Path | None, typer.Option(help="File of bounds. Default: trust.json in your data folder.")]


@trust_app.command()
@expand_options(without=("embedding", "annotator"))
def fit(
    db: Annotated[str, typer.Option(help="The database: a path, or a URL.")],
    options: AnsweringOptions,
    labels: Annotated[
        Path | None, typer.Option(help="A trial's question file. Default: the answers that were approved or corrected.")
    ] = None,
    alpha: Annotated[
        float, typer.Option(min=0.001, max=0.5, help="The greatest share of wrong answers among trusted ones.")
    ] = 0.05,
    certainty: Annotated[float, typer.Option(min=0.5, max=0.999, help="How certain that limit must be.")] = 0.95,
    trust: TrustOption = None,
    out: Annotated[
        Path, typer.Option(help="Folder for the model's replies; stored ones are not requested again.")
    ] = Path("trust"),
    as_json: JsonOption = False,
) -> None:
    """Ask labelled questions, and set the confidence above which answers are marked trusted.

    Exits with 1 if the labels are too few or too often wrong for a bound, and says how many are missing.
    """
    from ...tools.examples import get_store_folder, has_example_store
    from ..metrics.statistics import find_confidence_level
    from ..runner.run import RunProgress
    from ..trial import TrialOptions
    from ..trial.run import fit_trust_bound

    fields = options.get_fields()
    if options.examples is None and has_example_store(get_store_folder()):  # as at the terminal
        fields["examples"] = str(get_store_folder())
    plan, path = TrialOptions(db, Path(), **fields, jobs=options.jobs), _find_trust_file(trust, fields["settings"])
    least = find_confidence_level([], alpha, certainty).missing
    warn(f"this needs at least {least} labelled answers, and more if some are wrong")
    with exit_if_run_stopped(), RunProgress(None, None, "right") as progress:
        bound = fit_trust_bound(plan, labels, alpha, certainty, out, path, progress)
    say(json.dumps(asdict(bound)) if as_json else _describe_trust_bound(bound))
    if bound.level is None:
        raise typer.Exit(1)


@trust_app.command()
def show(trust: TrustOption = None, as_json: JsonOption = False) -> None:
    """Show which bounds are set, and the labels behind them."""
    from ...agent.evidence import read_trust_bounds

    path = _find_trust_file(trust, {})
    bounds = read_trust_bounds(path)
    if as_json:
        say(json.dumps([asdict(bound) for bound in bounds]))
        return
    if not bounds:
        say(f"no limit on wrong answers in {path}: `tableturn trust fit` sets one")
    for bound in bounds:
        say(_describe_trust_bound(bound))


def _find_trust_file(file: Path | None, fields: dict[str, object]) -> Path:
    from ...agent.evidence import get_trust_file_path

    path = get_trust_file_path(file or str(fields.get("trust", "")))
    if path is None:
        raise SettingsError("the setting `trust` turns trust bounds off: name a file with --trust")
    return path


def _describe_trust_bound(bound: TrustBound) -> str:
    head, labels = f"{bound.database}, {bound.model}: ", f"{bound.labels} labelled"
    if bound.level is None:
        count = format_count(bound.labels, "labelled answer", "labelled answers")
        return f"{head}no answer is marked trusted: {count}, {bound.wrong} wrong; at least {bound.missing} more needed"
    guarantee = f"at most {bound.alpha:.0%} wrong at {bound.certainty:.0%} certainty; set {bound.time}"
    counts = f"{bound.trusted} of {labels} ones ({bound.trusted_wrong} wrong)"
    return f"{head}answers with a confidence of {bound.level:.3f} or more are marked trusted, {counts}: {guarantee}"


judge = typer.Typer(help="Have a model and people judge the answers that gold counts as wrong.", no_args_is_help=True)


@judge.command("run")
@expand_options(without=("preset", "examples", "embedding", "annotator"))
def judge_run(
    folder: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    options: AnsweringOptions,
    verdicts: VerdictsOption = None,
    calls: Annotated[int | None, typer.Option(min=2, help="Maximum number of requests; each case takes two.")] = None,
    data: DataOption = None,
) -> None:
    """Ask a model about each disagreement twice, and save its replies as proposals.

    Disagreements that the verdict file already decides come first, and the command prints how often the model agrees.
    After an interruption, the same command continues.
    """
    from rich.console import Console
    from rich.progress import Progress

    from ...agent import Settings
    from ...agent.model import PromptedTranslator, TranslatorOptions
    from ..adjudication.judging import FinishedRun, JudgingSummary, compute_agreement, judge_cases
    from ..adjudication.ruling import get_question_key, is_ruling_on
    from ..runner.agents import CACHE_FILE, ReplyCache, open_model

    run = FinishedRun.read(folder, data, verdicts)
    fields = Settings(**options.read_settings())
    answers = run.find_disagreements()
    words: dict[JudgeCase, Word] = {case: item.verdict for case, item in answers.items() if item.verdict is not None}
    summary = JudgingSummary()
    with closing(ReplyCache(folder / CACHE_FILE)) as cache, Progress(console=Console(stderr=True)) as progress:
        chat_model = open_model(options.model, options.base_url, fields, cache)
        if chat_model is None:
            raise ModelError("judging needs a chat model: pass --model")
        translator = PromptedTranslator(chat_model, TranslatorOptions.of(fields))
        by = f"model {translator.model}"
        cases: dict[tuple[str, ...], JudgeCase] = {}
        for case in answers:  # tries at one question that gave the same query are one case
            cases.setdefault((case.sql, *get_question_key(case.question, run.dataset)), case)
        opinions: dict[JudgeCase, Word] = {
            case: ruling.verdict
            for case, ruling in product(cases.values(), run.rulings)
            if (ruling.sql, ruling.by, ruling.accepted) == (case.sql, by, False)
            and is_ruling_on(ruling, case.question, run.dataset)
        }
        to_do = [case for case in cases.values() if case not in opinions]
        task = progress.add_task("judging", total=len(to_do), visible=bool(to_do))

        def store_opinions(case: JudgeCase, answer: QueryVerdict, gold: QueryVerdict) -> None:
            """Store the judge's opinions on a case before the next case is judged."""
            run.append_proposed_rulings(by, case, answer, gold)
            opinions[case] = answer.verdict
            progress.advance(task)

        # What people have decided comes first: it shows how far the judge can be trusted with the rest.
        for is_decided in (True, False):
            some = [case for case in to_do if (case in words) is is_decided]
            judge_cases(some, run.dataset, translator, store_opinions, jobs=options.jobs, calls=calls, summary=summary)
            if is_decided:
                pairs: list[tuple[Word, Word]] = [(words[case], opinions[case]) for case in words if case in opinions]
                unknown = "agreement unknown: no person has judged answers of this run yet"
                say(f"agreement: {compute_agreement(pairs).text}" if pairs else unknown)
    say(f"{summary.calls} requests to the model; its proposals are in {run.verdict_file}")
    if summary.remaining:
        warn(f"cases left to judge: {summary.remaining}; run the same command again")
    if summary.failures:
        case, reason = summary.failures[0]
        warn(f"cases that could not be sent to the model: {len(summary.failures)}; {case.question.id}: {reason}")
    say(run.update_verdict_scores())
    if summary.failures:
        raise typer.Exit(1)


@judge.command("accept")
def judge_accept(
    decisions: Annotated[Path, typer.Argument(help="The file of decisions from a page of `tableturn report`.")],
    folder: Annotated[
        Path | None, typer.Option("--run", help="Folder of the run; its scores by verdict are counted again.")
    ] = None,
    verdicts: VerdictsOption = None,
    by: Annotated[str, typer.Option(help="The name of the person who decides.", envvar="USER")] = "a person",
    data: DataOption = None,
) -> None:
    """Add the decisions made on a page to the verdict file.

    Exits with 1 if some are not about the run's questions, or call a query right that does not run.
    """
    from ..adjudication.judging import FinishedRun
    from ..adjudication.ruling import append_rulings, now, read_rulings, select_new_decisions

    run = FinishedRun.read(folder, data, verdicts) if folder is not None else None
    target = run.verdict_file if run else verdicts
    if target is None:
        raise SettingsError("name the run with --run, or the verdict file with --verdicts")
    rulings = [
        ruling.model_copy(update={"by": ruling.by or by, "at": ruling.at or now(), "accepted": True})
        for ruling in read_rulings(decisions)
    ]
    earlier = read_rulings(target, allow_missing=True)
    new_rulings, refusals = select_new_decisions(rulings, earlier, run.dataset if run else None)
    append_rulings(target, new_rulings)
    repeats = len(rulings) - len(new_rulings) - len(refusals)
    say(f"verdicts written to {target}: {len(new_rulings)}{f' ({repeats} were already there)' if repeats else ''}")
    for reason in refusals:
        warn(f"rejected: {reason}")
    if run is not None:
        say(run.update_verdict_scores())
    if refusals:
        raise typer.Exit(1)
