"""The values of one column that a text may have meant."""

from __future__ import annotations

import re

from rapidfuzz import fuzz, process, utils
from rapidfuzz.distance import OSA

from ..database.column_kinds import STAND_INS
from ..words import fold, key, spelt_alike, stems, wrong_letters
from .aliases import aliases
from .store import Store, StoredColumn

_FEW = 5_000
"""Values that are all compared; of a column that holds more, those that share a word with the text, or nearly."""

_WORD_HOLDERS = 500
"""Values taken for one word."""

_LEAST, _LOOKED_AT = 60.0, 30
"""Least similarity, from 0 to 100, of what is looked at closely, and how many values are at most."""

_WORD = re.compile(r"[^\W_]+")
_TYPO, _TWO_TYPOS = 6, 12
"""Letters and digits from which one may be wrong, or two."""

_PART = 4
"""Letters and digits from which a text may be a part of what was meant."""

_BEST = 3


def nearest(store: Store, column: StoredColumn, text: str, limit: int) -> tuple[str, ...]:
    """The column's values that a text may stand for: spelt alike, else its other names, and what is near it."""
    stemmed = stems(text)
    others = aliases(text.strip(), key(stemmed))
    named = [
        value.text
        for value in store.by_key([other.key for other in others])
        if value.column == column.id and (len(value.text) > 1 or any(value.text == other.text for other in others))
    ]
    choices = store.in_column(column.id, _FEW) if column.held <= _FEW else _related(store, column, stemmed)
    found = process.extract(
        text, choices, scorer=fuzz.WRatio, processor=utils.default_process, limit=_LOOKED_AT, score_cutoff=_LEAST
    )
    alike = [choice for choice, _, _ in found]
    same = [choice for choice in alike if _letters(choice) == _letters(text)]
    same = same or [choice for choice in alike if stemmed and key(stems(choice)) == key(stemmed)]
    near = same or [*named, *(choice for choice in alike if _is_near(text, choice))]
    return tuple(dict.fromkeys(near))[:limit]


def _is_near(text: str, value: str) -> bool:
    """Whether a text is a value misspelt, or whole words of it; what differs in digits is something else."""
    if text.strip().casefold() in STAND_INS:
        return False  # it asks for rows without a value: none is meant by it
    meant, held = "".join(_letters(text)), "".join(_letters(value))
    if len(meant) >= _PART and f" {' '.join(_letters(text))} " in f" {' '.join(_letters(value))} ":
        return True
    length = min(len(meant), len(held))
    if length < _TYPO or meant[0] != held[0] or re.findall(r"\d+", meant) != re.findall(r"\d+", held):
        return False
    return OSA.distance(meant, held) <= (2 if length >= _TWO_TYPOS else 1)


def _letters(text: str) -> list[str]:
    return [fold(word) for word in _WORD.findall(text)]


def _related(store: Store, column: StoredColumn, stemmed: list[str]) -> list[str]:
    ids: set[int] = set()
    for word in stemmed:
        for other in dict.fromkeys((word, *(other for _, other in nearest_words(word, store)))):
            ids.update(store.with_words(other, other, _WORD_HOLDERS))
    return [value.text for value in store.by_id(list(ids)) if value.column == column.id]


def nearest_words(word: str, store: Store) -> list[tuple[int, str]]:
    """The index's words nearest to a stem, at most three, with the letters in which they differ.

    Only words that begin or end like it are considered: of a word with one wrong letter, one half is right.
    """
    return spelt_alike(word, store.alike(word, wrong_letters(word)))[:_BEST]
