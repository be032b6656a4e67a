"""Taking decisions that were made on a page into a verdict file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...tools.database import Database, Limits
from ...tools.errors import QueryError
from ..datasets import Dataset, Question
from ..official.execution import whole_operators
from .adjudicator import concerns
from .ruling import Ruling

_LIMITS = Limits(seconds=30.0, rows=1)


@dataclass(frozen=True)
class Taken:
    """What becomes of decisions.

    Attributes:
        rulings: Those to add to the verdict file.
        known: How many it has as the last word on their queries.
        refused: Why others cannot be taken, in a line each.
    """

    rulings: Sequence[Ruling]
    known: int
    refused: Sequence[str]


def take(decisions: Iterable[Ruling], before: Iterable[Ruling], dataset: Dataset | None) -> Taken:
    """Sorts decisions.

    Args:
        decisions: In the order in which they were made.
        before: The verdict file's.
        dataset: Whose questions they must be on, and on which what is called right must run; None for any.
    """
    last = {_query(ruling): ruling for ruling in before if ruling.accepted}
    rulings: list[Ruling] = []
    refused: list[str] = []
    known = 0
    for number, ruling in enumerate(decisions, 1):
        said = last.get(_query(ruling))
        if said is not None and _said(said) == _said(ruling):
            known += 1
        elif dataset is not None and (why := _unfit(ruling, dataset)):
            refused.append(f"decision {number} ({ruling.question}): {why}")
        else:
            last[_query(ruling)] = ruling
            rulings.append(ruling)
    return Taken(rulings, known, refused)


def _query(ruling: Ruling) -> tuple[str, ...]:
    return ruling.dataset, ruling.id, ruling.question, ruling.gold, ruling.sql


def _said(ruling: Ruling) -> tuple[str, ...]:
    return ruling.verdict, ruling.kind, ruling.why, ruling.by


def _unfit(ruling: Ruling, dataset: Dataset) -> str:
    """Why a ruling says nothing of a dataset's answers; empty where it does."""
    if ruling.dataset not in ("", dataset.name):
        return f"it is on {ruling.dataset}, not on {dataset.name}"
    question = next((question for question in dataset.questions if concerns(ruling, question)), None)
    if question is None:
        return f"no question of {dataset.name} {dataset.split} has this id, text and gold"
    return _fails(ruling, question, dataset) if ruling.verdict == "right" else ""


def _fails(ruling: Ruling, question: Question, dataset: Dataset) -> str:
    with Database.open(dataset.place(question.database)) as database:
        try:
            database.execute(whole_operators(ruling.sql), _LIMITS)
        except QueryError as error:
            return f"its query cannot be right, as it does not run: {error}"
    return ""
