"""Connections to a snapshot, each used by one thread at a time: its workers run what they are given."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod
from typing import Any

from ...errors import TableturnError
from ..estimate import Estimate
from ..fetch import RowCursor, Sink
from ..profile import ConnectionLost
from ..server.catalogue import Catalogue
from ..server.connection import ServerConnection
from ..table import Cell, Limits, Table
from ..watchdog import Cancellation
from .grammar import EXPLAIN, EXPLAIN_JSON
from .snapshot import Snapshot

# Of statements of our own: samples, counts and plans.
_OWN = Limits(rows=100_000, cell_bytes=20_000_000, result_bytes=200_000_000)


class DuckDBConnection(ServerConnection):
    """A connection to a snapshot."""

    errors = (TableturnError,)

    def __init__(self, snapshot: Snapshot, is_current: Callable[[Snapshot], bool], reread: Callable[[], bool]) -> None:
        """Use `DuckDBBackend.connect`.

        Args:
            snapshot: What it is a connection to.
            is_current: Whether the snapshot still shows what is in the files.
            reread: Has the types in files found by all rows from now on; False where they were already.
        """
        self._snapshot = snapshot
        self._is_current = is_current
        self._reread = reread
        self._own = _OWN
        self._running = Cancellation()

    def read_version(self) -> str:
        return self._snapshot.about.version

    def begin(self, seconds: float) -> None:
        # A connection to what the files held before is given up.
        if not self._is_current(self._snapshot):
            raise ConnectionLost("the files have changed")
        self._own = replace(_OWN, seconds=seconds)
        self._running = Cancellation()

    def end(self) -> None:
        pass

    def table(self, sql: str, limits: Limits, sink: Sink | None = None) -> Table:
        """The result of a statement."""
        return self._snapshot.queries.execute(sql, limits, self._running, sink)

    def query(self, sql: str, limits: Limits) -> RowCursor:
        table = self.table(sql, limits)
        return RowCursor(table.columns, iter(table.rows))

    def rows(self, sql: str) -> list[tuple[Cell, ...]]:
        return list(self.table(sql, self._own).rows)

    def compile(self, sql: str) -> None:
        self.rows(EXPLAIN + sql)

    def estimate(self, sql: str, catalogue: Catalogue) -> Estimate | None:
        ((_, told),) = self.rows(EXPLAIN_JSON + sql)
        return estimate(str(told), catalogue)

    def failure(self, error: Exception) -> TableturnError | ConnectionLost:
        # Where a file's later rows don't fit the types of its first ones, it is read anew.
        if _misfits(error) and self._reread():
            return ConnectionLost("the types of a file's columns have to be found again")
        assert isinstance(error, TableturnError)
        return error

    def interrupt(self) -> None:
        self._running.cancel()

    def close(self) -> None:
        pass


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
