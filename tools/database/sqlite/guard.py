"""The boundary: SQLite's authorizer, with allow-lists of actions, functions and tables.

SQLite asks the authorizer, while it compiles a statement, about everything that the statement would do. What is not on
a list is refused; so is what a future SQLite may ask about.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

from ...errors import QueryError, QueryFailed, QueryRejected, ResultTooLarge, TableLocked
from .bounded_work import LIKE_PATTERN_LENGTH, STATEMENT_LENGTH
from .functions import PROFILE, TABLE_FUNCTIONS
from .tokens import split_words
from .visibility import Visibility

_CATALOGUE = frozenset({"sqlite_master", "sqlite_schema", "sqlite_sequence", "sqlite_stat1"})
_TEMPORARY = frozenset({"sqlite_temp_master", "sqlite_temp_schema"})
# What full-text tables ask for on their own connection to see whether another one wrote.
_ALLOWED_PRAGMA = "data_version"
# What is asked about where a table's rows are counted or numbered.
_NO_COLUMN = ("", "rowid")

_DOES = {getattr(sqlite3, f"SQLITE_{name}", None): what for name, what in PROFILE.actions.items()}


# Limits on a statement's text and program. All are far above what a person or a model writes for a question, and low
# enough that compiling stays within a second; SQLite's own defaults are meant for trusted statements.
_QUERY_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 * STATEMENT_LENGTH,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 200,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 500_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: LIKE_PATTERN_LENGTH,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}


@dataclass(frozen=True)
class RefusedAction:
    """An action that the authorizer refused; the kind `row` stands for a row's number."""

    kind: Literal["table", "column", "row", "function", "action"]
    name: str  # of the table or function, or what the statement would do, in words
    column: str = ""


class QueryAuthorizer:
    """The SQLite authorizer of a connection; `refusal` is a statement's first refused action."""

    def __init__(self, visibility: Visibility, connection: sqlite3.Connection) -> None:
        """Check every later statement of a connection, and limit its work."""
        self.refusal: RefusedAction | None = None
        self._open = False
        self._restricted = visibility.restricted
        catalogue = frozenset[str]() if visibility.restricted else _CATALOGUE
        self._tables = visibility.tables | (TABLE_FUNCTIONS - visibility.hidden_tables) | catalogue
        self._hidden_tables = visibility.hidden_tables | (_CATALOGUE - catalogue) | _TEMPORARY
        self._hidden_columns = visibility.hidden_columns
        self._columns = visibility.columns
        connection.set_authorizer(self)
        for limit, value in _QUERY_LIMITS.items():
            connection.setlimit(limit, value)

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, _source: str | None
    ) -> int:
        """Answer SQLite whether the statement may do `action`."""
        if self._open:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            return self._authorize_column_read(first or "", second or "", database)
        if action == sqlite3.SQLITE_FUNCTION:
            if (second or "").lower() in PROFILE.functions:
                return sqlite3.SQLITE_OK
            return self._refuse_action(RefusedAction("function", second or ""))
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_PRAGMA and first == _ALLOWED_PRAGMA and second is None:
            return sqlite3.SQLITE_OK
        does = _DOES.get(action, "changes the database's structure:")
        return self._refuse_action(RefusedAction("action", f"{does} {first or ''}".strip()))

    @contextmanager
    def open(self) -> Generator[None]:
        """Allow all actions while a block runs, for tableturn's own statements."""
        self._open = True
        try:
            yield
        finally:
            self._open = False

    def _authorize_column_read(self, table: str, column: str, database: str | None) -> int:
        name = table.lower()
        # Where something is hidden, a query meets temporary views (see `confined`), whose rows have no numbers.
        if name in self._tables and (database != "temp" or self._restricted):
            key = column.lower()
            # A column that was added since is not known to be visible.
            is_known = name not in self._columns or key in self._columns[name] or key in _NO_COLUMN
            shows = is_known and key not in self._hidden_columns.get(name, ())
            if shows and not (database == "temp" and column == "ROWID"):
                return sqlite3.SQLITE_OK
            # The row number has several names, and SQLite gives one of them, which may not be in the statement.
            return self._refuse_action(RefusedAction("row" if column == "ROWID" else "column", table, column))
        # Counting the rows of a common table expression looks like this; no table's content can be read so.
        if not column and database is None and name not in self._hidden_tables:
            return sqlite3.SQLITE_OK
        # What is in no list of tables is a table function, of pragmas or of SQLite's inner state.
        return self._refuse_action(RefusedAction("table" if name in self._hidden_tables else "function", table))

    def _refuse_action(self, refusal: RefusedAction) -> int:
        if self.refusal is None:
            self.refusal = refusal
        return sqlite3.SQLITE_DENY


