"""What the columns of a table hold: counts, sample values, distinct values, within a bound on time and size."""

from __future__ import annotations

import sqlite3
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from ..fetch import size_of
from ..quoting import quoted
from ..table import Cell
from ..watchdog import WATCHDOG, RunningQuery
from .connection import NOT_UTF8, SQLITE_ERRORS, lenient_text

_ROWS = 1_000
_ROWS_A_FETCH = 250
_BYTES = 4_000_000
_SAMPLES = 8
_CUT = 1_000
_LONGEST = 100_000_000
# One table must not use up the time of all the others.
_SECONDS_A_QUERY = 0.25


@dataclass(frozen=True)
class ColumnProfile:
    """What was seen of one column.

    Attributes:
        samples: Distinct non-null values, most frequent first.
        distinct: Number of distinct non-null values in the whole table, if known.
        nulls: Whether a NULL was seen.
    """

    samples: tuple[Cell, ...] = ()
    distinct: int | None = None
    nulls: bool | None = None


@dataclass(frozen=True)
class TableProfile:
    """What was seen of one table.

    Attributes:
        columns: By name; of others nothing was seen.
        row_count: None where counting took too long.
    """

    columns: Mapping[str, ColumnProfile]
    row_count: int | None = None


@dataclass
class Profiler:
    """Profiles table after table until its time is used up; later tables then have no counts and no samples.

    Attributes:
        connection: A guarded connection, so that nothing hidden can show in a sample.
        seconds: For all tables together.
    """

    connection: sqlite3.Connection
    seconds: float
    _deadline: float = field(init=False)

    def __post_init__(self) -> None:
        self._deadline = time.monotonic() + self.seconds

    def profile(self, table: str, columns: Sequence[str]) -> TableProfile:
        """The profile of one table, no other columns of which are read.

        Raises:
            sqlite3.Error: The table cannot be read at all.
        """
        if not columns:
            self.connection.execute(f"SELECT 1 FROM {quoted(table)} LIMIT 0")
            return TableProfile({}, self._number(f"SELECT count(*) FROM {quoted(table)}"))
        rows, complete = self._rows(table, columns)
        row_count = len(rows) if complete else self._number(f"SELECT count(*) FROM {quoted(table)}")
        held = tuple(zip(*rows[:_ROWS], strict=True)) or ((),) * len(columns)
        profiles = [self._column(values, complete) for values in held]
        if not complete and row_count is not None:
            profiles = [
                ColumnProfile(profile.samples, self._distinct(table, column), profile.nulls)
                for column, profile in zip(columns, profiles, strict=True)
            ]
        return TableProfile(dict(zip(columns, profiles, strict=True)), row_count)

    def includes(self, table: str, column: str, ref_table: str, ref_column: str) -> bool:
        """Whether values of a column, as far as looked at, all stand in another one; False where there are none."""
        name, ref_name = quoted(column), quoted(ref_column)
        sql = (
            f"SELECT count(*) > 0 AND sum(EXISTS (SELECT 1 FROM {quoted(ref_table)} WHERE {ref_name} = v)) = count(*)"
            f" FROM (SELECT DISTINCT {name} AS v FROM (SELECT {name} FROM {quoted(table)} LIMIT {_ROWS})"
            f" WHERE {name} IS NOT NULL)"
        )
        return bool(self._number(sql))

    def _column(self, values: Sequence[Cell], complete: bool) -> ColumnProfile:
        counts = Counter(values)
        nulls = counts.pop(None, 0) > 0
        if len(counts) == len(values):
            most = tuple(islice(counts, _SAMPLES))
        else:
            most = tuple([value for value, _ in counts.most_common(_SAMPLES)])
        return ColumnProfile(most, len(counts) if complete else None, nulls)

    def _rows(self, table: str, columns: Sequence[str]) -> tuple[list[tuple[Cell, ...]], bool]:
        """The first rows within the bounds, and whether these are all."""
        sql = f"SELECT {', '.join(map(quoted, columns))} FROM {quoted(table)} LIMIT {_ROWS + 1}"
        try:
            return self._fetched(sql)
        except sqlite3.OperationalError as error:
            if not str(error).startswith(NOT_UTF8):
                raise
            with lenient_text(self.connection):
                return self._fetched(sql)
        except sqlite3.DataError:
            return self._shortened(table, columns)

    def _shortened(self, table: str, columns: Sequence[str]) -> tuple[list[tuple[Cell, ...]], bool]:
        """As `_rows`, for a table with values too long to be taken whole."""
        listed = ", ".join(
            f"CASE WHEN typeof({name}) IN ('text', 'blob') THEN substr({name}, 1, {_CUT}) ELSE {name} END"
            for name in map(quoted, columns)
        )
        before = self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
        try:
            with lenient_text(self.connection):
                rows, _ = self._fetched(f"SELECT {listed} FROM {quoted(table)} LIMIT {_ROWS + 1}")
        finally:
            self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)
        return rows, False

    def _fetched(self, sql: str) -> tuple[list[tuple[Cell, ...]], bool]:
        rows: list[tuple[Cell, ...]] = []
        size = 0
        query = self._watch()
        try:
            cursor = self.connection.execute(sql)
            while size < _BYTES:
                part: list[tuple[Cell, ...]] = cursor.fetchmany(_ROWS_A_FETCH)
                rows += part
                if len(part) < _ROWS_A_FETCH:
                    return rows, len(rows) <= _ROWS
                size += size_of(part)
            cursor.close()
        except SQLITE_ERRORS:
            # Out of time: what was read until then will do.
            if not query.stopped:
                raise
        finally:
            WATCHDOG.release(query)
        return rows, False

    def _distinct(self, table: str, column: str) -> int | None:
        return self._number(f"SELECT count(DISTINCT {quoted(column)}) FROM {quoted(table)}")

    def _number(self, sql: str) -> int | None:
        """The single number that a query gives; None if there was no time for it."""
        if time.monotonic() > self._deadline:
            return None
        query = self._watch()
        try:
            return self.connection.execute(sql).fetchone()[0]
        except SQLITE_ERRORS:
            return None
        finally:
            WATCHDOG.release(query)

    def _watch(self) -> RunningQuery:
        now = time.monotonic()
        query = RunningQuery(self.connection, min(max(self._deadline, now), now + _SECONDS_A_QUERY))
        WATCHDOG.watch(query)
        return query
