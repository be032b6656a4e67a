"""Building an index: columns are read and stored one after another, within bounds of work and size.

How far one call goes is counted in rows and values, not in seconds, so that what a question finds does not depend on
how busy the machine is. Time alone ends what hangs.
"""

from __future__ import annotations

import time
from collections.abc import Container
from dataclasses import dataclass

from ..database import ColumnSchema, Database, Schema
from ..errors import QueryError
from .store import Store, StoredColumn

_CHUNK = 10_000
"""Values stored at once; some tenths of a second."""


@dataclass(frozen=True)
class IndexBounds:
    """What the index may cost.

    Attributes:
        work: How far one call goes on building; the next goes on from there. A row that is read counts one, a value
            that is stored `_STORING`: about two seconds on a machine with nothing else to do.
        seconds: How long one call may go on in any case.
        read_seconds: How long reading one column may take; of one that takes longer, a part is held.
        values: Distinct values held altogether; about 200 bytes of disk each.
        text_length: Longer texts are prose, which questions don't mention as a whole.
    """

    work: int = 2_000_000
    seconds: float = 15.0
    read_seconds: float = 5.0
    values: int = 2_000_000
    text_length: int = 150


_STORING = 20
"""What storing a value takes, in rows read."""

_ROWS = 100_000
"""Rows of a table that nobody has counted."""

DEFAULT_BOUNDS = IndexBounds()


def columns_to_index(schema: Schema, withheld: Container[tuple[str, str]] = ()) -> list[tuple[str, str]]:
    """Every column that may hold text. Views are left out: they repeat their tables' values.

    Args:
        schema: The database's.
        withheld: Columns whose values may not leave; they are left out.
    """
    return [
        (table.name, column.name)
        for table in schema.tables
        if table.kind != "view"
        for column in table.columns
        if _may_hold_text(column) and (table.name, column.name) not in withheld
    ]


def _may_hold_text(column: ColumnSchema) -> bool:
    declared = column.kind not in ("number", "binary")
    return declared or any(isinstance(sample, str) for sample in column.samples)


def fill(store: Store, database: Database, bounds: IndexBounds) -> bool:
    """Goes on filling the columns that wait, one chunk of values at least, until a call's work is done.

    Returns:
        Whether the index is complete.
    """
    left, until = bounds.work, time.monotonic() + bounds.seconds
    columns = store.columns()
    held = sum(column.held for column in columns)
    waiting = [column for column in columns if column.state == "waiting"]
    schema = database.schema()
    for column in waiting:
        table = schema.table(column.table)
        left -= _ROWS if table is None or table.row_count is None else table.row_count
        texts, state = _texts(database, column, bounds.values - held + column.held, bounds)
        held += len(texts) - column.held
        for start in range(column.held, max(len(texts), column.held + 1), _CHUNK):
            chunk, last = texts[start : start + _CHUNK], start + _CHUNK >= len(texts)
            store.add(column.id, start, chunk, state if last else "waiting")
            left -= _STORING * len(chunk)
            if (left < 0 or time.monotonic() > until) and not (last and column is waiting[-1]):
                return False
    return True


def _texts(database: Database, column: StoredColumn, room: int, bounds: IndexBounds) -> tuple[list[str], str]:
    """A column's distinct texts, in the order of its rows, and whether they are its `whole` or a `part`."""
    if room <= 0:
        return [], "part"
    began = time.monotonic()
    try:
        found = database.distinct_values(column.table, column.name, room + 1, bounds.read_seconds)
    except QueryError:
        return [], "part"
    in_time = time.monotonic() - began < bounds.read_seconds
    texts = list(dict.fromkeys(value for value in found if isinstance(value, str)))
    kept = [text for text in texts if 0 < len(text) <= bounds.text_length][:room]
    return kept, "whole" if in_time and len(kept) == len(found) <= room else "part"
