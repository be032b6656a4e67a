"""A table's rows, or where it has too many, a sample spread evenly over them."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass, replace

from ..database.database import Database
from ..database.quoting import quoted
from ..database.schema import TableSchema
from ..database.table import Limits, Table
from ..database.watchdog import Cancellation
from ..errors import QueryFailed, QueryRejected, QueryTimeout

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
class Read:
    """Rows of a table; `spread` says whether they were sampled rather than being the first ones."""

    rows: Table
    spread: bool = False


def read_rows(database: Database, table: TableSchema, limits: Limits, cancellation: Cancellation | None = None) -> Read:
    """All rows of a table, or as many as `limits.rows`, with `truncated` set.

    The sample is the same each time, of as many rows as allowed, and as good as chance would draw it, however the rows
    are numbered. Of views and virtual tables, whose rows have no numbers or may never end, come the first rows; so
    they do of tables too large to be sampled in time.

    Raises:
        QueryError: The table cannot be read within the limits.
    """
    reader = _Reader(database, table, cancellation)
    if table.row_count is None or table.row_count <= limits.rows or table.kind != "table":
        first = reader.first(limits)
        if not first.truncated or table.kind != "table":
            return Read(first)
    started = time.monotonic()
    with contextlib.suppress(QueryTimeout):
        rows = reader.sample(replace(limits, seconds=limits.seconds * _SHARE_OF_TIME))
        # Fewer come of a table that has shrunk since its rows were counted.
        if len(rows.rows) == limits.rows:
            return Read(replace(rows, truncated=True), spread=True)
    return Read(reader.first(replace(limits, seconds=limits.seconds - (time.monotonic() - started))))


class _Reader:
    def __init__(self, database: Database, table: TableSchema, cancellation: Cancellation | None) -> None:
        self._database = database
        self._table = table
        self._cancellation = cancellation
        self._name = self._quoted(table.name)
        # Every column by its name: where others are hidden, `*` is refused.
        self._columns = ", ".join(self._quoted(column.name) for column in table.columns)

    def first(self, limits: Limits) -> Table:
        return self._execute(f"SELECT {self._columns} FROM {self._name}", limits)

    def sample(self, limits: Limits) -> Table:
        """Rows chosen by their numbers; where there are none, or hidden ones, by their positions, which takes longer.

        Raises:
            QueryTimeout: Choosing them took too long.
        """
        names = {column.name.lower() for column in self._table.columns}
        if number := next((each for each in _NUMBER_NAMES if each not in names), None):
            chosen = self._chosen(f"SELECT {number} AS n FROM {self._name}", limits.rows)
            with contextlib.suppress(QueryFailed, QueryRejected):
                return self._execute(f"SELECT {self._columns} FROM {self._name} WHERE {number} IN ({chosen})", limits)
        position = self._quoted(max(names, key=len) + "_")
        number = _POSITIONS.get(self._database.dialect, _POSITION)
        chosen = self._chosen(f"SELECT {number} AS n FROM {self._name}", limits.rows)
        placed = f"SELECT {self._columns}, {number} AS {position} FROM {self._name}"
        return self._execute(f"SELECT {self._columns} FROM ({placed}) AS placed WHERE {position} IN ({chosen})", limits)

    def _chosen(self, numbers: str, wanted: int) -> str:
        """A query for as many of the numbers `n` as wanted, those that come first when mixed."""
        most = _PRIME
        if self._table.row_count:
            candidates = wanted + _DEVIATIONS * math.sqrt(wanted) + 10
            most = min(_PRIME, int(_PRIME * candidates / self._table.row_count))
        spread = f"SELECT n, (n % {_PRIME} + {_PRIME}) * {_FACTOR} % {_PRIME} AS h FROM ({numbers}) AS numbers"
        mixed = f"SELECT n, h * h % {_PRIME} AS h FROM ({spread}) AS spread"
        first = f"SELECT n FROM ({mixed}) AS mixed WHERE h <= {most} ORDER BY h, n LIMIT {wanted}"
        return f"SELECT n FROM ({first}) AS chosen"  # MySQL knows no LIMIT directly within IN

    def _quoted(self, name: str) -> str:
        return quoted(name, self._database.dialect)

    def _execute(self, sql: str, limits: Limits) -> Table:
        return self._database.execute(sql, limits, self._cancellation)
