"""Rows as a Parquet file: exact, with a type a column.

What a column holds is known at its end only, since in SQLite any cell may be of any type. So the rows are first kept,
compressed and part by part, in a temporary file, and then written with the types that hold them all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from typing import Any, BinaryIO, cast

from ..database.fetch import Row
from ..database.table import Cell, plain_cell
from .text import unique_names

_PART_ROWS = 20_000
_INT64 = 2**63


class ParquetWriter:
    """Integers, floats, texts and bytes; a column of several kinds is text, and so are integers beyond 64 bits."""

    def __init__(self, file: BinaryIO, columns: Sequence[str]) -> None:
        import pyarrow
        from pyarrow import ipc, parquet

        self._arrow: Any = pyarrow
        self._ipc: Any = ipc
        self._parquet: Any = parquet
        self._file = file
        self._names = unique_names(columns)
        self._kinds: list[set[str]] = [set() for _ in columns]
        self._rows: list[Row] = []
        self._parts = 0
        self._kept: Any = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`, or when it is forgotten

    def write(self, rows: Sequence[Row]) -> None:
        """See `Writer`."""
        self._rows += rows
        if len(self._rows) >= _PART_ROWS:
            self._keep()

    def close(self) -> None:
        """See `Writer`."""
        self._keep()
        types = [self._type(kinds) for kinds in self._kinds]
        schema = self._arrow.schema(list(zip(self._names, types, strict=True)))
        with self._kept, self._parquet.ParquetWriter(self._file, schema, compression="zstd") as writer:
            self._kept.seek(0)
            for _ in range(self._parts):
                with self._ipc.open_stream(self._kept) as stream:
                    (part,) = list(stream)
                columns = [self._cast(column, kind) for column, kind in zip(part.columns, types, strict=True)]
                writer.write_batch(self._arrow.record_batch(columns, schema=schema))

    def _keep(self) -> None:
        if not self._rows:
            return
        columns = [
            self._array(column, known) for column, known in zip(zip(*self._rows, strict=True), self._kinds, strict=True)
        ]
        batch = self._arrow.record_batch(columns, names=list(self._names))
        with self._ipc.new_stream(self._kept, batch.schema) as stream:
            stream.write_batch(batch)
        self._rows, self._parts = [], self._parts + 1

    def _array(self, column: Sequence[Cell], known: set[str]) -> Any:
        """The cells with the one type that holds them; what they are is added to what is known."""
        kinds = set(filter(None, map(_kind, column)))
        known |= kinds
        kind = self._type(kinds)
        if kind == self._arrow.float64():
            # Arrow refuses whole numbers among others that a float holds only nearly.
            return self._arrow.array([cell if cell is None else float(cast(Any, cell)) for cell in column], kind)
        return self._arrow.array(_texts(column) if kind == self._arrow.string() else column, kind)

    def _type(self, kinds: set[str]) -> Any:
        arrow = self._arrow
        if kinds == {"integer"}:
            return arrow.int64()
        if kinds and kinds <= {"integer", "real"}:
            return arrow.float64()
        return arrow.binary() if kinds == {"blob"} else arrow.string()

    def _cast(self, column: Any, kind: Any) -> Any:
        if column.type == self._arrow.binary() and kind == self._arrow.string():
            return self._arrow.array(_texts(column.to_pylist()), kind)
        return column if column.type == kind else column.cast(kind, safe=False)


def _kind(cell: Cell) -> str:
    """What a cell is; empty for NULL."""
    match cell:
        case None:
            return ""
        case bytes():
            return "blob"
        case float():
            return "real"
        case int():
            return "integer" if -_INT64 <= cell < _INT64 else "text"
        case _:
            return "text"


def _texts(column: Sequence[Cell]) -> list[str | None]:
    plain = map(plain_cell, column)
    return [None if cell is None else str(cell).encode("utf-8", "replace").decode() for cell in plain]
