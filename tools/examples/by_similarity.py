"""Selectors that choose the examples most like the question, or like a draft of its SQL."""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import SQLParseError
from .example import Example
from .keys import skeleton_of
from .masking import mask
from .query import ExampleQuery
from .store import ExampleStore, Found


@dataclass(frozen=True)
class ByQuestion:
    """The k nearest questions (SQL-CRAFT 3, k = 5)."""

    store: ExampleStore
    k: int = 5

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """See `Selector.select`."""
        return _examples(self.store.nearest("question", query.question, self.k, query.database), self.k)


@dataclass(frozen=True)
class BySkeleton:
    """k1 by the question's skeleton, then k2 by its simplified form's, without repeats (revision chain 3.1.3).

    Without a simplified form all k1 + k2 go by the question.
    """

    store: ExampleStore
    k1: int = 4
    k2: int = 4

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """See `Selector.select`."""
        k = self.k1 + self.k2
        by_question = self._nearest(query.question, query, k)
        if not query.simplified or query.simplified == query.question:
            return _examples(by_question, k)
        by_simplified = self._nearest(query.simplified, query, k)
        first = by_question[: self.k1]
        seen = {hit.id for hit in first}
        second = [hit for hit in by_simplified if hit.id not in seen][: self.k2]
        return _examples([*first, *second, *by_question[self.k1 :]], k)

    def _nearest(self, text: str, query: ExampleQuery, k: int) -> list[Found]:
        return self.store.nearest("skeleton", mask(text, query.schema, query.values), k, query.database)


@dataclass(frozen=True)
class ByDraft:
    """Those whose SQL skeleton is nearest to the draft's (DAIL-SQL's idea); by skeleton where there is no draft."""

    store: ExampleStore
    k: int = 8

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """See `Selector.select`."""
        try:
            skeleton = skeleton_of(query.draft_sql) if query.draft_sql else ""
        except SQLParseError:
            skeleton = ""
        if not skeleton:
            return BySkeleton(self.store, self.k, 0).select(query)
        return _examples(self.store.nearest("sql", skeleton, self.k, query.database), self.k)


def _examples(hits: list[Found], k: int) -> tuple[Example, ...]:
    return tuple(hit.example for hit in {hit.id: hit for hit in hits}.values())[:k]
