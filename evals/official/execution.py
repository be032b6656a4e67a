"""Execution accuracy (EX) and test-suite accuracy (TS) as the official evaluator judges them.

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
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TypeAlias

from ...tools.database.quoting import quoted
from ...tools.errors import DatabaseUnavailable, QueryFailed
from ...tools.results.columns import Work, columns_match
from ..closing import Closing
from .parsing import Names, declared_keys

MANIFEST = "suite.json"
"""What `suite build` leaves in the folder of a suite: which files there are its own."""

Rows: TypeAlias = "list[tuple[int | float | str | bytes | None, ...]]"

# A name or string in quotes is one lexeme, so that the word within it stays, as it does in sqlparse.
_LEXEME = re.compile(
    r"""--[^\n]*|/\*.*?\*/|'(?:''|\\'|[^'])*'|"(?:""|\\"|[^"])*"|`[^`]*`|;|\bdistinct\b""", re.IGNORECASE | re.DOTALL
)
_THIS_YEAR = re.compile(r"YEAR\s*\(\s*CURDATE\s*\(\s*\)\s*\)\s*", re.IGNORECASE)
_NOT_UTF8 = "Could not decode to UTF-8"
_WRITES = ("attempt to write a readonly database", "not authorized")
_DECLARED_KEYS = """
    SELECT "from", "table", coalesce("to", (SELECT name FROM pragma_table_info("table") WHERE pk = seq + 1))
    FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq
"""
"""Columns, the tables that they refer to and the columns there: where none is named, the primary key's."""

_KEPT_GOLDS = 64
_KEPT_OPEN = 32
_STEPS_BETWEEN_CHECKS = 20_000


def without_distinct(sql: str) -> str:
    """The first statement of a text with every DISTINCT struck out."""
    parts: list[str] = []
    end = 0
    for found in _LEXEME.finditer(sql):
        lexeme = found.group()
        if lexeme == ";":
            return "".join(parts) + sql[end : found.end()]
        if lexeme.lower() == "distinct":
            parts.append(sql[end : found.start()])
            end = found.end()
    return "".join(parts) + sql[end:]


def whole_operators(sql: str) -> str:
    """CoSQL's gold writes `> =`; SQLite reads `>=`."""
    for split, whole in (("> =", ">="), ("< =", "<="), ("! =", "!=")):
        sql = sql.replace(split, whole)
    return sql


def _prepared(sql: str) -> str:
    return without_distinct(whole_operators(sql))


@dataclass(frozen=True)
class Execution:
    """What came of running a prediction beside the gold.

    Attributes:
        same: Whether the results are the same on every database.
        error: Why the prediction does not run; empty where it does.
    """

    same: bool
    error: str = ""


def execute_both(predicted: str, gold: str, database: str, databases: OfficialDatabases) -> Execution:
    """Runs two queries on every database of a schema and compares their results.

    Args:
        predicted: As the system gave it.
        gold: The annotated query.
        database: The schema's name.
        databases: Where to run.

    Raises:
        QueryFailed: The gold does not run.
        DatabaseUnavailable: There is no such database.
    """
    prediction = _prepared(predicted.replace("value", "1"))
    reference = _prepared(gold)
    found = Execution(True) if predicted.strip() else Execution(False, "no prediction")
    for file in databases.files(database):
        # Once the prediction is wrong, the gold alone: whether it runs must not hang on what it is compared with.
        expected = databases.gold_rows(file, reference)
        if found.same and prediction != reference:
            found = _beside(expected, file, prediction, reference, databases)
    return found


def _beside(expected: Rows, file: Path, prediction: str, reference: str, databases: OfficialDatabases) -> Execution:
    """One database's outcome."""
    try:
        got = databases.rows(file, prediction, at_most=len(expected) + 1)
    except (sqlite3.Error, ValueError, OverflowError) as error:
        return Execution(False, str(error))
    return Execution(same_rows(expected, got, ordered="order by" in reference.lower()))


def same_rows(gold: Rows, predicted: Rows, *, ordered: bool) -> bool:
    """Whether some order of the predicted columns makes the rows equal: as lists, or as multisets.

    Values compare as Python's do (1 equals 1.0); but first the rows must agree with their values sorted by text and
    type, which can separate 1 from 1.0.
    """
    if not gold and not predicted:
        return True
    if len(gold) != len(predicted) or len(gold[0]) != len(predicted[0]):
        return False
    # Most right predictions give identical rows; their text distinguishes 1 from 1.0, which the sorting below may not.
    if gold == predicted and repr(gold) == repr(predicted):
        return True
    if len(gold[0]) > 1:
        left, right = [list(map(_sorted_row, rows)) for rows in (gold, predicted)]
        if (left != right) if ordered else (set(left) != set(right)):
            return False
    return some_column_order(gold, predicted, ordered=ordered)


def _sorted_row(row: tuple[object, ...]) -> tuple[object, ...]:
    return tuple(sorted(row, key=lambda value: str(value) + str(type(value))))


def suite_files(main: Path, name: str) -> list[Path]:
    """The databases of a schema: where it has a folder of its name, every `.sqlite` file there (a test suite).

    Args:
        main: The schema's first database.
        name: The schema's name; for a file of one's own, whose folder may hold others, only a manifest tells.
    """
    folder = main.parent
    if folder.name != name and not (folder.name == main.stem and (folder / MANIFEST).is_file()):
        return [main]
    return sorted(path for path in main.parent.iterdir() if ".sqlite" in path.name and path.is_file())


class OfficialDatabases(Closing):
    """Databases, opened read-only and closed on exit.

    Args:
        locate: Gives a database's file by its name, or raises DatabaseUnavailable.
        seconds: A query's time limit. The official one, of 60 seconds, never fires; a run must end all the same.
    """

    def __init__(self, locate: Callable[[str], Path], seconds: float = 60.0) -> None:
        self._locate = locate
        self._seconds = seconds
        self._deadline = float("inf")
        self._open: OrderedDict[Path, sqlite3.Connection] = OrderedDict()
        self._kept_rows = lru_cache(_KEPT_GOLDS)(self.rows)
        self._names: dict[str, Names] = {}
        self._files: dict[str, list[Path]] = {}

    def files(self, database: str) -> list[Path]:
        """The databases of a schema (`suite_files`).

        Raises:
            DatabaseUnavailable: There is none.
        """
        if database not in self._files:
            self._files[database] = suite_files(self._locate(database), database)
        return self._files[database]

    def names(self, database: str) -> Names:
        """Tables' and columns' names, from the database that is called like its folder."""
        if database not in self._names:
            connection = self._connection(self._locate(database))
            connection.text_factory = lenient_text
            try:
                connection.execute("SELECT 1 FROM sqlite_master").close()
            except sqlite3.Error as error:
                raise DatabaseUnavailable(f"{self._locate(database)} cannot be used: {error}") from error
            tables = [str(row[0]) for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            columns = "SELECT name FROM pragma_table_info(?)"
            found = {
                name.lower(): tuple(str(row[0]).lower() for row in connection.execute(columns, (name,)))
                for name in tables
            }
            connection.text_factory = str
            self._names[database] = Names(found)
        return self._names[database]

    def foreign_keys(self, database: str) -> dict[str, str]:
        """The column that each foreign-key column stands for, by the keys that the database itself declares.

        Raises:
            DatabaseUnavailable: There is no such database, or it cannot be used.
        """
        names = self.names(database)
        connection = self._connection(self._locate(database))
        pairs = [
            (f"{table}.{own}".lower(), f"{parent}.{other}".lower())
            for table in names.columns
            for own, parent, other in connection.execute(_DECLARED_KEYS, (table,))
        ]
        return declared_keys(names, pairs)

    def gold_rows(self, file: Path, sql: str) -> Rows:
        """All rows of a gold query; the last few golds' rows are kept.

        Raises:
            QueryFailed: It does not run.
        """
        try:
            return self._kept_rows(file, sql)
        except (sqlite3.Error, ValueError, OverflowError) as error:
            raise QueryFailed(f"the gold query does not run on {file.name}: {error}: {sql}") from error

    def rows(self, file: Path, sql: str, at_most: int | None = None) -> Rows:
        """Rows of one statement, `at_most` that many; none for a statement that would write.

        Raises:
            sqlite3.Error: It does not run, or not in time.
        """
        connection = self._connection(file)
        self._deadline = time.monotonic() + self._seconds
        try:
            cursor = connection.execute(_THIS_YEAR.sub("2020", sql))
            return cursor.fetchall() if at_most is None else cursor.fetchmany(at_most)
        except sqlite3.Warning as error:
            # Python 3.11's name for more than one statement.
            raise sqlite3.ProgrammingError(str(error)) from error
        except sqlite3.Error as error:
            if any(reason in str(error) for reason in _WRITES):
                return []
            if _NOT_UTF8 in str(error) and connection.text_factory is str:
                connection.text_factory = lenient_text
                return self.rows(file, sql, at_most)
            raise
        finally:
            if connection.in_transaction:
                connection.rollback()

    def _connection(self, file: Path) -> sqlite3.Connection:
        """A few stay open, enough for a schema's suite: questions come database by database."""
        if file in self._open:
            self._open.move_to_end(file)
            return self._open[file]
        connection = open_read_only(file)
        connection.set_authorizer(_no_other_files)
        connection.set_progress_handler(lambda: time.monotonic() > self._deadline, _STEPS_BETWEEN_CHECKS)
        self._open[file] = connection
        if len(self._open) > _KEPT_OPEN:
            self._open.popitem(last=False)[1].close()
        return connection

    def close(self) -> None:
        """Closes what is open."""
        for connection in self._open.values():
            connection.close()
        self._open.clear()


def _no_other_files(action: int, *_: object) -> int:
    return sqlite3.SQLITE_DENY if action in (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH) else sqlite3.SQLITE_OK


def some_column_order(
    left: Sequence[tuple[Hashable, ...]], right: Sequence[tuple[Hashable, ...]], *, ordered: bool
) -> bool:
    """Whether permuting the columns of `right` gives `left`, as a list of rows or, if not `ordered`, as a multiset.

    Args:
        left: At least one row.
        right: As many rows, as wide as those of `left`.
        ordered: Whether the order of rows counts.
    """
    labels: dict[Hashable, int] = {}
    ours, theirs = (
        [tuple(labels.setdefault(cell, len(labels)) for cell in column) for column in zip(*rows, strict=True)]
        for rows in (left, right)
    )
    groups = tuple(range(len(left))) if ordered else (0,) * len(left)
    return columns_match(ours, theirs, groups, Work(sys.maxsize))


_MAGIC = b"SQLite format 3\0"


def is_sqlite(place: str | Path) -> bool:
    """Whether a place is an SQLite file, or a file that holds nothing yet, rather than another engine's database."""
    if isinstance(place, str):
        return False
    with place.open("rb") as file:
        return file.read(len(_MAGIC)) in (_MAGIC, b"")


def open_read_only(path: Path) -> sqlite3.Connection:
    """A connection that cannot write to the file, for any thread; text that is not UTF-8 is an error as it comes."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)


def sqlite_tables(connection: sqlite3.Connection, schema: str = "main") -> list[str]:
    """Return the names of a database's tables, in the order in which they were made."""
    named = f"SELECT name FROM {schema}.sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid"
    return [str(row[0]) for row in connection.execute(named)]


def holds_rows(connection: sqlite3.Connection, table: str) -> bool:
    """Return whether a table has a row."""
    return connection.execute(f"SELECT 1 FROM {quoted(table)} LIMIT 1").fetchone() is not None


def lenient_text(text: bytes) -> str:
    """A text factory for databases with text that is not UTF-8: what cannot be read is left out."""
    return text.decode(errors="ignore")
