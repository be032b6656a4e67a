"""Pages of results of any size, sorted and filtered here, not in the browser.

A result is read by its query, and held in a temporary SQLite database that has no name and goes with its connection;
the one that was used longest ago is let go of first.
"""

from __future__ import annotations

import math
import re
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from ...tools.database import Cancellation
from ...tools.database.fetch import Row
from ...tools.database.table import convert_cell
from ...tools.errors import ExportError, ResultTooLarge
from ...tools.export import ExportResult, Format, Target, export_rows
from ...tools.formats import PLAIN, ColumnFormat, find_number_marks, format_rows
from ..audit import AuditedQuery, run_and_audit_query
from ..resources import Resources
from .answer import Answer

R = TypeVar("R")

_SECONDS = 600.0  # a result is read anew after so long
FIRST_ROWS = 25  # rows of an answer that are told with it
_MOST_COLUMNS = 1_900  # SQLite's tables hold 2,000 columns

_LARGEST_INTEGER = 2**63 - 1

_DURATION = re.compile(
    r"(?=.)(?:([+-]?\d{1,9}) years? ?)?(?:([+-]?\d{1,9}) mon(?:th)?s? ?)?(?:([+-]?\d{1,9}) days?,? ?)?"
    r"(?:([+-]?)(\d{1,9}):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?)?",
    re.ASCII,
)
"""A length of time as the databases write it: `1 mon 2 days 03:04:05.6`, `-1 day, 3:04:05`, `124:30:00`."""


@dataclass(frozen=True)
class ResultPage:
    """A page of a query result.

    Attributes:
        columns: The columns' names.
        headings: The same, in words.
        rows: The rows, as JSON values.
        total: Rows that pass the filter.
        truncated: Whether the query has more rows than were read.
        offset: The number of the first one, from 0.
        read_at: When they were read, in Unix seconds.
        texts: The rows as people read them; null for a missing value.
        marks: The marks that the texts have before decimals and between thousands.
    """

    columns: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    total: int
    truncated: bool
    offset: int = 0
    read_at: float = 0.0
    texts: tuple[tuple[str | None, ...], ...] = ()
    marks: tuple[str, str] = (".", ",")

    @property
    def caption(self) -> str:
        """The row numbers of the page in words, such as `rows 1 to 100 of 250`."""
        last = self.offset + len(self.rows)
        return f"rows {self.offset + 1:,} to {last:,} of {self.total:,}{' or more' if self.truncated else ''}"


@dataclass(frozen=True)
class PageRequest:
    """A request for a page: offset, limit, sort order and search text."""

    offset: int = 0
    limit: int = 100
    sort: int | None = None  # the column to sort by, from 0; None for the query's own order
    descending: bool = False  # largest first
    search: str = ""  # only rows with this text in some cell, in any case


def make_first_page(answer: Answer, count: int = FIRST_ROWS) -> ResultPage:
    """Return the first rows of an answer as a page."""
    page = ResultPage(answer.columns, answer.headings, answer.rows[:count], len(answer.rows), answer.truncated)
    return _add_texts(page, answer)


def _add_texts(page: ResultPage, answer: Answer) -> ResultPage:
    """Return a page with its cells formatted for people."""
    # A query that is run again may have other columns.
    formats = answer.formats if page.columns == answer.columns else (PLAIN,) * len(page.columns)
    texts = tuple(format_rows(page.rows, formats))
    _, thousands, decimal, _ = find_number_marks(ColumnFormat("number", locale=answer.labels.locale))
    return replace(page, texts=texts, marks=(decimal, thousands))


