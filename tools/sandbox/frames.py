"""The tables that a piece of code names, as data frames."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..database.database import Database
from ..database.schema import ColumnSchema, TableSchema
from ..database.table import Cell, Limits, Table
from ..errors import QueryError
from .terms import SandboxLimits

if TYPE_CHECKING:
    import pandas

DEFAULT_LIMITS = SandboxLimits()

_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$", re.ASCII)
_CELL_BYTES = 1_000_000


@dataclass(frozen=True)
class Frames:
    """Loaded tables.

    Attributes:
        frames: Data frames by the name that the code uses.
        sampled: Tables of which only a part was loaded.
        notes: One sentence for each thing that a reader of the result should know.
    """

    frames: Mapping[str, pandas.DataFrame]
    sampled: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def load_frames(code: str, database: Database, limits: SandboxLimits = DEFAULT_LIMITS) -> Frames:
    """Load the tables that the code names in a string, as in `db_dict["orders"]`; names match in any case.

    Columns come as integers (nullable where NULLs are), floats, text, and times where the schema says so and every
    value is an ISO date or time; values of several kinds stay as they are. Beyond `limits.frame_rows`, a table is
    sampled evenly over its rows (a view is cut), and the notes say so. A table that cannot be read within its limits
    is left out, with a note.

    Args:
        code: Python; where it doesn't parse, nothing is loaded.
        database: Read with its own rules of what may be seen.
        limits: `frame_rows`, `input_bytes` and `seconds` apply, the last two to each table.
    """
    schema = database.schema()
    frames: dict[str, pandas.DataFrame] = {}
    sampled: list[str] = []
    notes: list[str] = []
    for name in _strings(code):
        table = schema.table(name)
        if table is None:
            continue
        try:
            rows = _read(database, table, limits)
        except QueryError as error:
            notes.append(f"Table {table.name} was not loaded: {error}.")
            continue
        frames[name] = to_frame(rows, table)
        if rows.truncated:
            sampled.append(table.name)
            notes.append(f"The code saw {len(rows.rows):,} rows of table {table.name}, which has more.")
    return Frames(frames, tuple(sampled), tuple(notes))


def to_frame(rows: Table, table: TableSchema) -> pandas.DataFrame:
    """A table's rows as a data frame with fitting types."""
    import pandas

    cells: list[tuple[Cell, ...]] = list(zip(*rows.rows, strict=True)) or [()] * len(rows.columns)
    columns = [table.column(name) or ColumnSchema(name) for name in rows.columns]
    data = {column.name: _series(list(values), column) for column, values in zip(columns, cells, strict=True)}
    return pandas.DataFrame(data)


def _strings(code: str) -> list[str]:
    """The string constants of the code, each once, in order."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    texts = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return list(dict.fromkeys(texts))


def _read(database: Database, table: TableSchema, limits: SandboxLimits) -> Table:
    query_limits = Limits(
        seconds=limits.seconds, rows=limits.frame_rows, cell_bytes=_CELL_BYTES, result_bytes=limits.input_bytes
    )
    everything = f"SELECT * FROM {_quoted(table.name)}"
    step = -(-(table.row_count or 0) // max(1, limits.frame_rows))
    if step > 1 and table.kind == "table":
        try:
            sample = database.execute(f"{everything} WHERE rowid % {step} = 0", query_limits)
        except QueryError:
            pass  # a table without row numbers: its first rows, then
        else:
            return replace(sample, truncated=True)
    return database.execute(everything, query_limits)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _series(values: list[Cell], column: ColumnSchema) -> pandas.Series[Any]:
    import pandas

    kinds = {type(value) for value in values} - {type(None)}
    missing = None in values
    if kinds == {int}:
        return pandas.Series(values, dtype="Int64" if missing else "int64")
    if kinds and kinds <= {int, float}:
        return pandas.Series(values, dtype="float64")
    if kinds == {str}:
        if column.kind == "time" and all(value is None or _ISO_TIME.match(str(value)) for value in values):
            times = pandas.to_datetime(pandas.Series(values, dtype="str"), format="ISO8601", errors="coerce")
            # A date that doesn't exist would be lost: then the column stays text.
            if int(times.isna().sum()) == values.count(None):
                return times
        return pandas.Series(values, dtype="str")
    if not kinds and column.kind in ("number", "text", "time"):
        empty = {"number": "Float64", "text": "str", "time": "datetime64[us]"}
        return pandas.Series(values, dtype=empty[column.kind])
    return pandas.Series(values, dtype=object)
