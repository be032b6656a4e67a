"""What an answer rests on: what was linked, found and shown, what was tried, and where its confidence comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ...tools.examples import Example
from ...tools.knowledge import Entry
from ...tools.values import ValueMatch
from ..evidence.confidence import in_words
from ..records import Attempt
from ..state import AgentState, attempts_of, turn_of
from .answer import Answer
from .basis import basis_lines

_TABLES, _COLUMNS, _VALUES = 6, 8, 8
"""How many are told of."""


@dataclass(frozen=True)
class Why:
    """What the turn behind an answer knew.

    Attributes:
        tables: Those that it worked with, most probable first: name, probability, columns.
        values: Database values that the question mentions, the surest first.
        knowledge: Definitions that it needs.
        examples: Answered questions that it was shown.
        attempts: Queries that were run.
    """

    tables: tuple[tuple[str, float, tuple[str, ...]], ...]
    values: tuple[ValueMatch, ...]
    knowledge: tuple[Entry, ...]
    examples: tuple[Example, ...]
    attempts: tuple[Attempt, ...]


def read_why(state: AgentState) -> Why:
    """What the turn at hand knows."""
    turn = turn_of(state)
    sure = {table: p for table, column, p in turn.items if column is None}
    tables = tuple((name, sure.get(name, 0.0), columns) for name, columns in turn.shown)
    return Why(tables, turn.values, turn.knowledge, turn.examples, attempts_of(state))


def told(answer: Answer, why: Why | None) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Headings, each with its lines; one without lines is left out.

    Args:
        answer: The answer.
        why: What its turn knew; None where that is not kept.
    """
    parts = {
        "read as": (answer.rephrased,) if answer.rephrased else (),
        "rests on": basis_lines(answer),
        "linked": _linked(why),
        "values": tuple(
            f"{match.mention!r} is {match.value!r} in {match.table}.{match.column} ({match.how})"
            for match in (why.values if why else ())[:_VALUES]
        ),
        "definitions": tuple(f"{used.kind} {used.name}: {used.text or used.sql}" for used in answer.used_knowledge),
        "examples": tuple(f"{example.question} ({example.source})" for example in (why.examples if why else ())),
        "tried": tuple(_tried(answer)),
        "ended": (answer.stopped,) if answer.stopped else (),
        "how sure": tuple(filter(None, (_how_sure(answer), answer.trust))),
    }
    return ((heading, lines) for heading, lines in parts.items() if lines)


def _how_sure(answer: Answer) -> str:
    if not answer.answered or answer.certainty:
        return answer.certainty
    but = " but what another reading gives" if answer.readings.line else ""
    return f"{in_words(answer.confidence, '')}: nothing was found against it{but}"


def _linked(why: Why | None) -> tuple[str, ...]:
    if why is None:
        return ()
    lines = [
        f"{table} {p:.2f}: {', '.join(columns[:_COLUMNS])}{', ...' if len(columns) > _COLUMNS else ''}"
        for table, p, columns in why.tables[:_TABLES]
    ]
    more = len(why.tables) - _TABLES
    return (*lines, f"and {more} more tables") if more > 0 else tuple(lines)


def _tried(answer: Answer) -> Iterator[str]:
    for number, attempt in enumerate(answer.attempts, 1):
        rows = "ran" if attempt.row_count is None else f"{attempt.row_count:,} row(s)"
        yield f"{number}. {attempt.error or rows}: {' '.join(attempt.sql.split())}"
        if attempt.feedback:
            yield f"   looked at again because: {' '.join(attempt.feedback.split())}"
