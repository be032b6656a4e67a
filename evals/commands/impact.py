"""`tableturn impact`: which past answers a change would change."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ...agent.cli.options import BaseUrlOption, EmbeddingOption
from ...tools.terminal import say
from .options import ExamplesOption, JsonOption

if TYPE_CHECKING:
    from ...agent import SQLAgent
    from ..impact import Ask, Change, Held

_ROWS = 3
"""Rows of each side that the terminal shows."""


def impact(
    before: Annotated[str, typer.Option("--before", help="The old state: a database, or a trial's folder.")],
    after: Annotated[str, typer.Option("--after", help="The new one.")],
    history: Annotated[
        list[Path] | None,
        typer.Option(
            "--history", help="Past answers: an audit trail, SQL, a trial's or run's folder; may be repeated."
        ),
    ] = None,
    examples: ExamplesOption = None,
    embedding: EmbeddingOption = "hashed",
    knowledge_before: Annotated[
        Path | None, typer.Option("--knowledge-before", help="The old state's knowledge file.")
    ] = None,
    knowledge_after: Annotated[Path | None, typer.Option("--knowledge-after", help="The new one's.")] = None,
    model: Annotated[
        str | None, typer.Option("--model", help="Asked about what nothing else settles; without it, that is listed.")
    ] = None,
    base_url: BaseUrlOption = None,
    as_json: JsonOption = False,
) -> None:
    """Replay verified queries, trials and the audit trail on a changed database: which past answers would change?"""
    from contextlib import ExitStack

    from ...agent import SQLAgent
    from ...tools.database import Database
    from ...tools.errors import SettingsError
    from ..impact import impact as replayed
    from ..impact import read_examples_of, read_history, read_side

    old, new = read_side(before, knowledge_before), read_side(after, knowledge_after)
    with ExitStack() as stack:
        past = [answer for path in history or () for answer in read_history(path)]
        if examples is not None:
            database = stack.enter_context(Database.open(old.database))
            past += read_examples_of(database, examples, embedding)
        if not past and old.answers is None:
            raise SettingsError(
                "there are no past answers to replay: name some with --history or --examples, "
                "or give a trial's folder as --before"
            )
        ask: Ask | None = None
        if model is not None:
            agent = stack.enter_context(
                SQLAgent(new.database, model=model, base_url=base_url, settings={"clarify": False})
            )

            ask = _asking(agent)

        found = replayed(old, new, past, ask)
    shown = found.as_json()
    if as_json:
        say(json.dumps(shown))
        return
    for change in found.changed:
        _print(change)
    for change in found.changes:
        if change.kind == "unsettled":
            say(f"{_who(change)}\n  only a model can tell: {change.why}")
    counts = ", ".join(f"{kind.replace('_', ' ')} {count}" for kind, count in shown["counts"].items() if count)
    say(f"{shown['answers']} past answers: {counts}")


def _asking(agent: SQLAgent) -> Ask:
    def ask(question: str) -> tuple[str, str]:
        answer = agent.ask(question)
        return answer.sql or "" if answer.answered else "", answer.status

    return ask


def _who(change: Change) -> str:
    past = change.past
    about = ", ".join(part for part in (past.user, past.time, past.source) if part)
    return f"{past.question or past.sql} ({about})"


def _print(change: Change) -> None:
    say(f"{_who(change)}\n  {change.kind}: {change.why}")
    for name, held, other in (("before", change.before, change.after), ("now", change.after, change.before)):
        if held is not None:
            say(f"  {name + ':':<8}{_rows(held, other)}")
    if change.carried:
        say(f"  {change.carried}")


def _rows(held: Held, other: Held | None) -> str:
    """The first rows that the other side lacks, else the first ones."""
    there = set(other.rows) if other else set[object]()
    first = [row for row in held.rows if row not in there] or held.rows
    rows = [", ".join("NULL" if cell is None else str(cell)[:40] for cell in row) for row in first[:_ROWS]]
    return " | ".join(rows) + (f" ({held.row_count} rows)" if held.row_count > _ROWS else "")
