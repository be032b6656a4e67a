"""Turning texts into vectors: the default needs no download, no network, and gives the same vector everywhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations, pairwise
from typing import Protocol

import numpy as np
import numpy.typing as npt

from ..values.text_words import fold, stem

Vectors = npt.NDArray[np.float32]
"""One row a text, each of length 1 (or 0 for a text without words)."""

DIMENSIONS = 256
VERSION = 2
"""Of the features and their weights; stores of vectors made by others are refused (see `chroma_backend.FORMAT`)."""

# Found on Spider train with databases held out, by skeleton agreement at 8 (`held_out_hit_at_8` of the bench).
_WORD, _PAIR, _CUE, _CUES, _MARK = 1.0, 0.4, 2.0, 0.5, 1.5
# Beginnings and ends of words: without them all questions that differ by one number are equally far from each other,
# and approximate search finds none of them.
_AFFIX = 0.2


class Embedding(Protocol):
    """Texts to unit vectors. `name` identifies the vectors: stores built under another name don't match."""

    @property
    def name(self) -> str:
        """Model and version; recorded in every store."""
        ...

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """One unit row a text."""
        ...


class HashedEmbedding:
    """`embed` as an `Embedding`."""

    name = f"hashed-{VERSION}-{DIMENSIONS}"

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """See `embed`."""
        return embed(texts)


def embed(texts: Sequence[str]) -> Vectors:
    """The default embedding: word stems, pairs of them, and what the words tell of the SQL, hashed to a unit vector.

    Args:
        texts: Any number of texts.

    Returns:
        float32 of shape (len(texts), 256); deterministic, whatever the process or machine.
    """
    vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for feature, weight in _features(text.lower()):
            place, sign = _place(feature)
            row[place] += sign * weight
    return unit(vectors)


def unit(vectors: Vectors) -> Vectors:
    """Each row divided by its length; rows of zeros stay."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0)


_TOKEN = re.compile(r"#\w+|[^\W_]+(?:['’][^\W\d_]+)?|[^\w\s?.]|_")


def _features(text: str) -> Iterator[tuple[str, float]]:
    tokens = _TOKEN.findall(text)
    stems = [stem(fold(token)) for token in tokens if token[0] != "#"]
    for word in stems:
        yield word, _WORD
    for left, right in pairwise(stems):
        yield f"{left} {right}", _PAIR
    for token in tokens:
        if token[0] == "#":
            yield token, _MARK
        elif token[0].isdigit() or len(token) > 3:
            yield f"{token[:3]}-", _AFFIX
            yield f"-{token[-3:]}", _AFFIX
    cues = _cues_in(text, stems)
    for cue in cues:
        yield f"#{cue}", _CUE
    for first, second in combinations(cues or ("", "none"), 2):
        yield f"#{first}+{second}", _CUES


@lru_cache(maxsize=200_000)
def _place(feature: str) -> tuple[int, float]:
    code = int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return (code >> 1) % DIMENSIONS, 1.0 if code & 1 else -1.0


# Words that tell what SQL a question will become, by what they tell.
_WORDS_OF_CUE = {
    "highest": "most highest largest biggest greatest maximum max oldest longest latest newest heaviest best tallest "
    "richest dearest strongest fastest",
    "lowest": "least lowest smallest fewest minimum min youngest shortest earliest cheapest worst lightest slowest",
    "average": "average mean avg",
    "sum": "total sum combined overall altogether",
    "without": "not never no without except neither nor none cannot didn't don't doesn't isn't aren't wasn't haven't "
    "hasn't excluding other besides",
    "each": "each every per",
    "distinct": "different distinct unique",
    "over": "above over greater older higher larger longer exceeding exceeds after later",
    "under": "below under less fewer younger lower smaller shorter before earlier",
    "more": "more",
    "at-least": "least",
    "both": "both also",
    "or": "or either",
    "between": "between",
    "like": "contain containing substring start begin end include letter prefix",
    "order": "order sort ascending descending alphabetical alphabetically decreasing increasing rank",
    "descending": "descending decreasing reverse",
    "ascending": "ascending increasing alphabetical alphabetically lexicographic",
    "count": "number count",
    "top": "top",
}


def _by_stem() -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for cue, words in _WORDS_OF_CUE.items():
        for word in dict.fromkeys(map(stem, words.split())):
            found.setdefault(word, []).append(cue)
    return {word: tuple(cues) for word, cues in found.items()}


_CUES_BY_STEM: dict[str, tuple[str, ...]] = _by_stem()
"""What each word stem tells; a word may tell several things ("least": lowest, or at least)."""


def _cues_in(text: str, stems: list[str]) -> tuple[str, ...]:
    """All that a question's words tell, in alphabetical order."""
    told = {cue for word in stems for cue in _CUES_BY_STEM.get(word, ())}
    if "how many" in text:
        told.add("count")
    return tuple(sorted(told))
