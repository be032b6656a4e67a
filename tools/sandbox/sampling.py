"""A table's rows, or where it has too many, a sample spread evenly over them."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass, replace

from ..database.database import Database
from ..database.names import quoted
from ..database.schema import TableSchema
from ..database.table import Limits, Table
from ..errors import QueryFailed, QueryRejected, QueryTimeout

# Row numbers are mixed by a multiplication and a squaring modulo a prime: the first spreads runs of them, the second
# breaks the rhythm that regular ones would keep. No step exceeds 63 bits.
_PRIME = 2**31 - 1
_FACTOR = 1_327_217_885
_NUMBER_NAMES = ("rowid", "_rowid_", "oid")
# So many standard deviations more rows are sorted than wanted, to have as many as wanted.
_DEVIATIONS = 5
# What a sample may take of the time; the rest is for the first rows, where it takes longer.
_SHARE_OF_TIME = 0.6


@dataclass(frozen=True)
class Read:
    """Rows of a table; `spread` says whether they were sampled rather than being the first ones."""

    rows: Table
    spread: bool = False


def read_rows(database: Database, table: TableSchema, limits: Limits) -> Read:
    """All rows of a table, or as many as `limits.rows`, with `truncated` set.

    The sample is the same each time, of as many rows as allowed, and as good as chance would draw it, however the rows
    are numbered. Of views and virtual tables, whose rows have no numbers or may never end, come the first rows; so
    they do of tables too large to be sampled in time.

    Raises:
        QueryError: The table cannot be read within the limits.
    """
    if table.row_count is None or table.row_count <= limits.rows or table.kind != "table":
        first = _first(database, table, limits)
        if not first.rows.truncated or table.kind != "table":
            return first
    started = time.monotonic()
    rows = _sample(database, table, replace(limits, seconds=limits.seconds * _SHARE_OF_TIME))
    if rows is not None:
        return Read(replace(rows, truncated=True), spread=True)
    return _first(database, table, replace(limits, seconds=limits.seconds - (time.monotonic() - started)))


def _first(database: Database, table: TableSchema, limits: Limits) -> Read:
    return Read(database.execute(f"SELECT {_columns(table)} FROM {quoted(table.name)}", limits))


def _sample(database: Database, table: TableSchema, limits: Limits) -> Table | None:
    """As many rows as wanted; None if that doesn't work out."""
    try:
        rows = _by_number(database, table, limits)
    except QueryTimeout:
        return None
    # A table that has shrunk since its rows were counted.
    return rows if len(rows.rows) == limits.rows else None


def _by_number(database: Database, table: TableSchema, limits: Limits) -> Table:
    names = {column.name.lower() for column in table.columns}
    columns, name = _columns(table), quoted(table.name)
    number = next((each for each in _NUMBER_NAMES if each not in names), None)
    if number:
        chosen = _chosen(f"SELECT {number} AS n FROM {name}", table.row_count, limits.rows)
        with contextlib.suppress(QueryFailed, QueryRejected):
            return database.execute(f"SELECT {columns} FROM {name} WHERE {number} IN ({chosen})", limits)
    # No row numbers, or hidden ones: positions take longer.
    position = quoted(max(names, key=len) + "_")
    chosen = _chosen(f"SELECT row_number() OVER () AS n FROM {name}", table.row_count, limits.rows)
    placed = f"SELECT {columns}, row_number() OVER () AS {position} FROM {name}"
    return database.execute(f"SELECT {columns} FROM ({placed}) WHERE {position} IN ({chosen})", limits)


def _columns(table: TableSchema) -> str:
    """Every column by its name: where others are hidden, `*` is refused."""
    return ", ".join(quoted(column.name) for column in table.columns)


def _chosen(numbers: str, row_count: int | None, wanted: int) -> str:
    """A query for as many of the numbers `n` as wanted, those that come first when mixed."""
    most = _PRIME
    if row_count:
        candidates = wanted + _DEVIATIONS * math.sqrt(wanted) + 10
        most = min(_PRIME, int(_PRIME * candidates / row_count))
    spread = f"SELECT n, (n % {_PRIME} + {_PRIME}) * {_FACTOR} % {_PRIME} AS h FROM ({numbers})"
    mixed = f"SELECT n, h * h % {_PRIME} AS h FROM ({spread})"
    return f"SELECT n FROM ({mixed}) WHERE h <= {most} ORDER BY h, n LIMIT {wanted}"
