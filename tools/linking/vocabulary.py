"""Which names of a schema a text speaks of: an inverted index from stems to names, weighted by rarity."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process

Shares = npt.NDArray[np.float64]
"""One number a name, from 0 to 1."""

_NEAR = 84.0
"""Least similarity (0 to 100) at which an unknown word is taken for a misspelt one of the schema."""


class Vocabulary:
    """The names of one kind of item, by number."""

    def __init__(self, names: Sequence[tuple[str, ...]]) -> None:
        """Indexes names, each given by its stems."""
        self._count = len(names)
        self._holders: dict[str, list[int]] = defaultdict(list)
        for number, name in enumerate(names):
            for part in dict.fromkeys(name):
                self._holders[part].append(number)
        self._weight = {part: math.log(1 + len(names) / len(held)) for part, held in self._holders.items()}
        self._size = np.array([sum(self._weight[part] for part in dict.fromkeys(name)) for name in names] or [1.0])
        self._spellings = [part for part in self._holders if len(part) > 3]

    def coverage(self, said: Iterable[str]) -> Shares:
        """How much of each name a text says, from 0 (left out) to 1.

        Args:
            said: The text's stems. A word that no name holds counts for the name's word that it nearly spells.
        """
        sums = np.zeros(max(self._count, 1))
        for part, share in self._known(said).items():
            sums[self._holders[part]] += share * self._weight[part]
        return (sums / self._size)[: self._count]

    def _known(self, said: Iterable[str]) -> dict[str, float]:
        known: dict[str, float] = {}
        for part in said:
            if part in self._holders:
                known[part] = 1.0
            elif len(part) > 3 and (near := self._near(part)):
                known[near[0]] = max(known.get(near[0], 0.0), near[1])
        return known

    def _near(self, part: str) -> tuple[str, float] | None:
        found = process.extractOne(part, self._spellings, scorer=fuzz.ratio, score_cutoff=_NEAR)
        return (found[0], 0.8 * found[1] / 100) if found else None
