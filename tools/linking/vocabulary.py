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

from ..words import FUNCTION_WORDS, Word, find_intended_word, fold, split_name_into_words, stem_word

Shares = npt.NDArray[np.float64]  # one number a name, from 0 to 1
_EMPTY = FUNCTION_WORDS | {"every", "its", "this"}  # words of a description that say nothing of what it describes


@dataclass(frozen=True)
class NameMention:
    """A word of a text that occurs in schema names, with the names that contain it."""

    stem: str  # what the names hold
    share: float  # 1, or how alike the spellings are
    holders: npt.NDArray[np.intp]  # numbers of the names that hold it
    position: float  # where in the text it first stands, from 0 to 1


@dataclass(frozen=True)
class MentionScores:
    """Scores from 0 to 1 of how a text mentions each schema item of one kind."""

    share: Shares  # how much of its name, or of its description, rare words counting more
    head: Shares  # how well the last word, which tells what the thing is
    position: Shares  # where in the text first; 1 where not at all
    association: Shares  # the best weight of a learned association with its name
    association_sum: Shares
    mentions: Sequence[NameMention]


class _WordIndex:
    """An index of the word stems of texts, one text per schema item."""

    def __init__(self, texts: Sequence[tuple[str, ...]]) -> None:
        stems = [[stem_word(word) for word in text] for text in texts]
        self.holders = _group_numbers_by_stem(
            (part, number) for number, parts in enumerate(stems) for part in dict.fromkeys(parts)
        )
        self._head_holders = _group_numbers_by_stem((parts[-1], number) for number, parts in enumerate(stems) if parts)
        self._weight = {part: math.log(1 + len(texts) / len(numbers)) for part, numbers in self.holders.items()}
        self._size = np.array([sum(self._weight[part] for part in dict.fromkeys(parts)) or 1.0 for parts in stems])
        self._compounds = {fold("".join(text)): [*map(stem_word, text)] for text in texts if len(text) > 1}
        self._spellings = {word: stem_word(word) for text in texts for word in text if len(word) > 3}

    def score(self, mentions: Sequence[NameMention]) -> tuple[Shares, Shares]:
        """Return the mentioned share of each text, weighted by rarity, and of its last word."""
        sums, heads = np.zeros((2, len(self._size)))
        for mention in mentions:
            sums[self.holders.get(mention.stem, [])] += mention.share * self._weight.get(mention.stem, 0.0)
            heads[self._head_holders.get(mention.stem, [])] = mention.share
        return sums / self._size, heads

    def find_matching_stems(self, word: Word) -> list[tuple[str, float]]:
        """Return the stems that a word matches exactly or nearly, each with the similarity."""
        if word.stem in self.holders:
            return [(word.stem, 1.0)]
        # A name that is written as one word: `orderItems`, `co2`, `unitprice`.
        parts = [stem_word(part) for part in split_name_into_words(word.text)]
        if len(parts) < 2 or not all(part in self.holders for part in parts):
            parts = self._compounds.get(word.folded, [])
        if parts or len(word.folded) <= 3:
            return [(part, 1.0) for part in parts]
        near = find_intended_word(word.folded, self._spellings.keys())
        return [(self._spellings[near[0]], near[1])] if near else []


def _group_numbers_by_stem(pairs: Iterable[tuple[str, int]]) -> dict[str, npt.NDArray[np.intp]]:
    numbers: dict[str, list[int]] = defaultdict(list)
    for part, number in pairs:
        numbers[part].append(number)
    return {part: np.array(group, dtype=np.intp) for part, group in numbers.items()}


class Vocabulary:
    """The names and descriptions of the schema items of one kind (Track-SQL 2.2).

    Words of comments and annotations count as words of the name do, so that the linker's forests, fitted on names
    alone, read them without being fitted again.
    """

    def __init__(self, names: Sequence[tuple[str, ...]], descriptions: Sequence[tuple[str, ...]]) -> None:
        self._count = len(names)
        self._texts = [_WordIndex(names), *([_WordIndex(descriptions)] if any(descriptions) else [])]
        pairs = [pair for text in self._texts for pair in text.holders.items()]
        self._holders = dict(reversed(pairs))
        for part, numbers in pairs:
            self._holders[part] = np.union1d(self._holders[part], numbers)

    def find_mentions(self, words: Sequence[Word]) -> Sequence[NameMention]:
        """Return the words of a text that occur in names or descriptions."""
        shares: dict[str, tuple[float, float]] = {}
        for number, word in enumerate(words):
            for part, share in (spelt for text in self._texts for spelt in text.find_matching_stems(word)):
                best, position = shares.get(part, (0.0, number / len(words)))
                shares[part] = max(share, best), position
        return [NameMention(part, share, self._holders[part], position) for part, (share, position) in shares.items()]

    def score(self, mentions: Sequence[NameMention]) -> tuple[Shares, Shares]:
        """Return the mentioned share of each name or description, and of its last word."""
        share, head = np.maximum.reduce([text.score(mentions) for text in self._texts])
        return share, head

    def score_mentions(self, words: Sequence[Word], associations: WordAssociations) -> MentionScores:
        """Return scores of how a text mentions each schema item."""
        mentions = self.find_mentions(words)
        position, best, total = np.ones(self._count), np.zeros(self._count), np.zeros(self._count)
        for mention in mentions:
            position[mention.holders] = np.minimum(position[mention.holders], mention.position)
        for word in dict.fromkeys(word.stem for word in words):
            for part, weight in associations.pairs.get(word, {}).items():
                if (holders := self._holders.get(part)) is not None:
                    best[holders] = np.maximum(best[holders], weight)
                    total[holders] += weight
        return MentionScores(*self.score(mentions), position, best, total, mentions)


def extract_content_words(text: str) -> tuple[str, ...]:
    """Return the content words of a comment or annotation in lower case."""
    return tuple(word for word in split_name_into_words(text) if word not in _EMPTY) if text else ()


def drop_shared_words(parts: tuple[str, ...], others: Iterable[str]) -> tuple[str, ...]:
    """Remove words that also occur in `others`, by stem; unchanged if none would remain."""
    theirs = {stem_word(word) for word in others}
    return tuple(word for word in parts if stem_word(word) not in theirs) or parts


@dataclass(frozen=True)
class WordAssociations:
    """Learned weights between words of questions and words of schema names."""

    pairs: Mapping[str, Mapping[str, float]]  # for a stem of a question, those of names, each with its weight
    usual: Mapping[str, float]  # by stem of a column's name, the share of turns that use it of those on its table


@cache
def load_shipped_associations() -> WordAssociations:
    """Load the word associations that are shipped with the package."""
    content = json.loads((files(__package__ or "") / "data" / "associations.json").read_text("utf-8"))
    return WordAssociations(content["pairs"], content["usual"])
