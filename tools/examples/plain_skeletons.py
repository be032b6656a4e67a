"""The revision chain's own way of retrieval (3.1): every pair under its plain skeletons, and the nearest ones shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .embedding import Vectors
from .example import Example
from .masking import mask
from .query import ExampleQuery
from .store import ExampleStore


@dataclass(frozen=True)
class Repository:
    """R = {(S_o, SQL), (S_r, SQL)} (3.1.2): twice as many keys as pairs where all are simplified.

    Attributes:
        vectors: A row a key.
        examples: The key's example, in the same order.
    """

    vectors: Vectors
    examples: tuple[Example, ...]

    def nearest(self, vector: Vectors) -> Iterator[tuple[Example, float]]:
        """Examples with the cosine of their key, best first; of equally near ones, the first. One may come twice."""
        cosines = self.vectors @ vector if self.examples else np.zeros(0, dtype=np.float32)
        return ((self.examples[row], float(cosines[row])) for row in np.argsort(-cosines, kind="stable"))


@dataclass(frozen=True)
class ByPlainSkeleton:
    """k1 by the question's skeleton, then k2 by its simplified form's, without repeats (3.1.3).

    Without a simplified form all k1 + k2 go by the question.

    Attributes:
        least: See `BySkeleton`.
        simplified: Whether the repository has keys of simplified questions too; an ablation without simplification
            has none.
    """

    store: ExampleStore
    k1: int = 4
    k2: int = 4
    least: float = 0.0
    simplified: bool = True

    def select(self, query: ExampleQuery) -> tuple[Example, ...]:
        """See `Selector.select`. The first call after a change of the store indexes all of it."""
        simplified = query.simplified if query.simplified != query.question else ""
        first = self._nearest(query.question, query, self.k1 if simplified else self.k1 + self.k2, ())
        return first + self._nearest(simplified, query, self.k2, first) if simplified else first

    def _nearest(self, text: str, query: ExampleQuery, k: int, known: tuple[Example, ...]) -> tuple[Example, ...]:
        # No value is masked: of the repository's questions nobody knows which words are values.
        vector = self.store.embedding([mask(text, query.schema, form="plain")])[0]
        chosen = dict.fromkeys(known)
        for example, cosine in repository(self.store, query.database, self.simplified).nearest(vector):
            if len(chosen) == len(known) + k or cosine < self.least:
                break
            chosen.setdefault(example)
        return tuple(chosen)[len(known) :]


def repository(store: ExampleStore, database: str, simplified: bool = True) -> Repository:
    """What a database's questions may see; made once, as long as its examples stay the same."""
    own = database if store.holds_own(database) else ""
    return store.cached(("plain skeletons", own, simplified), lambda: _made(store, own, simplified), own)


def _made(store: ExampleStore, database: str, simplified: bool) -> Repository:
    found = [(hit.example, text) for hit in store.visible(database) for text in _texts(hit.example, simplified)]
    # As questions are: by the whole database where it is stored, not by the part that the SQL uses.
    keys = [mask(text, example.database_schema or example.schema, form="plain") for example, text in found]
    vectors = store.embedding(keys)
    return Repository(vectors, tuple(example for example, _ in found))


def _texts(example: Example, simplified: bool) -> tuple[str, ...]:
    other = example.simplified if simplified else ""
    return tuple(dict.fromkeys((example.question, other or example.question)))