class _StoredResult:
    """A query result, stored in a temporary SQLite database."""

    def __init__(self, answer: Answer, most_bytes: int) -> None:
        self.columns: tuple[str, ...] = ()
        self._answer = answer
        self.truncated = False
        self.limit: float = math.inf  # so many rows were read at most
        self.read_at = time.time()
        self.bytes = 0
        self.count = 0
        self._most_bytes = most_bytes
        self._durations: set[int] = set()
        self._lock = threading.Lock()
        self._database = sqlite3.connect("", check_same_thread=False, isolation_level=None)
        self._database.create_function("folded", 1, _fold_case, deterministic=True)
        self._database.create_function("seconds", 1, _parse_duration_seconds, deterministic=True)

    def start(self, columns: tuple[str, ...]) -> None:
        """Create an empty table for a result with these columns."""
        if len(columns) > _MOST_COLUMNS:
            raise ResultTooLarge(f"the result has over {_MOST_COLUMNS:,} columns, too many for pages: export it")
        self.columns, self.bytes, self.count = columns, 0, 0
        self._durations = set(range(len(columns)))
        names = ", ".join(f"c{number}" for number in range(len(columns)))
        self._database.execute("DROP TABLE IF EXISTS rows")
        self._database.execute(f"CREATE TABLE rows ({names})")

    def take(self, rows: Sequence[Row]) -> None:
        """Insert rows into the table; raise `ResultTooLarge` beyond the limit of bytes."""
        self.count += len(rows)
        # A column sorts by length of time only if that is all it holds; one other cell settles it.
        self._durations = {
            n for n in self._durations if all(r[n] is None or _parse_duration_seconds(r[n]) is not None for r in rows)
        }
        marks = ", ".join("?" * len(self.columns))
        with self._lock:
            self._database.execute("BEGIN")
            self._database.executemany(
                f"INSERT INTO rows VALUES ({marks})",
                # An integer that is too large for SQLite becomes text.
                ([str(c) if isinstance(c, int) and abs(c) > _LARGEST_INTEGER else c for c in row] for row in rows),
            )
            self._database.execute("COMMIT")
        (pages,), (size,) = (self._database.execute(f"PRAGMA page_{pragma}").fetchone() for pragma in ("count", "size"))
        self.bytes = pages * size
        if self.bytes > self._most_bytes:
            raise ResultTooLarge(f"the result has more than {self._most_bytes:,} bytes: ask for less, or export it")

    def read_page(self, view: PageRequest) -> ResultPage:
        """Return the requested page of the result."""
        select, where, parameters = self._write_sql(view)
        with self._lock:
            (total,) = self._database.execute(f"SELECT count(*) FROM rows{where}", parameters).fetchone()
            rows = tuple(tuple(map(convert_cell, row)) for row in self._database.execute(select, parameters))
        headings = self._answer.headings
        page = ResultPage(self.columns, headings, rows, total, self.truncated, view.offset, self.read_at)
        return _add_texts(page, self._answer)

    def export(self, view: PageRequest, target: Target, form: Format) -> ExportResult:
        select, _, parameters = self._write_sql(view)
        with self._lock:
            rows = self._database.execute(select, parameters)
            return export_rows(self.columns, rows, target, form, self._answer.formats, self._answer.headings)

    def _write_sql(self, view: PageRequest) -> tuple[str, str, tuple[str, ...]]:
        """Return the SQL for a page request, its WHERE clause, and the parameters of both."""
        if view.sort is not None and not 0 <= view.sort < len(self.columns):
            raise ExportError(f"there is no column {view.sort}: the result has {len(self.columns)} columns, from 0")
        where, parameters, order = "", (), ""
        if view.search:
            text = view.search if view.search.isascii() else _fold_case(view.search)
            pattern = "%" + text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
            # SQLite's own LIKE is the quicker one, but folds ASCII alone.
            cell = "c{}" if view.search.isascii() else "folded(c{})"
            likes = [f"{cell.format(number)} LIKE ?1 ESCAPE '\\'" for number in range(len(self.columns))]
            # SQLite's expressions are at most 1,000 terms deep.
            groups = [" OR ".join(likes[start : start + 100]) for start in range(0, len(likes), 100)]
            where = f" WHERE ({') OR ('.join(groups)})"
            parameters = (pattern,)
        if view.sort is not None:
            key = f"seconds(c{view.sort})" if view.sort in self._durations else f"c{view.sort}"
            order = f"{key} {'DESC' if view.descending else 'ASC'}, "
        sql = f"SELECT * FROM rows{where} ORDER BY {order}rowid LIMIT {view.limit:d} OFFSET {view.offset:d}"
        return sql, where, parameters

    def close(self) -> None:
        """Close the temporary database, which deletes the result."""
        with self._lock, closing(self._database):
            pass


@dataclass(frozen=True)
class PagedAnswer:
    """An answer to page through, with the rights and limits under which its query is rerun."""

    turn: str  # its turn's id
    answer: Answer
    resources: Resources  # of whoever reads
    need: int  # the query is rerun if fewer of its rows than this are stored
    limit: int  # the most rows that a rerun reads
    cancellation: Cancellation | None = None


