"""What was found about one prediction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

from ..datasets import Question


@dataclass(frozen=True)
class Verdict:
    """A judged prediction.

    Attributes:
        question: What was asked.
        sql: The prediction.
        ex: Whether it gives the gold's result; None where the gold cannot be judged by.
        em: Whether it matches the gold clause by clause; None where that cannot be judged.
        valid: Whether it runs.
        hardness: Spider's level, or the dataset's own; empty where the gold has none.
        error: Why a prediction does not run, or why the gold cannot be judged by; empty otherwise.
        measures: Further measures of the dataset's own, by name.
        asked: Whether there was a prediction, or room for one: False where the model could not be asked.
    """

    question: Question
    sql: str
    ex: bool | None
    em: bool | None
    valid: bool
    hardness: str
    error: str = ""
    measures: Mapping[str, float] = field(default_factory=dict[str, float])
    asked: bool = True

    def unasked(self, why: str) -> Verdict:
        """The same without an outcome: the model could not be asked."""
        return replace(self, ex=None, em=None, valid=False, error=f"not asked: {why}", measures={}, asked=False)


class Judge(Protocol):
    """Judges predictions, one at a time; use it as a context manager, so that databases are closed."""

    def judge(self, question: Question, sql: str) -> Verdict:
        """Judges one prediction; an empty one is wrong."""
        ...