_LONGEST = 300
# What SQLite says where a temporary file could not be opened or written.
_DISK_ERRORS = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_CANTOPEN)
_LOCK_ERRORS = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PRIMARY = 0xFF
# What SQLite up to 3.40 asks about when a table function is first used; it checks real updates before it asks.
_DECLARES = "updates sqlite_master"
_WRITES = re.compile(r"may not be (modified|dropped|altered|indexed)|^cannot modify|readonly database")

# SQLite takes none of these for a name without quotes.
_WRITING_WORDS = frozenset(("alter", "create", "delete", "drop", "insert", "update"))


def make_error(error: Exception, sql: str, refusal: RefusedAction | None, longest: int) -> QueryError:
    """Return the typed error for an error of SQLite or of Python's sqlite3 module."""
    text = " ".join(str(error).split())
    message = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    code: int = getattr(error, "sqlite_errorcode", 0)
    if refusal is not None:
        return _make_refusal_error(refusal, sql)
    if code & _PRIMARY in _LOCK_ERRORS:
        return TableLocked("the database is locked by another program: try again later")
    if "one statement at a time" in message:
        return QueryRejected("only one statement may be run at a time: send a single SELECT")
    kind = PROFILE.find_error_kind(text) or "other"
    writing_word = next((word for word in split_words(sql) if word in _WRITING_WORDS), "")
    if writing_word and (kind == "unknown_table" or _WRITES.search(message)):
        return QueryRejected(f"this connection only reads, but the statement is {writing_word.upper()}: write a SELECT")
    if _WRITES.search(message):
        return QueryRejected(f"this connection only reads: {message}")
    if isinstance(error, MemoryError):
        return ResultTooLarge("the query needs more memory than it may use: ask for less, or aggregate")
    if "number of bindings" in message:
        return QueryFailed("the query has placeholders (? or :name): write the values themselves", "syntax")
    if "null character" in message:
        return QueryFailed("the query contains a NUL character", "syntax")
    if isinstance(error, UnicodeDecodeError):
        return QueryFailed("the database holds a name that is not valid text: its file may be damaged")
    if isinstance(error, UnicodeEncodeError):
        return QueryFailed("the query is not valid Unicode text", "syntax")
    if code in _DISK_ERRORS:
        return ResultTooLarge("the query needs more temporary disk space than it may use: ask for less, or aggregate")
    if kind == "too_large":
        return ResultTooLarge(f"{message}; the limit is {longest:,} bytes" if "blob" in message else message)
    return QueryFailed(message or type(error).__name__, kind)


def _make_refusal_error(refusal: RefusedAction, sql: str) -> QueryError:
    """Return the error for a refused action; hidden names appear not to exist."""
    if refusal.kind == "function":
        return QueryRejected(f"the function {refusal.name}() is not allowed here")
    if refusal.kind == "action" and refusal.name == _DECLARES:
        return QueryRejected("the statement uses a table function or a virtual table that is not allowed here")
    if refusal.kind == "action":
        return QueryRejected(f"this connection only reads, but the statement {refusal.name}: write a SELECT")
    if refusal.kind == "table":
        return QueryFailed(f"no such table: {refusal.name}", "unknown_table")
    if refusal.kind == "row":
        return QueryFailed("no such column: rowid", "unknown_column")
    if re.search(rf"(?<!\w){re.escape(refusal.column)}(?!\w)", sql, re.IGNORECASE):
        return QueryFailed(f"no such column: {refusal.column}", "unknown_column")
    return QueryRejected(f"not every column of {refusal.name} may be read: name the columns instead of *")