class PagedResultCache:
    """A cache of query results for paging, limited in bytes."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._results: OrderedDict[tuple[str, str], _StoredResult] = OrderedDict()
        self._lock = threading.Lock()

    def read_page(self, paged: PagedAnswer, view: PageRequest) -> ResultPage:
        """Return a page of an answer's result, under the current person's rights.

        Raises:
            ExportError: There are no rows.
            QueryError: The query cannot be run under these rights or limits.
        """
        return self._with_result(paged, lambda result: result.read_page(view))

    def export(self, paged: PagedAnswer, view: PageRequest, target: Target, form: Format) -> ExportResult:
        """Write the rows of an answer that match a page request to a file or a stream."""
        write, answer = partial(self._with_result, paged, lambda item: item.export(view, target, form)), paged.answer
        if answer.sql is None:
            return write()
        query = AuditedQuery(answer.sql, answer.question, answer.thread)
        return run_and_audit_query(query, "exported", paged.resources, write, lambda export: export.rows)

    def _with_result(self, paged: PagedAnswer, function: Callable[[_StoredResult], R]) -> R:
        """Call a function with the stored result of an answer; read the result first if necessary."""
        key = (paged.turn, paged.resources.database.session.key)
        for _ in range(2):
            result = self._get_stored_result(key, paged.need) or self._store_result(key, self._read_result(paged))
            try:
                return function(result)
            except sqlite3.ProgrammingError:  # another thread closed the result in the meantime
                continue
        raise ExportError("too many results are open: try again in a moment")

    def close(self) -> None:
        """Delete all stored results."""
        with self._lock:
            while self._results:
                self._results.popitem()[1].close()

    def _get_stored_result(self, key: tuple[str, str], need: int) -> _StoredResult | None:
        """Return the stored result, if it is recent and has enough rows."""
        with self._lock:
            result = self._results.get(key)
            if result is None or result.read_at <= time.time() - _SECONDS or result.limit < need:
                return None
            self._results.move_to_end(key)
            return result

    def _store_result(self, key: tuple[str, str], result: _StoredResult) -> _StoredResult:
        """Store a result; delete the oldest results if the cache is too large."""
        with self._lock:
            if (old := self._results.pop(key, None)) is not None:
                old.close()
            self._results[key] = result
            while len(self._results) > 1 and sum(item.bytes for item in self._results.values()) > self._most_bytes:
                self._results.popitem(last=False)[1].close()
        return result

    def _read_result(self, paged: PagedAnswer) -> _StoredResult:
        """Read the rows of an answer into a new result; run the query if rows are missing."""
        answer, resources, limit = paged.answer, paged.resources, paged.limit
        if not answer.answered:
            raise ExportError("there are no rows to show: this turn has no answer")
        result = _StoredResult(answer, self._most_bytes // 2)
        try:
            if answer.sql is None or not (answer.withheld or (answer.truncated and paged.need > len(answer.rows))):
                result.start(answer.columns)
                result.take(answer.rows)
                result.truncated = answer.truncated
                result.limit = len(answer.rows) if answer.sql and answer.truncated else math.inf
            else:
                limits = replace(resources.settings.export_limits, rows=limit, result_bytes=self._most_bytes)
                query = AuditedQuery(answer.sql, answer.question, answer.thread)
                execute = partial(resources.database.execute, answer.sql, limits, paged.cancellation, result)
                outcome = run_and_audit_query(query, "read", resources, execute, lambda _: result.count)
                result.truncated = outcome.truncated
                result.limit = limit if outcome.truncated and result.count >= limit else math.inf
        except BaseException:
            result.close()
            raise
        return result


def _fold_case(cell: Any) -> Any:
    """Return a text in folded case; return other cells unchanged."""
    return cell.casefold() if isinstance(cell, str) else cell


def _parse_duration_seconds(cell: Any) -> float | None:
    """Return the seconds of a duration; None if the cell is not a duration."""
    if not isinstance(cell, str) or (match := _DURATION.fullmatch(cell)) is None:
        return None
    years, months, days, sign, hours, minutes, seconds = match.groups(default="0")
    period = ((int(years) * 12 + int(months)) * 30 + int(days)) * 86_400
    clock = int(hours) * 3_600 + int(minutes) * 60 + float(seconds)
    return period + (-clock if sign == "-" else clock)
