"""Which names of a schema a text speaks of: an inverted index from stems to names, weighted by rarity."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from ..words import FUNCTION_WORDS, Word, fold, name_words, stem, taken_for

Shares = npt.NDArray[np.float64]
"""One number a name, from 0 to 1."""

_EMPTY = FUNCTION_WORDS | {"every", "its", "this"}
"""Words of a description that say nothing of what it describes."""


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
        found = taken_for(word, self._spellings.keys())
        return (self._spellings[found[0]], found[1]) if found else None


def vocabulary(names: Sequence[tuple[str, ...]], descriptions: Sequence[tuple[str, ...]]) -> Vocabulary:
    """The names, and what describes them where anything does."""
    return DescribedVocabulary(names, descriptions) if any(descriptions) else Vocabulary(names)


def description_words(text: str, without: str = "") -> tuple[str, ...]:
    """A description's words in lower case, without those in `_EMPTY`, and without those of another.

    Args:
        text: A comment or an annotation; may be empty.
        without: A text whose words are left out, as far as others remain.
    """
    if not text:
        return ()
    found = tuple(word for word in name_words(text) if word not in _EMPTY)
    theirs = {stem(word) for word in name_words(without)} if without else set[str]()
    return tuple(word for word in found if stem(word) not in theirs) or found


class DescribedVocabulary(Vocabulary):
    """Names with descriptions beside them (Track-SQL 2.2): an item is mentioned by its name or by what describes it.

    Comments and a model's annotations say what cryptic names don't. Their words count as words of the name do, so that
    the linker's forests, fitted on names alone, read them without being fitted again.
    """

    def __init__(self, names: Sequence[tuple[str, ...]], descriptions: Sequence[tuple[str, ...]]) -> None:
        """Indexes both, each given by its words; no words where an item has no description."""
        super().__init__(names)
        self._described = Vocabulary(descriptions)

    def mentions(self, words: Sequence[Word]) -> list[Mention]:
        """The words of a text that names or descriptions hold."""
        found = {mention.stem: mention for mention in super().mentions(words)}
        for mention in self._described.mentions(words):
            other = found.get(mention.stem, mention)
            found[mention.stem] = Mention(
                mention.stem,
                max(mention.share, other.share),
                np.union1d(mention.holders, other.holders),
                min(mention.position, other.position),
            )
        return list(found.values())

    def coverage(self, mentions: Sequence[Mention]) -> Shares:
        """How much of each name, or of its description, is mentioned."""
        named = super().coverage(_held_by(mentions, super().holders))
        return np.maximum(named, self._described.coverage(_held_by(mentions, self._described.holders)))

    def heads(self, mentions: Sequence[Mention]) -> Shares:
        """How well the last word of each name, or of its description, is mentioned."""
        return np.maximum(super().heads(mentions), self._described.heads(mentions))

    def holders(self, part: str) -> npt.NDArray[np.intp] | None:
        """The numbers of the items whose name or description holds a stem; None if none does."""
        named, described = super().holders(part), self._described.holders(part)
        if named is None or described is None:
            return named if described is None else described
        return np.union1d(named, described)


def _held_by(mentions: Sequence[Mention], texts: Callable[[str], npt.NDArray[np.intp] | None]) -> list[Mention]:
    """The mentions with those holders alone that hold the word in their names, or in their descriptions."""
    held = ((mention, texts(mention.stem)) for mention in mentions)
    return [replace(mention, holders=holders) for mention, holders in held if holders is not None]


@dataclass(frozen=True)
class Associations:
    """Which words of questions go with which words of names, by their stems, learned from training databases.

    Attributes:
        pairs: For a stem of a question, the stems of names that go with it, each with its weight.
        usual: For a stem of a column's name, the share of turns that use such a column among those that use its table.
    """

    pairs: Mapping[str, Mapping[str, float]]
    usual: Mapping[str, float]

    def evidence(self, stems: Sequence[str], names: Vocabulary, count: int) -> tuple[Shares, Shares]:
        """The best weight and the sum of weights of each name, given a question's stems."""
        best, total = np.zeros(count), np.zeros(count)
        for word in dict.fromkeys(stems):
            for part, weight in self.pairs.get(word, {}).items():
                holders = names.holders(part)
                if holders is not None:
                    best[holders] = np.maximum(best[holders], weight)
                    total[holders] += weight
        return best, total


@cache
def shipped() -> Associations:
    """The associations that come with the package."""
    stored = json.loads((files(__package__ or "") / "data" / "associations.json").read_text("utf-8"))
    return Associations(stored["pairs"], stored["usual"])
