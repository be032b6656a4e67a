"""Which names of a schema a text speaks of: an inverted index from stems to names, weighted by rarity."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from rapidfuzz import fuzz, process

from ..values.schema_words import name_words
from ..values.text_words import Word, fold, stem

Shares = npt.NDArray[np.float64]
"""One number a name, from 0 to 1."""

_NEAR = 84.0
"""Least similarity (0 to 100) at which an unknown word is taken for a misspelt one of the schema."""


@dataclass(frozen=True)
class Mention:
    """A word of a text that names hold.

    Attributes:
        stem: What the names hold.
        share: 1, or how alike the spellings are.
        holders: Numbers of the names that hold it.
        position: Where in the text it first stands, from 0 to 1.
    """

    stem: str
    share: float
    holders: npt.NDArray[np.intp]
    position: float


class Vocabulary:
    """The names of one kind of item, by number."""

    def __init__(self, names: Sequence[tuple[str, ...]]) -> None:
        """Indexes names, each given by its words."""
        self._count = len(names)
        holders: dict[str, list[int]] = defaultdict(list)
        for number, name in enumerate(names):
            for part in {stem(word) for word in name}:
                holders[part].append(number)
        self._holders = {part: np.array(held, dtype=np.intp) for part, held in holders.items()}
        headed: dict[str, list[int]] = defaultdict(list)
        for number, name in enumerate(names):
            if name:
                headed[stem(name[-1])].append(number)
        self._headed = {part: np.array(held, dtype=np.intp) for part, held in headed.items()}
        self._weight = {part: math.log(1 + len(names) / len(held)) for part, held in holders.items()}
        self._size = np.ones(len(names))
        for number, name in enumerate(names):
            self._size[number] = sum(self._weight[part] for part in {stem(word) for word in name}) or 1.0
        self._joined = {fold("".join(name)): [stem(word) for word in name] for name in names if len(name) > 1}
        self._spellings = {word: stem(word) for name in names for word in name if len(word) > 3}

    def mentions(self, words: Sequence[Word]) -> list[Mention]:
        """The words of a text that names hold; one that none holds counts for the one that it nearly spells."""
        shares: dict[str, tuple[float, float]] = {}
        for number, word in enumerate(words):
            position = number / len(words)
            if word.stem in self._holders:
                shares[word.stem] = 1.0, shares.get(word.stem, (0.0, position))[1]
            elif parts := self._parts(word):
                for part in parts:
                    shares[part] = 1.0, shares.get(part, (0.0, position))[1]
            elif len(word.folded) > 3 and (near := self._near(word.folded)):
                share, first = shares.get(near[0], (0.0, position))
                shares[near[0]] = max(share, near[1]), first
        return [Mention(part, share, self._holders[part], position) for part, (share, position) in shares.items()]

    def coverage(self, mentions: Sequence[Mention]) -> Shares:
        """How much of each name is mentioned, from 0 (left out) to 1, rare words counting more."""
        sums = np.zeros(self._count)
        for mention in mentions:
            sums[mention.holders] += mention.share * self._weight[mention.stem]
        return sums / self._size

    def positions(self, mentions: Sequence[Mention]) -> Shares:
        """Where in the text each name is first mentioned, from 0 to 1; 1 for those that are not."""
        first = np.ones(self._count)
        for mention in mentions:
            first[mention.holders] = np.minimum(first[mention.holders], mention.position)
        return first

    def heads(self, mentions: Sequence[Mention]) -> Shares:
        """How well the last word of each name, which tells what the thing is, is mentioned."""
        shares = {mention.stem: mention.share for mention in mentions}
        heads = np.zeros(self._count)
        for stem_, share in shares.items():
            if stem_ in self._headed:
                heads[self._headed[stem_]] = share
        return heads

    def holders(self, part: str) -> npt.NDArray[np.intp] | None:
        """The numbers of the names that hold a stem; None if none does."""
        return self._holders.get(part)

    def _parts(self, word: Word) -> list[str]:
        """The stems of a name that is written as one word: `orderItems`, `co2`, `unitprice`."""
        parts = [stem(part) for part in name_words(word.text)]
        if len(parts) > 1 and all(part in self._holders for part in parts):
            return parts
        return self._joined.get(word.folded, [])

    def _near(self, word: str) -> tuple[str, float] | None:
        found = process.extractOne(word, self._spellings.keys(), scorer=fuzz.ratio, score_cutoff=_NEAR)
        return (self._spellings[found[0]], found[1] / 100) if found else None
