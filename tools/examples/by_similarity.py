"""Selectors that choose the examples most like the question, or like a draft of its SQL."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ..errors import SQLParseError
from .entry import meaning_of, skeleton_of
from .example import Example, Near
from .masking import mask
from .query import ExampleQuery, Selector
from .store import ExampleStore

_LOOKED_AT = 5
"""Times as many of a database's own examples are looked at as are shown, where some may not be shown."""

_OWN_LIKENESS = 0.25
"""Likeness of whole questions from which an example over the same database is near: of questions about different Spider
training databases three in four are less alike than that."""

_SHARPNESS = 8.0
"""How fast a vote loses weight with distance: by e for every 1/8 of similarity."""


@dataclass(frozen=True)
class ByQuestion:
    """The k nearest questions (SQL-CRAFT 3, k = 5)."""

    store: ExampleStore
    k: int = 5

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        found = self.store.nearest("question", query.question, self.k, query.database)
        return tuple(hit.example for hit in found)


@dataclass(frozen=True)
class BySkeleton:
    """k1 by the question's skeleton, then k2 by its simplified form's, without repeats (revision chain 3.1.3).

    Where the paper takes the nearest skeletons, these take the SQL skeletons for which most of the `pool` nearest
    speak, weighted by similarity, and of each the nearest example: k examples then show k forms of SQL
    (`evals.lab bench examples-skeleton` has both ways). Without a simplified form all k1 + k2 go by the question.
    The paper's own way is `ByPlainSkeleton`.

    Attributes:
        least: Similarity of skeletons below which an example is not shown: one unlike the question costs room and
            misleads more often than it helps. 0 shows the nearest however far.
    """

    store: ExampleStore
    k1: int = 4
    k2: int = 4
    pool: int = 64
    least: float = 0.0

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        k = self.k1 + self.k2
        hits = self.ranked(query.question, query)
        if query.simplified and query.simplified != query.question:
            first = hits[: self.k1]
            chosen = {self._kind(hit) for hit in first}
            second = [hit for hit in self.ranked(query.simplified, query) if self._kind(hit) not in chosen]
            hits = [*first, *second[: self.k2], *hits[self.k1 :]]
        return tuple(hit.example for hit in self.store.fetch(_first(hits, k, self._kind)))

    def ranked(self, text: str, query: ExampleQuery) -> list[Near]:
        """Keys by a question's skeleton, best first."""
        key = mask(text, query.schema, query.values)
        if not self.pool:
            return self._like(self.store.near("skeleton", key, self.k1 + self.k2, query.database))
        near = self.store.near("skeleton", key, max(self.pool, self.k1 + self.k2), query.database)
        return self._like(by_votes(near))

    def _like(self, hits: list[Near]) -> list[Near]:
        return [hit for hit in hits if hit.similarity >= self.least] if self.least else hits

    def _kind(self, hit: Near) -> str:
        return hit.sql if self.pool else hit.pair


@dataclass(frozen=True)
class ByDraft:
    """Half by the draft's SQL skeleton (DAIL-SQL's idea), half by the question's; by the latter without a draft.

    A right draft finds its own form first whatever else is shown; where the draft is wrong, the question's own votes
    are what can still show the right one.
    """

    store: ExampleStore
    k: int = 8

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        by_question = BySkeleton(self.store, self.k, 0).ranked(query.question, query)
        try:
            skeleton = skeleton_of(query.draft_sql) if query.draft_sql else ""
        except SQLParseError:
            skeleton = ""
        by_sql = self.store.near("sql", skeleton, self.k, query.database) if skeleton else []
        hits = _first(_alternating(by_sql, by_question), self.k, lambda hit: hit.sql)
        return tuple(hit.example for hit in self.store.fetch(hits))


@dataclass(frozen=True)
class OwnFirst:
    """A selector's examples, after the k nearest that belong to the question's database alone.

    Those show the very tables that are asked about, which no example of the same form over other data does. A database
    without any of its own is shown what it was before.

    `readable` leaves out what may not be shown to whoever asks (see `tools/examples/rights.py`).

    Attributes:
        least: Likeness below which none is shown, as in `BySkeleton`; the words of the whole questions count too, since
            they name the same tables. 0 shows the nearest however far.
    """

    store: ExampleStore
    others: Selector
    k: int = 3
    readable: Callable[[Example], Example | None] | None = None
    least: float = 0.0

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        chosen: dict[str, Example] = {}
        for example in (*self._shown(self._own(query))[: self.k], *self._shown(self.others.select(query))):
            chosen.setdefault(meaning_of(example), example)
        return tuple(chosen.values())

    def _own(self, query: ExampleQuery) -> list[Example]:
        """The database's own that are near, the nearest question first; then those that are alike in form alone."""
        looked_at = self.k if self.readable is None else _LOOKED_AT * self.k
        near = self.store.near("question", query.question, looked_at, query.database, shared=False)
        if self.least:
            near = [hit for hit in near if hit.similarity >= min(self.least, _OWN_LIKENESS)]
            key = mask(query.question, query.schema, query.values)
            alike = self.store.near("skeleton", key, looked_at, query.database, shared=False)
            near += [hit for hit in alike if hit.similarity >= self.least]
        return list({meaning_of(hit.example): hit.example for hit in self.store.fetch(near)}.values())

    def _shown(self, examples: Iterable[Example]) -> list[Example]:
        if self.readable is None:
            return list(examples)
        return [shown for example in examples if (shown := self.readable(example)) is not None]


def by_votes(hits: Sequence[Near]) -> list[Near]:
    """The nearest key of each SQL skeleton, by the summed weights of all keys that lead to it."""
    votes: dict[str, float] = defaultdict(float)
    nearest: dict[str, Near] = {}
    for hit in hits:
        votes[hit.sql] += math.exp(_SHARPNESS * hit.similarity)
        nearest.setdefault(hit.sql, hit)
    return sorted(nearest.values(), key=lambda hit: -votes[hit.sql])


def _first(hits: Iterable[Near], k: int, kind: Callable[[Near], str]) -> list[Near]:
    """The first k of different kinds."""
    unique: dict[str, Near] = {}
    for hit in hits:
        unique.setdefault(kind(hit), hit)
    return list(unique.values())[:k]


def _alternating(first: Sequence[Near], second: Sequence[Near]) -> list[Near]:
    longest = max(len(first), len(second))
    return [hit for place in range(longest) for hit in (*first[place : place + 1], *second[place : place + 1])]
