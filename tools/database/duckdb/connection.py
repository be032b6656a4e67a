"""Connections to a locked instance, each used by one thread at a time."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

import duckdb

from ...errors import QueryRejected, QueryTimeout, TableturnError
from ..estimate import Estimate
from ..profile import ConnectionLost
from ..server.catalogue import Catalogue
from ..server.cells import cell
from ..server.connection import BoundedRows, ServerConnection
from ..table import Cell, Limits
from ..watchdog import WATCHDOG, RunningQuery
from .grammar import failure
from .instance import Instance


class DuckDBConnection(ServerConnection):
    """A connection to an instance, which ends what runs too long by itself."""

    errors = (duckdb.Error, MemoryError)

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

    def read_version(self) -> str:
        return duckdb.__version__

    def begin(self, seconds: float) -> None:
        # A connection to what the files held before is given up.
        if not self._is_current(self.instance):
            raise ConnectionLost("the files have changed")
        self._seconds = seconds
        self._connection.execute("BEGIN TRANSACTION READ ONLY")

    def end(self) -> None:
        self._stop_timer()
        with contextlib.suppress(duckdb.Error):
            self._connection.rollback()

    def query(self, sql: str, limits: Limits) -> BoundedRows:
        # DuckDB's own parser has to call it one SELECT, whatever the check before it did.
        statement = _single(sql)
        self._start_timer()
        self._connection.execute(statement)
        return BoundedRows(self._connection, [entry[0] for entry in self._connection.description or ()], limits)

    def rows(self, sql: str) -> list[tuple[Cell, ...]]:
        self._start_timer()
        try:
            self._connection.execute(sql)
            return [tuple([cell(value) for value in row]) for row in self._connection.fetchall()]
        finally:
            self._stop_timer()

    def compile(self, sql: str) -> None:
        _single(sql)
        self._start_timer()
        self._connection.execute(f"EXPLAIN {sql}")

    def estimate(self, sql: str, catalogue: Catalogue) -> Estimate | None:
        _single(sql)
        ((_, told),) = self.rows(f"EXPLAIN (FORMAT JSON) {sql}")
        return estimate(str(told), catalogue)

    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        # Where a file's later rows don't fit the types of its first ones, it is read anew.
        if _misfits(error) and self._reread():
            return ConnectionLost("the types of a file's columns have to be found again")
        failed = failure(error, self.instance.private)
        if isinstance(failed, QueryTimeout):
            return QueryTimeout(f"the query ran longer than {self._seconds:g} s: filter earlier, or ask for less")
        return failed

    def interrupt(self) -> None:
        self._connection.interrupt()

    def close(self) -> None:
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


_CARDINALITY = "Estimated Cardinality"


def estimate(told: str, catalogue: Catalogue) -> Estimate | None:
    """What a statement will cost; None where the plan does not say how many rows a step gives."""
    sizes = {f"{each.schema}.{each.name}".lower(): each.estimate or 0 for each in catalogue.relations}
    try:
        return Estimate(round(sum(_cost(step, sizes)[0] for step in json.loads(told))))
    except LookupError:
        return None


def _cost(step: Mapping[str, Any], sizes: Mapping[str, int]) -> tuple[float, float]:
    """Rows that a step and those below it read and join, and rows that it gives."""
    below = [_cost(child, sizes) for child in step["children"]]
    read, told = sum(cost for cost, _ in below), step["extra_info"]
    if not below:
        if "Table" not in told and "Function" not in told:
            return 0.0, float(told.get(_CARDINALITY, 1))
        given = float(told[_CARDINALITY])
        whole = sizes.get(".".join(str(told.get("Table", "")).lower().split(".")[-2:]), 0)
        return max(given, float(whole)), given
    joins = len(below) > 1 and "UNION" not in step["name"]
    # A cross product says nothing of its own.
    pairs = prod(rows for _, rows in below)
    given = float(told.get(_CARDINALITY, pairs if joins else max(rows for _, rows in below)))
    compared = pairs if "NESTED_LOOP" in step["name"] or "NL_JOIN" in step["name"] else given
    return read + (compared if joins else 0.0), given
