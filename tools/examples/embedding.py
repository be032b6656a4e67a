"""Turning texts into vectors: the default needs no download, no network, and gives the same vector everywhere."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Protocol

import numpy as np
import numpy.typing as npt

Vectors = npt.NDArray[np.float32]
"""One row a text, each of length 1 (or 0 for a text without words)."""

DIMENSIONS = 384


class Embedding(Protocol):
    """Texts to unit vectors. `name` identifies the vectors: stores built under another name don't match."""

    @property
    def name(self) -> str:
        """Model and version; recorded in every store."""
        ...

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """One unit row a text."""
        ...


_WORD = re.compile(r"[^\W_]+|[^\w\s]|_")


@lru_cache(maxsize=200_000)
def _place(feature: str) -> tuple[int, float]:
    code = zlib.crc32(feature.encode())
    return (code >> 1) % DIMENSIONS, 1.0 if code & 1 else -1.0


def _features(text: str) -> Iterator[tuple[str, float]]:
    words = _WORD.findall(text.lower())
    for word in words:
        yield word, 1.0
    for left, right in zip(words, words[1:], strict=False):
        yield f"{left} {right}", 0.7


def embed(texts: Sequence[str]) -> Vectors:
    """The default embedding: words and word pairs, hashed with signs into 384 dimensions, of unit length.

    Args:
        texts: Any number of texts.

    Returns:
        float32 of shape (len(texts), 384); deterministic, whatever the process or machine.
    """
    vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
    for row, text in zip(vectors, texts, strict=True):
        for feature, weight in _features(text):
            place, sign = _place(feature)
            row[place] += sign * weight
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.divide(vectors, lengths, out=vectors, where=lengths > 0)


class HashedEmbedding:
    """`embed` as an `Embedding`."""

    name = f"hashed-1-{DIMENSIONS}"

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """See `embed`."""
        return embed(texts)
