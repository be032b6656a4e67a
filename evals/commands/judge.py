"""`tableturn judge`: what gold calls wrong, put to a model and to people."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...agent.options import SettingsOption, UrlOption
from ...tools.errors import ModelError, SettingsError
from ...tools.terminal import say, warn
from .evaluate import DataOption, JobsOption, ModelOption, VerdictsOption, read_settings_fields

if TYPE_CHECKING:
    from ...prompts.judge import QueryVerdict, Word
    from ..adjudication.judging import JudgeCase, JudgingSummary

app = typer.Typer(help="Have a model and people judge the answers that gold counts as wrong.", no_args_is_help=True)


@app.command("run")
def run(
    folder: Annotated[Path, typer.Argument(help="Folder of a finished run.")],
    model: ModelOption = None,
    base_url: UrlOption = None,
    settings: SettingsOption = None,
    verdicts: VerdictsOption = None,
    calls: Annotated[int | None, typer.Option(min=2, help="The most requests to make; each case takes two.")] = None,
    jobs: JobsOption = 4,
    data: DataOption = None,
) -> None:
    """Ask a model about each disagreement twice, and save its replies as proposals.

    Disagreements that the verdict file already decides come first, and the command prints how often the model agrees.
    After an interruption, the same command continues.
    """
    from rich.console import Console
    from rich.progress import Progress

    from ...agent.model.chat import PromptedTranslator, TranslatorOptions
    from ...agent.settings import Settings
    from ..adjudication.judging import FinishedRun, agreement, judge_cases
    from ..adjudication.ruling import get_question_key
    from ..runner.agents import CACHE_FILE, ReplyCache, open_model

    finished = FinishedRun.read(folder, data, verdicts)
    fields = Settings(**read_settings_fields(settings))
    found = finished.find_disagreements()
    given: dict[JudgeCase, Word] = {case: each.verdict for case, each in found.items() if each.verdict is not None}
    ends: list[JudgingSummary] = []
    with closing(ReplyCache(folder / CACHE_FILE)) as cache, Progress(console=Console(stderr=True)) as progress:
        chat_model = open_model(model, base_url, fields, cache)
        if chat_model is None:
            raise ModelError("judging needs a chat model: pass --model")
        options = TranslatorOptions(fields.prompt_tokens, fields.max_output_tokens, fields.temperature)
        judge = PromptedTranslator(chat_model, options)
        by = f"model {judge.model}"
        verdict_on: dict[tuple[str, ...], Word] = {
            (each.sql, *get_question_key(each.id, each.question, each.gold)): each.verdict
            for each in finished.rulings
            if not each.accepted and each.by == by
        }
        cases: dict[tuple[str, ...], JudgeCase] = {}
        for case in found:  # tries at one question that gave the same query are one case
            cases.setdefault((case.sql, *get_question_key(case.question.id, case.question.text, case.gold)), case)
        said: dict[JudgeCase, Word] = {case: verdict_on[key] for key, case in cases.items() if key in verdict_on}
        to_do = [case for key, case in cases.items() if key not in verdict_on]
        task = progress.add_task("judging", total=len(to_do), visible=bool(to_do))

        def store_opinions(case: JudgeCase, answer: QueryVerdict, gold: QueryVerdict) -> None:
            """Store the judge's opinions on a case before the next case is judged."""
            finished.append_proposed_rulings(by, case, answer, gold)
            said[case] = answer.verdict
            progress.advance(task)

        # What people have decided comes first: it shows how far the judge can be trusted with the rest.
        for decided in (True, False):
            more = None if calls is None else max(calls - sum(end.calls for end in ends), 0)
            some = [case for case in to_do if (case in given) is decided]
            ends.append(judge_cases(some, finished.dataset, judge, store_opinions, jobs=jobs, calls=more))
            if decided:
                pairs: list[tuple[Word, Word]] = [(given[case], said[case]) for case in given if case in said]
                unknown = "agreement unknown: no verdicts on this run yet"
                say(f"agreement: {agreement(pairs).told}" if pairs else unknown)
    say(f"{sum(end.calls for end in ends)} calls; proposals are in {finished.verdict_file}")
    if left := sum(end.left for end in ends):
        warn(f"{left} left to judge: run the same command again")
    if failed := [one for end in ends for one in end.failed]:
        case, why = failed[0]
        warn(f"{len(failed)} could not be sent to the model; {case.question.id}: {why}")
    say(finished.update_verdict_scores())
    if failed:
        raise typer.Exit(1)


@app.command("accept")
def accept(
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

    finished = FinishedRun.read(folder, data, verdicts) if folder is not None else None
    target = finished.verdict_file if finished else verdicts
    if target is None:
        raise SettingsError("name the run with --run, or the verdict file with --verdicts")
    rulings = [
        ruling.model_copy(update={"by": ruling.by or by, "at": ruling.at or now(), "accepted": True})
        for ruling in read_rulings(decisions)
    ]
    before = read_rulings(target) if target.exists() else []
    taken, refused = select_new_decisions(rulings, before, finished.dataset if finished else None)
    append_rulings(target, taken)
    known = len(rulings) - len(taken) - len(refused)
    say(f"verdicts written to {target}: {len(taken)}{f' ({known} were already there)' if known else ''}")
    for why in refused:
        warn(f"rejected: {why}")
    if finished is not None:
        say(finished.update_verdict_scores())
    if refused:
        raise typer.Exit(1)
