"""The tables that a piece of code names, as data frames."""

from __future__ import annotations

import ast
import contextlib
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..database.database import Database
from ..database.fetch import estimate_rows_size
from ..database.quoting import quote
from ..database.schema import ColumnSchema, TableSchema
from ..database.table import Cell, Limits, Table
from ..database.watchdog import Cancellation
from ..errors import QueryError, QueryFailed, QueryRejected, QueryTimeout
from ..words import match_time
from .terms import SandboxLimits

if TYPE_CHECKING:
    import pandas

DEFAULT_LIMITS = SandboxLimits()

_CELL_BYTES = 1_000_000
# Up to here a float is as good as an integer.
_EXACT = 2**53
# Row numbers are mixed by a multiplication and a squaring modulo a prime: the first spreads runs of them, the second
# breaks the rhythm that regular ones would keep. No step exceeds 63 bits.
_PRIME = 2**31 - 1
_FACTOR = 1_327_217_885
_NUMBER_NAMES = ("rowid", "_rowid_", "oid")
# Counting the rows would bring all of them to one of Spark's machines; these numbers have gaps, which do no harm.
_POSITIONS = {"spark": "monotonically_increasing_id()"}
_POSITION = "row_number() OVER ()"
# So many standard deviations more rows are sorted than wanted, to have as many as wanted.
_DEVIATIONS = 5
# What a sample may take of the time; the rest is for the first rows, where it takes longer.
_SHARE_OF_TIME = 0.6


@dataclass(frozen=True)
class LoadedFrames:
    """The data frames loaded for a piece of code, with notes on missing or sampled tables."""

    frames: Mapping[str, pandas.DataFrame]  # by the name that the code uses
    sampled: tuple[str, ...] = ()  # tables of which only a part was loaded
    notes: tuple[str, ...] = ()  # one sentence for each thing that a reader of the result should know


def load_frames(
    code: str, database: Database, limits: SandboxLimits = DEFAULT_LIMITS, cancellation: Cancellation | None = None
) -> LoadedFrames:
    """Load the tables that the code names in strings, as in `db_dict["orders"]`.

    Columns come as integers (nullable where NULLs are), floats, text, and times where the schema says so and every
    value is an ISO date or time; values of several kinds stay as they are. Beyond `limits.frame_rows`, a table is
    sampled evenly over its rows (a view is cut), and the notes say so. A table that cannot be read within its limits
    is left out, with a note. A table named in several spellings is loaded once. Columns whose values may not leave are
    left out, since what the code makes of them could not be told apart from the rest; a note says so.

    Of the limits `frame_rows` applies to each table, `input_bytes` and `seconds` to all together; a cancellation
    ends the reading, and leaves out what was not read yet. Of code that doesn't parse nothing is loaded.
    """
    schema, levels = database.schema(), database.leaving().column_levels
    tables = {name: table for name in _find_string_constants(code) if (table := schema.table(name)) is not None}
    frames_by_table: dict[str, pandas.DataFrame] = {}
    samples: list[str] = []
    notes: list[str] = []
    deadline = time.monotonic() + limits.seconds
    room = limits.input_bytes
    for table in {table.name: table for table in tables.values()}.values():
        hidden_names = [column.name for column in table.columns if (table.name, column.name) in levels]
        if hidden_names:
            table = replace(table, columns=tuple(c for c in table.columns if c.name not in hidden_names))
            notes.append(f"The code did not see {', '.join(hidden_names)} of table {table.name}: only a query can.")
        if not table.columns:
            continue
        seconds = deadline - time.monotonic()
        try:
            if seconds <= 0:
                raise QueryTimeout(f"loading tables took longer than {limits.seconds:g} s")
            table_limits = Limits(seconds=seconds, rows=limits.frame_rows, cell_bytes=_CELL_BYTES, result_bytes=room)
            rows, spread = _TableReader(database, table, cancellation).read(table_limits)
        except QueryError as error:
            notes.append(f"Table {table.name} was not loaded: {error}.")
            continue
        room -= estimate_rows_size(rows.rows)
        frames_by_table[table.name] = _convert_to_data_frame(rows, table)
        if rows.truncated:
            samples.append(table.name)
            count = f"{'' if spread else 'the first '}{len(rows.rows):,}"
            notes.append(f"The code saw {count} rows of table {table.name}, which has more.")
    frames = {name: frames_by_table[table.name] for name, table in tables.items() if table.name in frames_by_table}
    return LoadedFrames(frames, tuple(samples), tuple(notes))


def _convert_to_data_frame(rows: Table, table: TableSchema) -> pandas.DataFrame:
    """Convert the rows of a table to a data frame with suitable column types."""
    import pandas

    cells: list[tuple[Cell, ...]] = list(zip(*rows.rows, strict=True)) or [()] * len(rows.columns)
    columns = [table.column(name) or ColumnSchema(name) for name in rows.columns]
    data = {column.name: _make_series(list(values), column) for column, values in zip(columns, cells, strict=True)}
    return pandas.DataFrame(data)


