"""Results fetched within their limits."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Protocol

from ..errors import ResultTooLarge
from .table import Cell, Limits, Table

_TYPE_NAMES = {int: "integer", float: "real", str: "text", bytes: "blob"}
_NONE = type(None)
_TEXTS = {str, bytes, _NONE}
# How far a single fetch may go past `Limits.result_bytes` before the size is looked at.
_OVERSHOOT_BYTES = 200_000_000
_LARGEST_FETCH = 1_000

Row = tuple[Cell, ...]


class Cursor(Protocol):
    """The part of a DB-API cursor that is used after `execute`."""

    @property
    def description(self) -> Any: ...

    def fetchmany(self, size: int, /) -> list[Any]: ...


class RowCursor:
    """A cursor over the rows of an iterator."""

    def __init__(self, columns: Sequence[str], rows: Iterator[Row]) -> None:
        self.description = [(name,) for name in columns]
        self._rows = rows

    def fetchmany(self, size: int, /) -> list[Row]:
        return list(islice(self._rows, size))


class Sink(Protocol):
    """A receiver of a result's rows in batches, so that the rows are not all in memory.

    What it raises ends the query. Where an engine starts a query over, it starts the sink over too.
    """

    def start(self, columns: tuple[str, ...]) -> None:
        """Receive the column names before any row."""
        ...

    def take(self, rows: Sequence[Row]) -> None:
        """Receive the next rows of the result."""
        ...


def fetch(cursor: Cursor, limits: Limits, sink: Sink | None = None, start: float = 0.0) -> Table:
    """Return a cursor's result, cut to `limits.rows`; without rows if a sink receives them.

    `start` is when the query was started, by the clock `time.monotonic`.

    Raises:
        ResultTooLarge: The values together passed `limits.result_bytes`.
    """
    columns = tuple([entry[0] for entry in cursor.description])
    width = len(columns)
    step = max(1, min(_LARGEST_FETCH, _OVERSHOOT_BYTES // (max(1, width) * max(1, limits.cell_bytes))))
    column_types: list[set[type]] = [set() for _ in range(width)]
    rows: list[Row] = []
    row_count = size = 0
    has_more = True
    if sink is not None:
        sink.start(columns)
    while has_more and row_count <= limits.rows:
        batch_size = min(step, limits.rows + 1 - row_count)
        batch: list[Row] = cursor.fetchmany(batch_size)
        has_more = len(batch) == batch_size
        if sink is None:
            rows += batch
        else:
            sink.take(batch[: limits.rows - row_count])
        row_count += len(batch)
        size += _measure_rows_and_types(batch, column_types)
        if size > limits.result_bytes:
            raise ResultTooLarge(
                f"the result has more than {limits.result_bytes:,} bytes: select fewer columns or rows, or aggregate"
            )
    kinds = [tuple(types - {_NONE}) for types in column_types]
    names = ["null" if not types else _TYPE_NAMES[types[0]] if len(types) == 1 else "mixed" for types in kinds]
    return Table(
        columns, tuple(names), tuple(rows[: limits.rows]), row_count > limits.rows, elapsed=time.monotonic() - start
    )


def estimate_rows_size(rows: Sequence[Row]) -> int:
    """Return the approximate size of rows in bytes: 8 per value, plus texts and blobs."""
    return _measure_rows_and_types(rows, [set() for _ in rows[0]]) if rows else 0


def _measure_rows_and_types(rows: Sequence[Row], types: Sequence[set[type]]) -> int:
    """Add the types of each column to `types`, and return the size of all values."""
    size = 8 * len(rows) * len(types)
    for kinds, column in zip(types, zip(*rows, strict=True), strict=False):
        cell_types = set(map(type, column))
        kinds |= cell_types
        if cell_types <= _TEXTS:
            size += sum(map(len, filter(None, column)))  # pyright: ignore[reportArgumentType] - texts and blobs only
        elif str in cell_types or bytes in cell_types:
            size += sum([len(cell) for cell in column if isinstance(cell, str | bytes)])
    return size
