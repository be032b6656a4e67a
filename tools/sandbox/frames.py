"""The tables that a piece of code names, as data frames."""

from __future__ import annotations

import ast
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..database.database import Database
from ..database.fetch import size_of
from ..database.schema import ColumnSchema, TableSchema
from ..database.table import Cell, Limits, Table
from ..database.watchdog import Cancellation
from ..errors import QueryError, QueryTimeout
from .sampling import read_rows
from .terms import SandboxLimits

if TYPE_CHECKING:
    import pandas

DEFAULT_LIMITS = SandboxLimits()

_ISO_TIME = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?$", re.ASCII)
_CELL_BYTES = 1_000_000
# Up to here a float is as good as an integer.
_EXACT = 2**53


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


def load_frames(
    code: str, database: Database, limits: SandboxLimits = DEFAULT_LIMITS, cancellation: Cancellation | None = None
) -> Frames:
    """Load the tables that the code names in a string, as in `db_dict["orders"]`; names match in any case.

    Columns come as integers (nullable where NULLs are), floats, text, and times where the schema says so and every
    value is an ISO date or time; values of several kinds stay as they are. Beyond `limits.frame_rows`, a table is
    sampled evenly over its rows (a view is cut), and the notes say so. A table that cannot be read within its limits
    is left out, with a note. A table named in several spellings is loaded once. Columns whose values may not leave are
    left out, since what the code makes of them could not be told apart from the rest; a note says so.

    Args:
        code: Python; where it doesn't parse, nothing is loaded.
        database: Read with its own rules of what may be seen.
        limits: `frame_rows` applies to each table, `input_bytes` and `seconds` to all of them together.
        cancellation: Ends the reading from another thread; what was not read yet is left out.
    """
    schema, withheld = database.schema(), database.leaving().levels
    tables = {name: table for name in _strings(code) if (table := schema.table(name)) is not None}
    loaded: dict[str, pandas.DataFrame] = {}
    sampled: list[str] = []
    notes: list[str] = []
    deadline = time.monotonic() + limits.seconds
    room = limits.input_bytes
    for table in {table.name: table for table in tables.values()}.values():
        left_out = [column.name for column in table.columns if (table.name, column.name) in withheld]
        if left_out:
            table = replace(table, columns=tuple(c for c in table.columns if c.name not in left_out))
            notes.append(f"The code did not see {', '.join(left_out)} of table {table.name}: only a query can.")
        if not table.columns:
            continue
        try:
            read = read_rows(database, table, _remaining(limits, deadline, room), cancellation)
        except QueryError as error:
            notes.append(f"Table {table.name} was not loaded: {error}.")
            continue
        room -= size_of(read.rows.rows)
        loaded[table.name] = to_frame(read.rows, table)
        if read.rows.truncated:
            sampled.append(table.name)
            count = f"{'' if read.spread else 'the first '}{len(read.rows.rows):,}"
            notes.append(f"The code saw {count} rows of table {table.name}, which has more.")
    frames = {name: loaded[table.name] for name, table in tables.items() if table.name in loaded}
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


def _remaining(limits: SandboxLimits, deadline: float, room: int) -> Limits:
    """What is left for the next table.

    Raises:
        QueryTimeout: No time is.
    """
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise QueryTimeout(f"loading tables ran past {limits.seconds:g} s")
    return Limits(seconds=seconds, rows=limits.frame_rows, cell_bytes=_CELL_BYTES, result_bytes=room)


def _series(values: list[Cell], column: ColumnSchema) -> pandas.Series[Any]:
    import pandas

    kinds = {type(value) for value in values} - {type(None)}
    missing = None in values
    if kinds == {int}:
        return pandas.Series(values, dtype="Int64" if missing else "int64")
    if kinds and kinds <= {int, float} and all(abs(value) <= _EXACT for value in values if isinstance(value, int)):
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
