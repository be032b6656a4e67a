"""The values of one column that a text may have meant."""

from __future__ import annotations

from rapidfuzz import fuzz, process, utils

from .aliases import aliases
from .store import Store, StoredColumn
from .text_words import key, stems
from .typos import nearest_words

_FEW = 5_000
"""Values that are all compared; of a column that holds more, those that share a word with the text, or nearly."""

_WORD_HOLDERS = 500
"""Values taken for one word."""

_LEAST = 60.0
"""Least similarity, from 0 to 100, of what is called near."""


def nearest(store: Store, column: StoredColumn, text: str, limit: int) -> tuple[str, ...]:
    """The column's values nearest to a text, nearest first: its other names, then the likest spellings."""
    stemmed = stems(text)
    others = aliases(text.strip(), key(stemmed))
    named = [
        value.text
        for value in store.by_key([other.key for other in others])
        if value.column == column.id and (len(value.text) > 1 or any(value.text == other.text for other in others))
    ]
    choices = store.in_column(column.id, _FEW) if column.held <= _FEW else _related(store, column, stemmed)
    found = process.extract(
        text, choices, scorer=fuzz.WRatio, processor=utils.default_process, limit=limit, score_cutoff=_LEAST
    )
    return tuple(dict.fromkeys([*named, *(choice for choice, _, _ in found)]))[:limit]


def _related(store: Store, column: StoredColumn, stemmed: list[str]) -> list[str]:
    ids: set[int] = set()
    for word in stemmed:
        for other in dict.fromkeys((word, *(other for _, other in nearest_words(word, store)))):
            ids.update(store.with_words(other, other, _WORD_HOLDERS))
    return [value.text for value in store.by_id(list(ids)) if value.column == column.id]
