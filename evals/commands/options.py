"""What several commands of evaluations share: options, how scores are printed, and commands that are gone."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from ...tools.errors import SettingsError
from ...tools.terminal import say, warn

if TYPE_CHECKING:
    from ..metrics import Verdict
    from ..report.page import Section

DataOption = Annotated[
    Path | None, typer.Option(envvar="TABLETURN_DATA", help="Folder of benchmark data.", show_envvar=True)
]
DatasetOption = Annotated[str, typer.Option(help="A benchmark's name, or a file of your own questions.")]
SplitOption = Annotated[str, typer.Option(help="Which part of the benchmark.")]
LimitOption = Annotated[
    int | None, typer.Option(min=1, help="The number of interactions to use, from the start. Default: all.")
]
WithoutOption = Annotated[list[str] | None, typer.Option(help="Leave out a database; repeatable.")]
ModelOption = Annotated[str | None, typer.Option(help="As for ask; or stored replies, replay:FILE,FILE.")]
ExamplesOption = Annotated[str | None, typer.Option(help="An example store.")]
JobsOption = Annotated[int, typer.Option(min=1, help="Interactions to run at once.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
RecordOption = Annotated[
    Path | None,
    typer.Option(help="The record of models to add to (`tableturn models`), or off. Default: in your data folder."),
]
VerdictsOption = Annotated[
    Path | None, typer.Option(help="A verdict file. Default: verdicts.jsonl in the run's folder.")
]


def read_fields(settings: Path | None) -> dict[str, Any]:
    """Return the fields of a settings file; none without a file."""
    from ...agent.settings import read_settings

    return read_settings(settings) if settings else {}


NAMED = 10
"""The number of questions that are named one by one."""


def print_doubts(verdicts: Sequence[Verdict]) -> None:
    """Warn of questions that are not judged, and of disputed golds, a few one by one."""
    unjudged = [verdict for verdict in verdicts if verdict.ex is None and verdict.asked and verdict.question.golds]
    notes = [f"{verdict.question.id} is not judged: {verdict.error}" for verdict in unjudged[:NAMED]]
    if len(unjudged) > NAMED:
        notes.append(f"{len(unjudged) - NAMED} more are not judged")
    for verdict in [verdict for verdict in verdicts if verdict.question.disputed and verdict.ex is not None][:NAMED]:
        outcome = "right" if verdict.ex else "wrong"
        notes.append(f"{verdict.question.id}, counted {outcome}, has a disputed gold: {verdict.question.disputed}")
    for note in notes:
        warn(f"note: {note}")


def print_sections(sections: Sequence[Section]) -> None:
    """Print sections of a page of one run, a line per row."""
    for section in sections:
        if section.rows:
            say(section.title)
        for row in section.rows:
            say(f"  {row.name}: {', '.join(row.cells)}")


@contextmanager
def stopping() -> Generator[None]:
    """End the command with 1 if the model could not be asked several questions in a row."""
    from ..runner import RunStopped

    try:
        yield
    except RunStopped as error:
        warn(str(error))
        raise typer.Exit(1) from error


LABORATORY = {"bench": "bench NAME", "train": "train", "suite": "suite build"}
"""A command of 0.2 under `tableturn`, and the new one under `python -m tableturn.evals.lab`."""


def in_laboratory(command: str) -> str:
    """Return how to run what is in the repository alone."""
    return f"run `python -m tableturn.evals.lab {command}` in a clone"


_ANY_ARGUMENTS = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


def add_removed(app: typer.Typer, old: str, instead: str) -> None:
    """Add a hidden command that says, for one release, what to do instead of an old one, whatever its arguments."""

    def told(context: typer.Context) -> NoReturn:
        if old == "train" and context.args[:1] == ["confidence"]:
            raise SettingsError("`tableturn train confidence` is gone: the confidence that it fitted is frozen")
        raise SettingsError(f"`tableturn {old}` is no longer installed: {instead}")

    app.command(old.split()[-1], hidden=True, context_settings=_ANY_ARGUMENTS)(told)


def removed_option(instead: str) -> Any:
    """Return a hidden option that says, for one release, what to do instead of an old one."""

    def told(option: typer.CallbackParam, given: object) -> object:
        if given:
            raise SettingsError(f"--{str(option.name).replace('_', '-')} was removed: {instead}")
        return given

    return typer.Option(hidden=True, callback=told)
