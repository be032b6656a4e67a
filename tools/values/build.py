"""Building an index: columns are read and stored one after another, within bounds of time and size."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..errors import QueryError
from .store import Store, StoredColumn

if TYPE_CHECKING:
    from ..database import Database
    from ..database.schema import Schema


@dataclass(frozen=True)
class IndexBounds:
    """What the index may cost.

    Attributes:
        seconds: How long one call may go on building; later calls go on from there. A column once begun is finished.
        values: Distinct values held altogether.
        text_length: Longer texts are prose, which questions don't mention as a whole.
    """

    seconds: float = 3.0
    values: int = 2_000_000
    text_length: int = 150


DEFAULT_BOUNDS = IndexBounds()


def columns_to_index(schema: Schema) -> list[tuple[str, str]]:
    """Every column that may hold text. Binary columns can't, and views repeat their tables' values."""
    return [
        (table.name, column.name)
        for table in schema.tables
        if table.kind != "view"
        for column in table.columns
        if column.kind != "binary"
    ]


def fill(store: Store, database: Database, bounds: IndexBounds) -> bool:
    """Fills columns that wait until the time is used up; at least one, so that every call gets further.

    Returns:
        Whether the index is complete.
    """
    until = time.monotonic() + bounds.seconds
    columns = store.columns()
    held = sum(column.held for column in columns)
    waiting = [column for column in columns if column.state == "waiting"]
    for column in waiting:
        room = bounds.values - held
        texts, state = _texts(database, column, room, bounds.text_length)
        store.add(column.id, texts, state)
        held += len(texts)
        if time.monotonic() > until and column is not waiting[-1]:
            return False
    return True


def _texts(database: Database, column: StoredColumn, room: int, longest: int) -> tuple[list[str], str]:
    """A column's distinct texts, and whether they are its `whole` or a `part`."""
    if room <= 0:
        return [], "part"
    try:
        found = database.distinct_values(column.table, column.name, room + 1)
    except QueryError:
        return [], "part"
    texts = [value for value in found if isinstance(value, str) and value]
    kept = [text for text in texts if len(text) <= longest][:room]
    whole = len(kept) == len(found) <= room
    return kept, "whole" if whole else "part"
