"""From a question to the values it mentions."""

from __future__ import annotations

from collections.abc import Sequence

from ..database.schema import Schema
from .match import ValueMatch
from .store import Store, Stored, StoredColumn
from .words import Word, key, words

LONGEST = 10
"""Words of the longest mention that is looked for."""


def find(question: str, store: Store, columns: Sequence[StoredColumn], schema: Schema) -> list[ValueMatch]:
    """The values that a question mentions, best first."""
    spans = _spans(question)
    by_id = {column.id: column for column in columns}
    found: list[ValueMatch] = []
    for value in store.by_key(list(spans)):
        for span in spans[value.key]:
            found.append(_match(question, span, value, by_id[value.column]))
    return sorted(found, key=lambda match: (-match.score, match.start - match.end))


def _spans(question: str) -> dict[str, list[tuple[Word, ...]]]:
    parts = words(question)
    spans: dict[str, list[tuple[Word, ...]]] = {}
    for start in range(len(parts)):
        for end in range(start + 1, min(start + LONGEST, len(parts)) + 1):
            span = parts[start:end]
            spans.setdefault(key([word.stem for word in span]), []).append(span)
    return spans


def _match(question: str, span: tuple[Word, ...], value: Stored, column: StoredColumn) -> ValueMatch:
    start, end = span[0].start, span[-1].end
    mention = question[start:end]
    if mention == value.text:
        score, how = 1.0, "exact"
    elif mention.casefold() == value.text.casefold():
        score, how = 0.97, "case"
    else:
        score, how = 0.9, "inflection"
    return ValueMatch(column.table, column.name, value.text, mention, start, end, score, how)
