"""Connections to a locked instance, each used by one thread at a time."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import duckdb

from ...errors import QueryRejected, QueryTimeout, ResultTooLarge, TableturnError
from ..estimate import Estimate
from ..server.catalogue import Catalogue
from ..server.connection import ConnectionLost
from ..table import Cell, Limits
from ..watchdog import WATCHDOG, RunningQuery
from .cells import cell
from .failures import failure
from .instance import Instance
from .plan import estimate


class Rows:
    """A cursor that gives cells, none of them longer than it may be."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, limits: Limits) -> None:
        self._connection = connection
        self._longest = limits.cell_bytes
        self.description = connection.description

    def fetchmany(self, size: int, /) -> list[tuple[Cell, ...]]:
        """See `Cursor`."""
        rows = [tuple([cell(value) for value in row]) for row in self._connection.fetchmany(size)]
        for row in rows:
            for value in row:
                if isinstance(value, str | bytes) and len(value) > self._longest:
                    raise ResultTooLarge(f"a value has more than {self._longest:,} bytes: select less of it")
        return rows


class DuckDBConnection:
    """See `ServerConnection`."""

    errors: tuple[type[Exception], ...] = (duckdb.Error, MemoryError)
    version = duckdb.__version__
    usable = True

    def __init__(self, instance: Instance, is_current: Callable[[Instance], bool], reread: Callable[[], bool]) -> None:
        """Use `DuckDBBackend.connect`.

        Args:
            instance: What it is a connection to.
            is_current: Whether the instance still shows what is in the files.
            reread: Has the types in files found by all rows from now on; False where they were already.
        """
        self.instance = instance
        self._connection = instance.connect()
        self._is_current = is_current
        self._reread = reread
        self._seconds = 0.0
        self._timer: RunningQuery | None = None

    def begin(self, seconds: float) -> None:
        """See `ServerConnection`: a connection to what the files held before is given up."""
        if not self._is_current(self.instance):
            raise ConnectionLost("the files have changed")
        self._seconds = seconds
        self._connection.execute("BEGIN TRANSACTION READ ONLY")

    def end(self) -> None:
        """See `ServerConnection`."""
        self._stop_timer()
        with contextlib.suppress(duckdb.Error):
            self._connection.rollback()

    def query(self, sql: str, limits: Limits) -> Rows:
        """See `ServerConnection`: DuckDB's own parser has to call it one SELECT, whatever the check before it did."""
        statement = _single(sql)
        self._start_timer()
        self._connection.execute(statement)
        return Rows(self._connection, limits)

    def notes(self) -> tuple[str, ...]:
        """See `ServerConnection`: there are none."""
        return ()

    def rows(self, sql: str) -> list[tuple[Cell, ...]]:
        """See `ServerConnection`."""
        self._start_timer()
        try:
            self._connection.execute(sql)
            return [tuple([cell(value) for value in row]) for row in self._connection.fetchall()]
        finally:
            self._stop_timer()

    def compile(self, sql: str) -> None:
        """See `ServerConnection`."""
        _single(sql)
        self._start_timer()
        self._connection.execute(f"EXPLAIN {sql}")

    def estimate(self, sql: str, catalogue: Catalogue) -> Estimate | None:
        """See `ServerConnection`."""
        _single(sql)
        ((_, told),) = self.rows(f"EXPLAIN (FORMAT JSON) {sql}")
        return estimate(str(told), catalogue)

    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        """See `ServerConnection`: where a file's later rows don't fit the types of its first ones, it is read anew."""
        if _misfits(error) and self._reread():
            return ConnectionLost("the types of a file's columns have to be found again")
        failed = failure(error, self.instance.private)
        if isinstance(failed, QueryTimeout):
            return QueryTimeout(f"the query ran longer than {self._seconds:g} s: filter earlier, or ask for less")
        return failed

    def interrupt(self) -> None:
        """See `ServerConnection`."""
        self._connection.interrupt()

    def close(self) -> None:
        """See `ServerConnection`."""
        self._stop_timer()
        with contextlib.suppress(duckdb.Error):
            self._connection.close()

    def _start_timer(self) -> None:
        self._stop_timer()
        self._timer = RunningQuery(self, time.monotonic() + self._seconds)
        WATCHDOG.watch(self._timer)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            WATCHDOG.release(self._timer)
            self._timer = None


def _single(sql: str) -> Any:
    statements = duckdb.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise QueryRejected("this connection only reads: send a single SELECT")
    return statements[0]


def _misfits(error: Exception) -> bool:
    """Whether a value in a file is not of the type that its column was found to have."""
    text = str(error)
    return "CSV Error" in text or "JSON transform error" in text or "Failed to parse" in text


__all__ = ["DuckDBConnection", "Rows"]
