"""Fetching a result inside its limits."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence

from ..errors import ResultTooLarge
from .table import Cell, Limits

_TYPE_NAMES = {int: "integer", float: "real", str: "text", bytes: "blob"}
# How far a single fetch may go past `Limits.result_bytes` before the size is looked at.
_OVERSHOOT_BYTES = 200_000_000
_LARGEST_FETCH = 256

Row = tuple[Cell, ...]


def fetch(cursor: sqlite3.Cursor, limits: Limits) -> tuple[list[Row], bool]:
    """At most `limits.rows` rows, and whether there were more.

    Raises:
        ResultTooLarge: The values together passed `limits.result_bytes`.
    """
    step = _OVERSHOOT_BYTES // (max(1, len(cursor.description)) * max(1, limits.cell_bytes))
    step = max(1, min(_LARGEST_FETCH, step))
    wanted = limits.rows + 1
    rows: list[Row] = []
    size = 0
    while len(rows) < wanted:
        asked = min(step, wanted - len(rows))
        part: list[Row] = cursor.fetchmany(asked)
        size += size_of(part)
        if size > limits.result_bytes:
            raise ResultTooLarge(
                f"the result has more than {limits.result_bytes:,} bytes: select fewer columns or rows, or aggregate"
            )
        rows += part
        if len(part) < asked:
            return rows, False
    return rows[: limits.rows], True


def column_types(rows: Sequence[Row], width: int) -> tuple[str, ...]:
    """One of `integer`, `real`, `text`, `blob`, `null` or `mixed` a column, by the values."""
    if not rows:
        return ("null",) * width
    return tuple([_type_of(set(map(type, column))) for column in zip(*rows, strict=True)])


def _type_of(seen: set[type]) -> str:
    seen.discard(type(None))
    if not seen:
        return "null"
    return _TYPE_NAMES[seen.pop()] if len(seen) == 1 else "mixed"


def size_of(rows: Sequence[Row]) -> int:
    """Roughly the bytes that the values take: 8 each, and the length of texts and blobs."""
    if not rows:
        return 0
    return 8 * len(rows) * len(rows[0]) + sum([_length(column) for column in zip(*rows, strict=True)])


def _length(column: tuple[Cell, ...]) -> int:
    seen = set(map(type, column))
    if str not in seen and bytes not in seen:
        return 0
    return sum([len(cell) for cell in column if isinstance(cell, str | bytes)])
