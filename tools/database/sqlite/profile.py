"""What the columns of a table hold: counts, sample values, distinct values, within a bound on work and size.

Work is counted in steps of SQLite's virtual machine and in bytes that are read, never in seconds: what is found of a
database is the same however busy the machine is, and so is the prompt that shows it.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ..codes import Rows, few_rows
from ..fetch import size_of
from ..profiling import observed
from ..quoting import quoted
from ..schema import ColumnSchema, TableSchema
from ..table import Cell
from ..watchdog import WATCHDOG, RunningQuery
from .connection import SQLITE_ERRORS

_ROWS = 1_000
_ROWS_A_FETCH = 250
_BYTES = 4_000_000
_CUT = 1_000
_LONGEST = 100_000_000
# One table must not use up what the others are to have: a few tenths of a second, and a few seconds for all.
_STEPS_A_QUERY = 4_000_000
_STEPS = 60_000_000
_STEPS_AT_ONCE = 1_000
# About as long as a step takes to read.
_BYTES_A_STEP = 100
# Of a smaller file, SQLite counts rows page by page, which takes no steps at all.
_COUNTED_PAGEWISE = 500_000_000
# For what hangs in a single step; no other query runs into it, on whatever machine.
_SECONDS = 120.0


@dataclass
class Profiler:
    """Profiles table after table until its work is done; later tables then have samples, but no counts.

    Attributes:
        connection: Guarded, so that nothing hidden can show in a sample, and reading text leniently.
        unread: Whether nothing of a (table, column) may be looked at.
        sorts: Whether samples are sorted: the order in which values were met can be that of what is not looked at.
        rows: Those of tables that have few, by the table's name.
    """

    connection: sqlite3.Connection
    file_bytes: int
    unread: Callable[[str, str], bool]
    sorts: bool
    rows: dict[str, Rows] = field(default_factory=dict[str, Rows])
    _left: int = _STEPS
    _deadline: float = field(default_factory=lambda: time.monotonic() + _SECONDS)

    def profile(self, table: TableSchema) -> TableSchema:
        """Return a table with what those of its columns hold that may be read."""
        name = quoted(table.name)
        columns = [column for column in table.columns if not self.unread(table.name, column.name)]
        if not columns:
            self.connection.execute(f"SELECT 1 FROM {name} LIMIT 0")
            return replace(table, row_count=self._row_count(name))
        names = [column.name for column in columns]
        rows, complete = self._rows(name, names)
        row_count = len(rows) if complete else self._row_count(name)
        if complete:
            self.rows[table.name] = few_rows(names, rows)
        reading = (row_count or 0) * size_of(rows) // max(len(rows), 1) // _BYTES_A_STEP
        held = tuple(zip(*rows[:_ROWS], strict=True)) or ((),) * len(columns)
        seen: dict[str, ColumnSchema] = {}
        for column, values in zip(columns, held, strict=True):
            # What is declared here says little: values tell more of a kind.
            found = observed(replace(column, kind="other"), values, complete=complete)
            if self.sorts:
                ordered = sorted(found.samples, key=lambda cell: (type(cell).__name__, cell))
                found = replace(found, samples=tuple(ordered))
            if not complete and row_count is not None:
                count = self._number(f"SELECT count(DISTINCT {quoted(column.name)}) FROM {name}", reading)
                found = replace(found, distinct=count)
            seen[column.name] = found
        return replace(
            table, columns=tuple(seen.get(column.name, column) for column in table.columns), row_count=row_count
        )

    def uniqueness(self, table: str, column: str) -> tuple[int, int] | None:
        """Return how many first rows a table has, and how many values of a column are in them."""
        if self.unread(table, column):
            return None
        part = f"(SELECT {quoted(column)} AS v FROM {quoted(table)} LIMIT {_ROWS})"
        return self._first_row(f"SELECT count(*), count(DISTINCT v) FROM {part}")

    def includes(self, table: str, column: str, ref_table: str, ref_column: str) -> bool:
        """Whether values of a column, as far as looked at, all stand in another one; False if there are none."""
        if self.unread(table, column) or self.unread(ref_table, ref_column):
            return False
        name, ref_name = quoted(column), quoted(ref_column)
        # IN makes an index of what has none, once.
        sql = (
            f"SELECT count(*) > 0 AND sum(v IN (SELECT {ref_name} FROM {quoted(ref_table)})) = count(*)"
            f" FROM (SELECT DISTINCT {name} AS v FROM (SELECT {name} FROM {quoted(table)} LIMIT {_ROWS})"
            f" WHERE {name} IS NOT NULL)"
        )
        return bool(self._number(sql))

    def _rows(self, table: str, columns: Sequence[str]) -> tuple[list[tuple[Cell, ...]], bool]:
        """Return the first rows within the bounds, and whether these are all."""
        names = list(map(quoted, columns))
        try:
            return self._fetched(table, names)
        except sqlite3.DataError:
            # Values too long to be taken whole.
            before = self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
            cut = "CASE WHEN typeof({0}) IN ('text', 'blob') THEN substr({0}, 1, {1}) ELSE {0} END"
            try:
                return self._fetched(table, [cut.format(name, _CUT) for name in names])[0], False
            finally:
                self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)

    def _fetched(self, table: str, columns: Sequence[str]) -> tuple[list[tuple[Cell, ...]], bool]:
        rows: list[tuple[Cell, ...]] = []
        size = 0
        with self._within(_STEPS_A_QUERY) as work:  # samples are to be had of the last table too
            try:
                cursor = self.connection.execute(f"SELECT {', '.join(columns)} FROM {table} LIMIT {_ROWS + 1}")
                while size < _BYTES:
                    part: list[tuple[Cell, ...]] = cursor.fetchmany(_ROWS_A_FETCH)
                    rows += part
                    if len(part) < _ROWS_A_FETCH:
                        return rows, len(rows) <= _ROWS
                    size += size_of(part)
                cursor.close()
            except SQLITE_ERRORS:
                # Too much work: what was read until then will do.
                if not work.stopped:
                    raise
        return rows, False

    def _row_count(self, table: str) -> int | None:
        rows = table if self.file_bytes <= _COUNTED_PAGEWISE else f"(SELECT 1 FROM {table} LIMIT -1)"
        return self._number(f"SELECT count(*) FROM {rows}")

    def _number(self, sql: str, reading: int = 0) -> int | None:
        row = self._first_row(sql, reading)
        return row and row[0]

    def _first_row(self, sql: str, reading: int = 0) -> Any:
        """Return the first row that a query gives; None if that is too much work."""
        if reading > min(_STEPS_A_QUERY, self._left):
            return None
        self._left -= reading
        with self._within(min(_STEPS_A_QUERY, self._left)) as work, suppress(*SQLITE_ERRORS):
            try:
                return self.connection.execute(sql).fetchone()
            finally:
                self._left -= work.done
        return None

    @contextmanager
    def _within(self, most: int) -> Generator[_Work]:
        """Stop a query that takes more steps than that."""
        work = _Work(most)
        with WATCHDOG.watching(RunningQuery(self.connection, self._deadline)):
            self.connection.set_progress_handler(work.add, _STEPS_AT_ONCE)
            try:
                yield work
            finally:
                self.connection.set_progress_handler(None, _STEPS_AT_ONCE)


@dataclass
class _Work:
    """Steps of one query, which is stopped once there are more than `most`."""

    most: int
    done: int = 0
    stopped: bool = False

    def add(self) -> bool:
        self.done += _STEPS_AT_ONCE
        self.stopped = self.done > self.most
        return self.stopped  # to SQLite, true means to stop
