"""Results of any size, a page at a time: sorted and filtered here, not in the browser.

A result is read once, by its query, and held in a temporary SQLite database that has no name and goes with its
connection; the one that was used longest ago is let go of first.
"""

from __future__ import annotations

import re
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..agent import Answer
from ..agent.answers.queries import Query, written_down
from ..tools.database.table import plain_cell
from ..tools.errors import ExportError, ResultTooLarge

if TYPE_CHECKING:
    from ..agent import SQLAgent
    from ..tools.database import Cancellation
    from ..tools.database.fetch import Row
    from .config import Limits

_SECONDS = 600.0
"""A result is read anew after so long."""

_MOST_COLUMNS = 1_900
"""SQLite's tables hold 2,000 columns."""

_LARGEST_INTEGER = 2**63 - 1

_DURATION = re.compile(
    r"(?=.)(?:([+-]?\d{1,9}) years? ?)?(?:([+-]?\d{1,9}) mon(?:th)?s? ?)?(?:([+-]?\d{1,9}) days?,? ?)?"
    r"(?:([+-]?)(\d{1,9}):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?)?",
    re.ASCII,
)
"""A length of time as the databases write it: `1 mon 2 days 03:04:05.6`, `-1 day, 3:04:05`, `124:30:00`."""


@dataclass(frozen=True)
class Page:
    """A part of a result.

    Attributes:
        columns: The columns' names.
        rows: The rows, as JSON values.
        total: Rows that pass the filter.
        truncated: Whether the query has more rows than were read.
        read_at: When they were read, in Unix seconds.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int
    truncated: bool
    read_at: float


@dataclass(frozen=True)
class View:
    """Which part.

    Attributes:
        offset: Rows to leave out first.
        limit: Rows to give at most.
        sort: The column to sort by, from 0; None for the query's own order.
        descending: Largest first.
        search: Only rows in which some cell has this text, in any case.
    """

    offset: int = 0
    limit: int = 100
    sort: int | None = None
    descending: bool = False
    search: str = ""


class _Held:
    """One result, in a database of its own; a `Sink` while it is read."""

    def __init__(self, most_bytes: int) -> None:
        self.columns: tuple[str, ...] = ()
        self.truncated = False
        self.read_at = time.time()
        self.bytes = 0
        self.count = 0
        self._most_bytes = most_bytes
        self._durations: set[int] = set()
        self._lock = threading.Lock()
        self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._database.create_function("folded", 1, _folded, deterministic=True)
        self._database.create_function("seconds", 1, _seconds, deterministic=True)

    def start(self, columns: tuple[str, ...]) -> None:
        """See `Sink`."""
        if len(columns) > _MOST_COLUMNS:
            raise ResultTooLarge(f"the result has {len(columns):,} columns: {_MOST_COLUMNS:,} can be shown in pages")
        self.columns, self.bytes, self.count = columns, 0, 0
        self._durations = set(range(len(columns)))
        names = ", ".join(f"c{number}" for number in range(len(columns)))
        self._database.execute("DROP TABLE IF EXISTS rows")
        self._database.execute(f"CREATE TABLE rows ({names})")

    def take(self, rows: Sequence[Row]) -> None:
        """See `Sink`."""
        self.count += len(rows)
        # A column sorts by length of time only if that is all it holds; one other cell settles it.
        self._durations = {n for n in self._durations if all(r[n] is None or _seconds(r[n]) is not None for r in rows)}
        marks = ", ".join("?" * len(self.columns))
        with self._lock:
            self._database.execute("BEGIN")
            self._database.executemany(f"INSERT INTO rows VALUES ({marks})", [tuple(map(_cell, row)) for row in rows])
            self._database.execute("COMMIT")
        (pages,), (size,) = (self._database.execute(f"PRAGMA page_{what}").fetchone() for what in ("count", "size"))
        self.bytes = pages * size
        if self.bytes > self._most_bytes:
            raise ResultTooLarge(f"the result has more than {self._most_bytes:,} bytes: ask for less, or export it")

    def page(self, view: View) -> Page:
        if view.sort is not None and not 0 <= view.sort < len(self.columns):
            raise ExportError(f"there is no column {view.sort}: the result has {len(self.columns)}, from 0")
        found, given = "", ()
        if view.search:
            wanted = view.search if view.search.isascii() else _folded(view.search)
            pattern = "%" + wanted.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            # SQLite's own LIKE is the quicker one, but folds ASCII alone.
            cell = "c{}" if view.search.isascii() else "folded(c{})"
            likes = [f"{cell.format(number)} LIKE ?1 ESCAPE '\\'" for number in range(len(self.columns))]
            # SQLite's expressions are at most 1,000 terms deep.
            groups = [" OR ".join(likes[start : start + 100]) for start in range(0, len(likes), 100)]
            found = f" WHERE ({') OR ('.join(groups)})"
            given = (pattern,)
        order = ""
        if view.sort is not None:
            key = f"seconds(c{view.sort})" if view.sort in self._durations else f"c{view.sort}"
            order = f"{key} {'DESC' if view.descending else 'ASC'}, "
        sql = f"SELECT * FROM rows{found} ORDER BY {order}rowid LIMIT {view.limit:d} OFFSET {view.offset:d}"
        with self._lock:
            (total,) = self._database.execute(f"SELECT count(*) FROM rows{found}", given).fetchone()
            rows = tuple(tuple(map(plain_cell, row)) for row in self._database.execute(sql, given))
        return Page(self.columns, rows, total, self.truncated, self.read_at)

    def close(self) -> None:
        with self._lock, closing(self._database):
            pass


class Rows:
    """Results that are looked through, in a bounded space.

    Args:
        limits: How large that is.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held: OrderedDict[tuple[str, str], _Held] = OrderedDict()
        self._lock = threading.Lock()

    def page(
        self, turn: str, answer: Answer, agent: SQLAgent, view: View, cancellation: Cancellation | None = None
    ) -> Page:
        """A part of an answer's result, under the rights of whoever asks now.

        Raises:
            ExportError: There are no rows.
            QueryError: The query cannot be run under these rights or limits.
        """
        key = (turn, agent.resources.database.session.key)

        def read() -> _Held:
            return self._read(answer, agent, cancellation)

        try:
            return self._get(key, read).page(view)
        except sqlite3.ProgrammingError:  # it was let go of in the meantime
            return self._get(key, read).page(view)

    def close(self) -> None:
        """Lets go of all."""
        with self._lock:
            while self._held:
                self._held.popitem()[1].close()

    def _get(self, key: tuple[str, str], read: Callable[[], _Held]) -> _Held:
        with self._lock:
            held = self._held.get(key)
            if held is not None and held.read_at > time.time() - _SECONDS:
                self._held.move_to_end(key)
                return held
        held = read()
        with self._lock:
            if (old := self._held.pop(key, None)) is not None:
                old.close()
            self._held[key] = held
            while len(self._held) > 1 and sum(each.bytes for each in self._held.values()) > self._limits.result_bytes:
                self._held.popitem(last=False)[1].close()
        return held

    def _read(self, answer: Answer, agent: SQLAgent, cancellation: Cancellation | None) -> _Held:
        if not answer.answered:
            raise ExportError("there is no answer whose rows could be shown")
        held = _Held(self._limits.result_bytes // 2)
        try:
            if answer.sql is None or not (answer.truncated or answer.withheld):
                held.start(answer.columns)
                held.take(answer.rows)
                held.truncated = answer.truncated
            else:
                limits = replace(agent.settings.export_limits, rows=self._limits.result_rows)
                limits = replace(limits, result_bytes=self._limits.result_bytes)
                query = Query(answer.sql, answer.question, answer.thread)
                execute = partial(agent.resources.database.execute, answer.sql, limits, cancellation, held)
                read = written_down(query, "read", agent.resources, execute, lambda _: held.count)
                held.truncated = read.truncated
        except BaseException:
            held.close()
            raise
        return held


def _folded(cell: Any) -> Any:
    return cell.casefold() if isinstance(cell, str) else cell


def _seconds(cell: Any) -> float | None:
    """How long a duration is, with months of 30 days as PostgreSQL compares them; None for any other cell."""
    if not isinstance(cell, str) or (found := _DURATION.fullmatch(cell)) is None:
        return None
    years, months, days, sign, hours, minutes, seconds = found.groups(default="")
    whole = ((int(years or 0) * 12 + int(months or 0)) * 30 + int(days or 0)) * 86_400
    clock = int(hours or 0) * 3_600 + int(minutes or 0) * 60 + float(seconds or 0)
    return whole + (-clock if sign == "-" else clock)


def _cell(cell: Any) -> Any:
    """A cell as SQLite can hold and sort it."""
    if isinstance(cell, bool) or not isinstance(cell, int) or abs(cell) <= _LARGEST_INTEGER:
        return cell
    return str(cell)
