"""The mentions of a schema's names in texts: an index from stems to names, by rarity."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from ..words import FUNCTION_WORDS, Word, find_misspelt, fold, name_words, stem

Shares = npt.NDArray[np.float64]  # one number a name, from 0 to 1
_EMPTY = FUNCTION_WORDS | {"every", "its", "this"}  # words of a description that say nothing of what it describes


@dataclass(frozen=True)
class Mention:
    """A word of a text that names have."""

    stem: str  # what the names hold
    share: float  # 1, or how alike the spellings are
    holders: npt.NDArray[np.intp]  # numbers of the names that hold it
    position: float  # where in the text it first stands, from 0 to 1


@dataclass(frozen=True)
class MentionShares:
    """The mentions of items of one kind in a text: one number from 0 to 1 per item."""

    share: Shares  # how much of its name, or of its description, rare words counting more
    head: Shares  # how well the last word, which tells what the thing is
    position: Shares  # where in the text first; 1 where not at all
    associated: Shares  # the best weight of a learned association with its name
    associated_sum: Shares
    mentions: Sequence[Mention]


class _Index:
    """An index of the words of texts, one text per item."""

    def __init__(self, texts: Sequence[tuple[str, ...]]) -> None:
        stemmed = [[stem(word) for word in text] for text in texts]
        self.holders = _to_arrays(
            (part, number) for number, parts in enumerate(stemmed) for part in dict.fromkeys(parts)
        )
        self._headed = _to_arrays((parts[-1], number) for number, parts in enumerate(stemmed) if parts)
        self._weight = {part: math.log(1 + len(texts) / len(held)) for part, held in self.holders.items()}
        self._size = np.array([sum(self._weight[part] for part in dict.fromkeys(parts)) or 1.0 for parts in stemmed])
        joined = zip(texts, stemmed, strict=True)
        self._joined = {fold("".join(text)): parts for text, parts in joined if len(text) > 1}
        self._spellings = {word: stem(word) for text in texts for word in text if len(word) > 3}

    def cover(self, mentions: Sequence[Mention]) -> Shares:
        """Return the mentioned share of each text, from 0 to 1; rare words count more."""
        sums = np.zeros(len(self._size))
        for mention in mentions:
            if mention.stem in self.holders:
                sums[self.holders[mention.stem]] += mention.share * self._weight[mention.stem]
        return sums / self._size

    def cover_heads(self, mentions: Sequence[Mention]) -> Shares:
        """Return the share at which the last word of each text is mentioned."""
        heads = np.zeros(len(self._size))
        for mention in mentions:
            if mention.stem in self._headed:
                heads[self._headed[mention.stem]] = mention.share
        return heads

    def find_spellings(self, word: Word) -> list[tuple[str, float]]:
        """Return the stems that a word stands for, or nearly spells, with their likeness."""
        if word.stem in self.holders:
            return [(word.stem, 1.0)]
        # A name that is written as one word: `orderItems`, `co2`, `unitprice`.
        parts = [stem(part) for part in name_words(word.text)]
        if len(parts) < 2 or not all(part in self.holders for part in parts):
            parts = self._joined.get(word.folded, [])
        if parts or len(word.folded) <= 3:
            return [(part, 1.0) for part in parts]
        near = find_misspelt(word.folded, self._spellings.keys())
        return [(self._spellings[near[0]], near[1])] if near else []


def _to_arrays(held: Iterable[tuple[str, int]]) -> dict[str, npt.NDArray[np.intp]]:
    numbers: dict[str, list[int]] = defaultdict(list)
    for part, number in held:
        numbers[part].append(number)
    return {part: np.array(found, dtype=np.intp) for part, found in numbers.items()}


class Vocabulary:
    """The names of one kind of item, by number, with their descriptions (Track-SQL 2.2).

    Words of comments and annotations count as words of the name do, so that the linker's forests, fitted on names
    alone, read them without being fitted again.
    """

    def __init__(self, names: Sequence[tuple[str, ...]], descriptions: Sequence[tuple[str, ...]]) -> None:
        self._count = len(names)
        self._texts = [_Index(names), *([_Index(descriptions)] if any(descriptions) else [])]
        held = [pair for text in self._texts for pair in text.holders.items()]
        self._holders = dict(reversed(held))
        for part, numbers in held:
            self._holders[part] = np.union1d(self._holders[part], numbers)

    def find_mentions(self, words: Sequence[Word]) -> Sequence[Mention]:
        """Return the words of a text that names or descriptions have."""
        shares: dict[str, tuple[float, float]] = {}
        for number, word in enumerate(words):
            for part, share in (spelt for text in self._texts for spelt in text.find_spellings(word)):
                best, position = shares.get(part, (0.0, number / len(words)))
                shares[part] = max(share, best), position
        return [Mention(part, share, self._holders[part], position) for part, (share, position) in shares.items()]

    def cover(self, mentions: Sequence[Mention]) -> Shares:
        """Return the mentioned share of each name or its description."""
        return np.maximum.reduce([text.cover(mentions) for text in self._texts])

    def measure_mentions(self, words: Sequence[Word], associations: Associations) -> MentionShares:
        """Return the shares at which a text mentions the items."""
        mentions = self.find_mentions(words)
        position, best, total = np.ones(self._count), np.zeros(self._count), np.zeros(self._count)
        for mention in mentions:
            position[mention.holders] = np.minimum(position[mention.holders], mention.position)
        for word in dict.fromkeys(word.stem for word in words):
            for part, weight in associations.pairs.get(word, {}).items():
                if (holders := self._holders.get(part)) is not None:
                    best[holders] = np.maximum(best[holders], weight)
                    total[holders] += weight
        heads = np.maximum.reduce([text.cover_heads(mentions) for text in self._texts])
        return MentionShares(self.cover(mentions), heads, position, best, total, mentions)


def description_words(text: str) -> tuple[str, ...]:
    """Return the content words of a comment or annotation in lower case; possibly none."""
    return tuple(word for word in name_words(text) if word not in _EMPTY) if text else ()


def drop_words(parts: tuple[str, ...], others: Iterable[str]) -> tuple[str, ...]:
    """Return words without those whose stems `others` have; unchanged if none would remain."""
    theirs = {stem(word) for word in others}
    return tuple(word for word in parts if stem(word) not in theirs) or parts


@dataclass(frozen=True)
class Associations:
    """Weights between words of questions and of names, learned from training databases."""

    pairs: Mapping[str, Mapping[str, float]]  # for a stem of a question, those of names, each with its weight
    usual: Mapping[str, float]  # by stem of a column's name, the share of turns that use it of those on its table


@cache
def shipped_associations() -> Associations:
    """Return the associations that come with the package."""
    stored = json.loads((files(__package__ or "") / "data" / "associations.json").read_text("utf-8"))
    return Associations(stored["pairs"], stored["usual"])
