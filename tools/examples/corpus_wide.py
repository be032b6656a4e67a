"""Selectors that choose one set for all questions: by diversity and voting, or at random."""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from ..sql import vectorize
from .diversity import Method, voted
from .example import Example
from .query import ExampleQuery
from .store import ExampleStore


@dataclass(frozen=True)
class Voted:
    """The N most chosen of M diverse samples of the visible examples (CREDIT-SQL 3.3: N = 18, M = 20)."""

    store: ExampleStore
    n: int = 18
    m: int = 20
    method: Method = "kmeans"
    seed: int = 0

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """See `Selector.select`. The first call after a change of the store takes seconds, the others nothing."""
        database = query.database if self.store.holds_own(query.database) else ""
        key = ("voted", self.n, self.m, self.method, self.seed, database)
        return self.store.cached(key, lambda: self._choose(database), database)

    def _choose(self, database: str) -> tuple[Example, ...]:
        examples = [hit.example for hit in self.store.visible(database)]
        if not examples:
            return ()
        vectors = np.asarray([vectorize(example.sql) for example in examples], dtype=np.float64)
        return tuple(examples[row] for row in voted(vectors, self.n, self.m, self.seed, self.method))


@dataclass(frozen=True)
class AtRandom:
    """k examples at random (CREDIT-SQL 5.1, without diverse examples), each a pair of its own."""

    store: ExampleStore
    k: int = 18
    seed: int = 0

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """See `Selector.select`; the same for every question."""
        database = query.database if self.store.holds_own(query.database) else ""
        key = ("random", self.k, self.seed, database)
        return self.store.cached(key, lambda: self._choose(database), database)

    def _choose(self, database: str) -> tuple[Example, ...]:
        examples = [hit.example for hit in self.store.visible(database)]
        chance = random.Random(self.seed)  # noqa: S311 - a sample, not a secret
        return tuple(chance.sample(examples, min(self.k, len(examples))))


@dataclass(frozen=True)
class NoExamples:
    """Zero-shot."""

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """Nothing."""
        return ()
