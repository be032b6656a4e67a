"""Misspelt words: the words of the index that differ by a letter or two."""

from __future__ import annotations

from rapidfuzz.distance import OSA

from .store import Store

_LONG = 8
"""Stems of at least so many letters may differ in two of them."""

_BEST = 3


def nearest_words(word: str, store: Store) -> list[tuple[int, str]]:
    """The index's words nearest to a stem, at most three, with the letters in which they differ.

    Only words that begin or end like it are considered: of a word with one wrong letter, one half is right.
    """
    allowed = 1 if len(word) < _LONG else 2
    near = ((OSA.distance(word, other, score_cutoff=allowed), other) for other in store.alike(word, allowed))
    return sorted(pair for pair in near if pair[0] <= allowed)[:_BEST]
