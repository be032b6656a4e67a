"""Knowledge as one file to review: everything that holds, whatever files it came from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .entry import Entry


def to_file(entries: Sequence[Entry]) -> dict[str, Any]:
    """A knowledge file's content as plain values, in a stable order: two exports differ where knowledge does."""
    terms = {entry.name: _plain(entry, means=entry.text, sql=entry.sql) for entry in _of("term", entries)}
    metrics = {entry.name: _plain(entry, expression=entry.sql, means=entry.text) for entry in _of("metric", entries)}
    tables: dict[str, dict[str, Any]] = {}
    for entry in _of("table", entries):
        tables.setdefault(entry.about[0][0], {}).update(_plain(entry, means=entry.text))
    for entry in _of("column", entries):
        table, column = entry.about[0]
        note = _plain(entry, means=entry.text, values=dict(entry.values))
        tables.setdefault(table, {}).setdefault("columns", {})[column] = note
    lists = {
        "joins": [_plain(entry, on=entry.sql, means=entry.text) for entry in _of("join", entries)],
        "conventions": [
            _plain(entry, says=entry.text, about=[".".join(filter(None, item)) for item in entry.about])
            for entry in _of("convention", entries)
        ],
        "never": [_plain(entry, use=entry.name, why=entry.text) for entry in _of("never", entries)],
    }
    whole: dict[str, Any] = {"terms": terms, "metrics": metrics, "tables": dict(sorted(tables.items())), **lists}
    return {key: part for key, part in whole.items() if part}


def _of(kind: str, entries: Sequence[Entry]) -> list[Entry]:
    return sorted((entry for entry in entries if entry.kind == kind), key=lambda entry: entry.name.lower())


def _plain(entry: Entry, **fields: Any) -> dict[str, Any]:
    also = {"also": list(entry.also)} if entry.kind not in ("join", "convention", "never") else {}
    whole = fields | also | {"author": entry.author, "added": entry.added}
    return {key: value for key, value in whole.items() if value}
