"""What examples are selected for, and by whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ..database.schema import Schema
from ..values.match import ValueMatch
from .example import Example


@dataclass(frozen=True)
class ExampleQuery:
    """One turn, as far as the choice of examples goes.

    Attributes:
        question: Self-contained.
        simplified: In plain common words; empty if not simplified.
        schema: Whose words are masked in skeletons.
        values: Database values that the question mentions; masked too.
        draft_sql: A first SQL for the question, where there is one.
        database: Whose question it is, as `database_identity` gives it: its own examples are visible besides the
            shared ones. Empty: the shared ones only.
    """

    question: str
    simplified: str = ""
    schema: Schema | None = None
    values: tuple[ValueMatch, ...] = ()
    draft_sql: str = ""
    database: str = ""


class Selector(Protocol):
    """Chooses few-shot examples. Implementations are safe to use from several threads."""

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """The examples to show, the best first; empty where there are none."""
        ...