def _find_string_constants(code: str) -> list[str]:
    """Return the distinct string constants of the code, in order."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return list(dict.fromkeys(texts))


def _make_series(values: list[Cell], column: ColumnSchema) -> pandas.Series[Any]:
    import pandas

    kinds = {type(value) for value in values} - {type(None)}
    missing = None in values
    if kinds == {int}:
        return pandas.Series(values, dtype="Int64" if missing else "int64")
    if kinds and kinds <= {int, float} and all(abs(value) <= _EXACT for value in values if isinstance(value, int)):
        return pandas.Series(values, dtype="float64")
    if kinds == {str}:
        matches = [match_time(str(value)) for value in values if value is not None]
        if column.kind == "time" and all(one and not one["zone"] and len(one["fraction"] or "") < 8 for one in matches):
            times = pandas.to_datetime(pandas.Series(values, dtype="str"), format="ISO8601", errors="coerce")
            # A date that doesn't exist would be lost: then the column stays text.
            if int(times.isna().sum()) == values.count(None):
                return times
        return pandas.Series(values, dtype="str")
    if not kinds and column.kind in ("number", "text", "time"):
        empty = {"number": "Float64", "text": "str", "time": "datetime64[us]"}
        return pandas.Series(values, dtype=empty[column.kind])
    return pandas.Series(values, dtype=object)


class _TableReader:
    def __init__(self, database: Database, table: TableSchema, cancellation: Cancellation | None) -> None:
        self._database = database
        self._table = table
        self._execute = partial(database.execute, cancellation=cancellation)
        self._name = quote(table.name, database.dialect)
        # Every column by its name: where others are hidden, `*` is refused.
        self._columns = ", ".join(quote(column.name, database.dialect) for column in table.columns)

    def read(self, limits: Limits) -> tuple[Table, bool]:
        """Return the table's rows up to `limits.rows`, and whether the rows are a sample.

        The sample is the same each time, of as many rows as allowed, and as good as chance would draw it, however the
        rows are numbered. Of views and virtual tables, whose rows have no numbers or may never end, come the first
        rows; so they do of tables too large to be sampled in time.
        """
        kind, count = self._table.kind, self._table.row_count
        if count is None or count <= limits.rows or kind != "table":
            first = self._read_first_rows(limits)
            if not first.truncated or kind != "table":
                return first, False
        start = time.monotonic()
        with contextlib.suppress(QueryTimeout):
            rows = self._read_sample_rows(replace(limits, seconds=limits.seconds * _SHARE_OF_TIME))
            # Fewer come of a table that has shrunk since its rows were counted.
            if len(rows.rows) == limits.rows:
                return replace(rows, truncated=True), True
        return self._read_first_rows(replace(limits, seconds=limits.seconds - (time.monotonic() - start))), False

    def _read_first_rows(self, limits: Limits) -> Table:
        return self._execute(f"SELECT {self._columns} FROM {self._name}", limits)

    def _read_sample_rows(self, limits: Limits) -> Table:
        """Read a sample of rows, chosen by row number, or by position if numbers are missing."""
        names = {column.name.lower() for column in self._table.columns}
        if number := next((name for name in _NUMBER_NAMES if name not in names), None):
            numbers = self._build_sample_query(f"SELECT {number} AS n FROM {self._name}", limits.rows)
            with contextlib.suppress(QueryFailed, QueryRejected):
                return self._execute(f"SELECT {self._columns} FROM {self._name} WHERE {number} IN ({numbers})", limits)
        position = quote(max(names, key=len) + "_", self._database.dialect)
        number = _POSITIONS.get(self._database.dialect, _POSITION)
        numbers = self._build_sample_query(f"SELECT {number} AS n FROM {self._name}", limits.rows)
        rows = f"SELECT {self._columns}, {number} AS {position} FROM {self._name}"
        return self._execute(f"SELECT {self._columns} FROM ({rows}) AS placed WHERE {position} IN ({numbers})", limits)

    def _build_sample_query(self, numbers: str, count: int) -> str:
        """Return a query that selects a pseudo-random sample of `count` row numbers."""
        threshold = _PRIME
        if self._table.row_count:
            candidates = count + _DEVIATIONS * math.sqrt(count) + 10
            threshold = min(_PRIME, int(_PRIME * candidates / self._table.row_count))
        spread = f"SELECT n, (n % {_PRIME} + {_PRIME}) * {_FACTOR} % {_PRIME} AS h FROM ({numbers}) AS numbers"
        squares = f"SELECT n, h * h % {_PRIME} AS h FROM ({spread}) AS spread"
        first = f"SELECT n FROM ({squares}) AS mixed WHERE h <= {threshold} ORDER BY h, n LIMIT {count}"
        return f"SELECT n FROM ({first}) AS chosen"  # MySQL knows no LIMIT directly within IN
