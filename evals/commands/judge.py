"""`tableturn judge`: what gold calls wrong, put to a model and to people."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...agent.cli.options import BaseUrlOption, SettingsOption
from ...tools.errors import ModelError, SettingsError
from ...tools.terminal import say, warn
from .options import DataOption, JobsOption, ModelOption, VerdictsOption

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...agent.effects import Translator
    from ...prompts.judge import Word
    from ..adjudication.judging import Cases, Disagreement, Finding, FinishedRun, Judged
    from ..adjudication.ruling import Ruling

RunArgument = Annotated[Path, typer.Argument(help="Folder of a finished run.")]

app = typer.Typer(help="Have a model and people judge the answers that gold counts as wrong.", no_args_is_help=True)


@app.command("run")
def run(
    folder: RunArgument,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    settings: SettingsOption = None,
    verdicts: VerdictsOption = None,
    calls: Annotated[
        int | None, typer.Option("--calls", min=2, help="The most requests to make; each case takes two.")
    ] = None,
    jobs: JobsOption = 4,
    data: DataOption = None,
) -> None:
    """Ask a model about each disagreement twice, and save its replies as proposals.

    Disagreements that the verdict file already decides come first, and the command prints how often the model agrees.
    After an interruption, the same command continues.
    """
    from ...agent.model.chat import PromptedTranslator, TranslatorOptions
    from ...agent.settings import Settings, read_settings
    from ..adjudication.judging import Cases, judge_name
    from ..runner.model import CACHE_FILE, ReplyCache, kept_model

    finished = _finished(folder, verdicts, data)
    fields = Settings(**read_settings(settings)) if settings else Settings()
    with closing(ReplyCache(folder / CACHE_FILE)) as cache:
        chat_model = kept_model(model, base_url, fields, cache)
        if chat_model is None:
            raise ModelError("a judge is a chat model: pass --model")
        options = TranslatorOptions(fields.prompt_tokens, fields.max_output_tokens, fields.temperature)
        judge = PromptedTranslator(chat_model, options)
        name = judge_name(judge.model)
        found = finished.disagreements()
        asked = {(ruling.id, ruling.sql) for ruling in finished.rulings if not ruling.accepted and ruling.by == name}
        to_do = [item for item in found if (item.case.question.id, item.case.sql) not in asked]
        given = [item for item in to_do if item.outcome.verdict is not None]
        with Cases(finished.dataset) as shown:
            first = _judge(given, finished, shown, judge, jobs, calls)
            _print_agreement(finished, found, name)
            left = None if calls is None else max(calls - first.calls, 0)
            rest = [item for item in to_do if item.outcome.verdict is None]
            second = _judge(rest, finished, shown, judge, jobs, left)
    _print_end(finished, (first, second))
    if first.failed or second.failed:
        raise typer.Exit(1)


@app.command("review")
def review(
    folder: RunArgument,
    verdicts: VerdictsOption = None,
    page: Annotated[
        Path | None, typer.Option("--page", help="The page to write, on which the cases are decided; required.")
    ] = None,
    by: Annotated[str, typer.Option("--by", hidden=True)] = "",
    data: DataOption = None,
) -> None:
    """Write a page with the undecided disagreements; `judge accept` reads the decisions that it downloads."""
    from ..report import write_report

    if page is None:
        raise SettingsError(f"`judge review` at a terminal was removed: write a page, with --page FILE, for {folder}")
    finished = _finished(folder, verdicts, data)
    finished.judged_again()
    write_report([folder], page, adjudicate=True)
    undecided = sum(item.outcome.verdict is None for item in finished.disagreements())
    say(f"{page}: {undecided} to decide")


@app.command("accept")
def accept(
    decisions: Annotated[Path, typer.Argument(help="The file of decisions from a page of `judge review` or `report`.")],
    folder: Annotated[
        Path | None, typer.Option("--run", help="Folder of the run; its scores by verdict are counted again.")
    ] = None,
    verdicts: VerdictsOption = None,
    by: Annotated[str, typer.Option("--by", help="The name of the person who decides.", envvar="USER")] = "a person",
    data: DataOption = None,
) -> None:
    """Add the decisions made on a page to the verdict file.

    Exits with 1 if some are not about the run's questions, or call a query right that does not run.
    """
    from ..adjudication.ruling import append_rulings, now, read_rulings, take

    if folder is None and verdicts is None:
        raise SettingsError("name the run with --run, or the verdict file with --verdicts")
    rulings: Sequence[Ruling] = [
        ruling.model_copy(update={"by": ruling.by or by, "at": ruling.at or now(), "accepted": True})
        for ruling in read_rulings(decisions)
    ]
    finished = _finished(folder, verdicts, data) if folder is not None else None
    target = finished.verdict_file if finished is not None else verdicts
    assert target is not None
    before = read_rulings(target) if target.exists() else []
    taken = take(rulings, before, finished.dataset if finished is not None else None)
    append_rulings(target, taken.rulings)
    known = f" ({taken.known} were there already)" if taken.known else ""
    say(f"verdicts written to {target}: {len(taken.rulings)}{known}")
    for why in taken.refused:
        warn(f"not taken: {why}")
    if finished is not None:
        say(finished.judged_again())
    if taken.refused:
        raise typer.Exit(1)


def _finished(folder: Path, verdicts: Path | None, data: Path | None) -> FinishedRun:
    from ..adjudication.judging import FinishedRun
    from ..adjudication.ruling import VERDICTS_FILE

    return FinishedRun.read(folder, data, verdicts or folder / VERDICTS_FILE)


def _judge(
    items: Sequence[Disagreement], finished: FinishedRun, shown: Cases, judge: Translator, jobs: int, calls: int | None
) -> Judged:
    """Has disagreements judged; each finding is in the verdict file before the next is waited for."""
    from rich.console import Console
    from rich.progress import Progress

    from ..adjudication.judging import judge_cases
    from ..adjudication.ruling import append_rulings

    cases = [item.case for item in items]
    with Progress(console=Console(stderr=True), disable=not cases) as progress:
        task = progress.add_task("judging", total=len(cases))

        def keep(finding: Finding) -> None:
            append_rulings(finished.verdict_file, finding.proposals(finished.dataset.name, judge.model))
            progress.advance(task)

        return judge_cases(cases, shown, judge, keep, jobs=jobs, calls=calls)


def _print_agreement(finished: FinishedRun, found: Sequence[Disagreement], name: str) -> None:
    from ..adjudication.judging import agreement
    from ..adjudication.ruling import read_rulings

    if not finished.verdict_file.exists():
        say("agreement unknown: the verdict file holds nobody's verdicts on this run")
        return
    said: dict[tuple[str, str], Word] = {
        (ruling.id, ruling.sql): ruling.verdict
        for ruling in read_rulings(finished.verdict_file)
        if not ruling.accepted and ruling.by == name
    }
    pairs: list[tuple[Word, Word]] = [
        (item.outcome.verdict, said[key])
        for item in found
        if item.outcome.verdict is not None and (key := (item.case.question.id, item.case.sql)) in said
    ]
    say(f"agreement: {agreement(pairs).told}" if pairs else "agreement unknown: no verdicts on this run yet")


def _print_end(finished: FinishedRun, parts: Sequence[Judged]) -> None:
    say(f"{sum(part.calls for part in parts)} calls; proposals are in {finished.verdict_file}")
    if left := sum(part.left for part in parts):
        warn(f"{left} left to judge: the same command goes on with them")
    if failed := [entry for part in parts for entry in part.failed]:
        case, why = failed[0]
        warn(f"{len(failed)} could not be put to the model; {case.question.id}: {why}")
    say(finished.judged_again())
