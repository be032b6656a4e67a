"""Running one query on a guarded connection, inside its limits."""

from __future__ import annotations

import sqlite3
import time

from ...errors import QueryFailed, QueryRejected, QueryTimeout
from ..cancellation import Cancellation
from ..fetch import Fetched, Sink, fetch
from ..quoting import quoted
from ..table import Cell, Limits, Table
from ..watchdog import WATCHDOG, RunningQuery
from .bounded_work import value_limit
from .connection import NOT_UTF8, SQLITE_ERRORS, QueryConnection, lenient_text
from .failures import failure
from .tokens import words

_CANCELLED = "the query was cancelled"


def run_query(
    connection: QueryConnection, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None
) -> Table:
    """See `Database.execute`."""
    confinement = connection.confinement
    if confinement:
        confinement.refuse(sql)
    # The guard cannot refuse it, for full-text tables ask for it on the same connection.
    if "data_version" in sql and "pragma" in words(sql):
        raise QueryRejected("this connection only reads, but the statement uses PRAGMA data_version: write a SELECT")
    if cancellation is not None and cancellation.cancelled:
        raise QueryTimeout(_CANCELLED)
    start = time.monotonic()
    longest = value_limit(sql, limits.cell_bytes, connection.catalogue.full_text)
    sqlite = connection.sqlite
    sqlite.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    connection.guard.refusal = None
    query = RunningQuery(sqlite, start + limits.seconds, cancellation)
    WATCHDOG.watch(query)
    try:
        connection.begin()
        try:
            columns, result = _fetched(sqlite, sql, limits, sink)
        except sqlite3.OperationalError as error:
            if not str(error).startswith(NOT_UTF8):
                raise
            with lenient_text(sqlite):
                columns, result = _fetched(sqlite, sql, limits, sink)
    except (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError) as error:
        connection.failed(error)
        if query.stopped == "cancelled":
            raise QueryTimeout(_CANCELLED) from None
        if query.stopped:
            raise QueryTimeout(
                f"the query ran longer than {limits.seconds:g} s: join on keys, filter earlier, or ask for less"
            ) from None
        failed = failure(error, sql, connection.guard.refusal, longest)
        raise (confinement.conceal(failed) if confinement else failed) from None
    finally:
        WATCHDOG.release(query)
        connection.end()
    return Table(columns, result.types, result.rows, result.truncated, time.monotonic() - start)


def _fetched(
    sqlite: sqlite3.Connection, sql: str, limits: Limits, sink: Sink | None
) -> tuple[tuple[str, ...], Fetched]:
    cursor = sqlite.execute(sql)
    try:
        if cursor.description is None:
            raise QueryFailed("the text holds no query: write a SELECT", "syntax")
        result = fetch(cursor, limits, sink)
        return tuple([entry[0] for entry in cursor.description]), result
    finally:
        cursor.close()


def distinct_values(
    connection: QueryConnection, table: str, column: str, limit: int, seconds: float, cell_bytes: int
) -> tuple[Cell, ...]:
    """See `Database.distinct_values`; the names are the declared ones.

    Raises:
        QueryFailed: SQLite cannot read the column.
        ResultTooLarge: Its values need more memory than they may.
    """
    sqlite, name = connection.sqlite, quoted(column)
    sql = f"SELECT DISTINCT {name} FROM {quoted(table)} WHERE {name} IS NOT NULL LIMIT {int(limit)}"
    sqlite.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, cell_bytes)
    connection.guard.refusal = None
    values: list[Cell] = []
    query = RunningQuery(sqlite, time.monotonic() + seconds)
    WATCHDOG.watch(query)
    try:
        with lenient_text(sqlite):
            for (value,) in sqlite.execute(sql):
                values.append(value)
    except (*SQLITE_ERRORS, MemoryError) as error:
        connection.failed(error)
        # Out of time, or a value too long to be of use: what was read until then will do.
        if not query.stopped and "too big" not in str(error):
            raise failure(error, sql, connection.guard.refusal, cell_bytes) from None
    finally:
        WATCHDOG.release(query)
    return tuple(values)
