"""Execution accuracy (EX) and test-suite accuracy (TS) as the official evaluator has them.

Its faults, kept: DISTINCT is struck out of both queries; any `order by` in the gold turns row order on, a subquery's
too; floats compare exactly; the word `value` in a prediction becomes `1`; of several statements the first counts; a
statement that writes counts as an empty result. Changed, as no outcome depends on it: databases are opened read-only,
gold results are kept, no more rows are fetched than tell, and column orders are searched rather than enumerated.
"""

from __future__ import annotations

import re
import sqlite3
import sys
import time
from collections.abc import Callable, Hashable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import NamedTuple, TypeAlias

from ...tools.errors import DatabaseUnavailable, QueryFailed
from ...tools.results import WorkLimit, can_match_columns
from ..datasets.load import ClosingContext, join_operators
from .exact_match import SchemaNames, group_foreign_keys

Rows: TypeAlias = "list[tuple[int | float | str | bytes | None, ...]]"

# A name or string in quotes is one lexeme, so that the word within it stays, as it does in sqlparse.
_LEXEME = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:''|\\'|[^'])*'|"(?:""|\\"|[^"])*"|`[^`]*`|;|\bdistinct\b""", re.IGNORECASE | re.DOTALL
)
_THIS_YEAR = re.compile(r"YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*", re.IGNORECASE)
# Columns, the tables that they refer to and the columns there: the primary key's if none is named.
_DECLARED_KEYS = """
    SELECT "from", "table", coalesce("to", (SELECT name FROM pragma_table_info("table") WHERE pk = seq + 1))
    FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq
"""

_MAX_CONNECTIONS = 32


def drop_distinct(sql: str) -> str:
    """Return the first statement of a text without any DISTINCT."""
    end = next((match.end() for match in _LEXEME.finditer(sql) if match.group() == ";"), len(sql))
    return _LEXEME.sub(lambda match: "" if match.group().lower() == "distinct" else match.group(), sql[:end])


class ExecutionOutcome(NamedTuple):
    """The outcome of a prediction on every database, or why it does not run."""

    same: bool
    error: str = ""


def execute_and_compare(answer: str, gold: str, database: str, databases: OfficialDatabases) -> ExecutionOutcome:
    """Run two queries on every database of a schema and compare their results."""
    prediction, reference = (drop_distinct(join_operators(sql)) for sql in (answer.replace("value", "1"), gold))
    outcome = ExecutionOutcome(True) if answer.strip() else ExecutionOutcome(False, "no prediction")
    for file in list_suite_files(databases.locate(database), database):
        # Once the prediction is wrong, the gold alone: whether it runs must not hang on what it is compared with.
        gold_rows = databases.fetch_gold_rows(file, reference)
        if outcome.same and prediction != reference:
            try:
                rows = databases.fetch_rows(file, prediction, limit=len(gold_rows) + 1)
            except (sqlite3.Error, ValueError, OverflowError) as error:
                outcome = ExecutionOutcome(False, str(error))
            else:
                outcome = ExecutionOutcome(have_same_rows(gold_rows, rows, ordered="order by" in reference.lower()))
    return outcome


def have_same_rows(gold: Rows, prediction: Rows, *, ordered: bool) -> bool:
    """Whether two results have equal rows in some order of the predicted columns.

    Values compare as Python's do (1 equals 1.0); but first the rows must agree with their values sorted by text and
    type, which can separate 1 from 1.0.
    """
    if not gold and not prediction:
        return True
    if len(gold) != len(prediction) or len(gold[0]) != len(prediction[0]):
        return False
    # Most right predictions give identical rows; their text distinguishes 1 from 1.0, which the sorting below may not.
    if gold == prediction and repr(gold) == repr(prediction):
        return True
    if len(gold[0]) > 1:
        left, right = (
            [tuple(sorted(row, key=lambda value: str(value) + str(type(value)))) for row in rows]
            for rows in (gold, prediction)
        )
        if (left != right) if ordered else (set(left) != set(right)):
            return False
    return is_column_permutation(gold, prediction, ordered=ordered)


def is_column_permutation(
    left: Sequence[tuple[Hashable, ...]], right: Sequence[tuple[Hashable, ...]], *, ordered: bool
) -> bool:
    """Whether permuting the columns of `right` gives `left`; row order counts if `ordered`.

    Both have the same number of rows, at least one, and of columns.
    """
    labels: dict[Hashable, int] = {}
    left_columns, right_columns = (
        [tuple(labels.setdefault(cell, len(labels)) for cell in column) for column in zip(*rows, strict=True)]
        for rows in (left, right)
    )
    groups = tuple(range(len(left))) if ordered else (0,) * len(left)
    return can_match_columns(left_columns, right_columns, groups, WorkLimit(sys.maxsize))


