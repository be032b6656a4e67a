"""What is known of output columns without a model: on multi-turn predictions, how often right, and what it recovers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...tools.expectation import expect, traits
from ...tools.sql import Asked, check
from ..datasets import Question
from .gold import Databases
from .replayed import share

UNLIKELY = 0.05
"""Probability below which the number of output columns speaks against a query: one in twenty."""


@dataclass(frozen=True)
class Turn:
    """One turn with two systems' queries, the first of them looked at.

    Attributes:
        question: As asked.
        before: The first system's query of the turn before; None at the start.
        sql: Its query.
        right: Whether it is right, and whether the second system's is.
    """

    question: Question
    before: str | None
    sql: str
    right: tuple[bool, bool]


def recovered(turns: Sequence[Turn], databases: Databases) -> dict[str, object]:
    """By findings and by expected form: `flagged` queries, `precision` (the wrong ones among them), and `ex`.

    `ex` is the first system's EX with the second system's query in place of each flagged one.
    """

    def by_finding(turn: Turn) -> bool:
        schema = databases.schema(turn.question.database)
        found = check(turn.sql, schema, asked=Asked(turn.question.text)) if schema else ()
        return any(finding.kind == "output_columns" and finding.severity != "info" for finding in found)

    return {"output_findings": _figures(turns, by_finding), "output_form": _figures(turns, _unlikely)}


def _unlikely(turn: Turn) -> bool:
    form = traits(turn.sql)
    expected = expect(turn.question.text, turn.before).probabilities["outputs"]
    return form is not None and expected.get(form["outputs"], 0.0) < UNLIKELY


def _figures(turns: Sequence[Turn], doubted: Callable[[Turn], bool]) -> Mapping[str, object]:
    flags = [doubted(turn) for turn in turns]
    wrong = [not turn.right[0] for turn, flag in zip(turns, flags, strict=True) if flag]
    after = [turn.right[flag] for turn, flag in zip(turns, flags, strict=True)]
    return {"flagged": len(wrong), "precision": share(wrong), "ex": share(after)}
