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

from ..values.words import fold, stem
from .cues import cues_in

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
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


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
    cues = cues_in(text, stems)
    for cue in cues:
        yield f"#{cue}", _CUE
    for first, second in combinations(cues or ("", "none"), 2):
        yield f"#{first}+{second}", _CUES


@lru_cache(maxsize=200_000)
def _place(feature: str) -> tuple[int, float]:
    code = int.from_bytes(blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest())
    return (code >> 1) % DIMENSIONS, 1.0 if code & 1 else -1.0