def list_suite_files(main: Path, name: str) -> list[Path]:
    """Return a schema's databases: `main` alone, or every `.sqlite` file of its test suite."""
    folder = main.parent
    if folder.name != name:
        return [main]
    return sorted(path for path in folder.iterdir() if ".sqlite" in path.name and path.is_file())


class OfficialDatabases(ClosingContext):
    """Databases by name, opened read-only and closed on exit.

    The official time limit of a query, 60 seconds, never fires; a run must end all the same.
    """

    def __init__(self, locate: Callable[[str], Path], seconds: float = 60.0) -> None:
        self.locate = locate
        self._seconds = seconds
        self._deadline = float("inf")
        self._connections: dict[Path, sqlite3.Connection] = {}
        self._cached_rows = lru_cache(64)(self.fetch_rows)
        self.names = cache(self._read_schema_names)

    def _read_schema_names(self, database: str) -> SchemaNames:
        """Return the table and column names of a schema's main database."""
        connection = self._get_open_connection(self.locate(database))
        connection.text_factory = decode_ignoring_errors
        try:
            tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        except sqlite3.Error as error:
            raise DatabaseUnavailable(f"{self.locate(database)} cannot be used: {error}") from error
        columns_by_table: dict[str, tuple[str, ...]] = {}
        for (name,) in tables:
            columns = connection.execute("SELECT name FROM pragma_table_info(?)", (name,))
            columns_by_table[name.lower()] = tuple(str(column).lower() for (column,) in columns)
        connection.text_factory = str
        return SchemaNames(columns_by_table)

    def read_foreign_keys(self, database: str) -> dict[str, str]:
        """Return the declared foreign keys of a database, as a map of columns."""
        names = self.names(database).columns
        connection = self._get_open_connection(self.locate(database))
        ids = [f"{table}.{column}" for table, columns in names.items() for column in columns]
        positions = {name: number for number, name in enumerate(ids)}
        pairs = [
            (positions.get(f"{table}.{start}".lower()), positions.get(f"{parent}.{end}".lower()))
            for table in names
            for start, parent, end in connection.execute(_DECLARED_KEYS, (table,))
        ]
        return group_foreign_keys(ids, [(start, end) for start, end in pairs if start is not None and end is not None])

    def fetch_gold_rows(self, file: Path, sql: str) -> Rows:
        """Return all rows of a gold query; the rows of recent gold queries are cached."""
        try:
            return self._cached_rows(file, sql)
        except (sqlite3.Error, ValueError, OverflowError) as error:
            raise QueryFailed(f"the gold query does not run on {file.name}: {error}: {sql}") from error

    def fetch_rows(self, file: Path, sql: str, limit: int | None = None) -> Rows:
        """Run one statement; return at most `limit` rows, or [] if the statement would write."""
        connection = self._get_open_connection(file)
        self._deadline = time.monotonic() + self._seconds
        try:
            cursor = connection.execute(_THIS_YEAR.sub("2020", sql))
            return cursor.fetchall() if limit is None else cursor.fetchmany(limit)
        except sqlite3.Warning as error:
            # Python 3.11's name for more than one statement.
            raise sqlite3.ProgrammingError(str(error)) from error
        except sqlite3.Error as error:
            if any(reason in str(error) for reason in ("attempt to write a readonly database", "not authorized")):
                return []
            if "Could not decode to UTF-8" in str(error) and connection.text_factory is str:
                connection.text_factory = decode_ignoring_errors
                return self.fetch_rows(file, sql, limit)
            raise
        finally:
            if connection.in_transaction:
                connection.rollback()

    def _get_open_connection(self, file: Path) -> sqlite3.Connection:
        if file not in self._connections:
            # Enough for a schema's suite stay open: questions come database by database.
            if len(self._connections) == _MAX_CONNECTIONS:
                self.close()
            connection = open_database_read_only(file)
            connection.set_authorizer(_deny_attach_statements)
            connection.set_progress_handler(lambda: time.monotonic() > self._deadline, 20_000)
            self._connections[file] = connection
        return self._connections[file]

    def close(self) -> None:
        """Close all open databases."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()


def _deny_attach_statements(action: int, *_: object) -> int:
    return sqlite3.SQLITE_DENY if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH) else sqlite3.SQLITE_OK


def open_database_read_only(path: Path) -> sqlite3.Connection:
    """Open a SQLite file read-only for any thread; text that is not UTF-8 raises an error."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)


def decode_ignoring_errors(text: bytes) -> str:
    """Decode a database's text as UTF-8, without the bytes that are not UTF-8."""
    return text.decode(errors="ignore")
