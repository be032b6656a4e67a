"""The boundary: SQLite's authorizer with allow-lists of actions, functions and tables.

SQLite asks the authorizer, while it compiles a statement, about everything that the statement would do. What is not on
a list is refused; so is what a future SQLite may ask about.
"""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from .functions import ALLOWED_FUNCTIONS, TABLE_FUNCTIONS
from .visibility import Visibility

_CATALOGUE = frozenset({"sqlite_master", "sqlite_schema", "sqlite_sequence", "sqlite_stat1"})
_TEMPORARY = frozenset({"sqlite_temp_master", "sqlite_temp_schema"})
# What full-text tables ask for on their own connection to see whether another one wrote.
_ALLOWED_PRAGMA = "data_version"
# What is asked about where a table's rows are counted or numbered.
_NO_COLUMN = ("", "rowid")

_DOES = {
    getattr(sqlite3, name, None): what
    for name, what in {
        "SQLITE_INSERT": "inserts into",
        "SQLITE_UPDATE": "updates",
        "SQLITE_DELETE": "deletes from",
        "SQLITE_ATTACH": "attaches another file",
        "SQLITE_DETACH": "detaches a database",
        "SQLITE_PRAGMA": "uses PRAGMA",
        "SQLITE_TRANSACTION": "controls transactions:",
        "SQLITE_SAVEPOINT": "controls transactions:",
        "SQLITE_ANALYZE": "runs ANALYZE",
        "SQLITE_REINDEX": "runs REINDEX",
        "SQLITE_ALTER_TABLE": "alters a table",
        "SQLITE_CREATE_VTABLE": "creates a virtual table",
        "SQLITE_DROP_VTABLE": "drops a virtual table",
    }.items()
}


@dataclass(frozen=True)
class Refusal:
    """What the authorizer refused first.

    Attributes:
        what: `table`, `column`, `row` (the row number), `function` or `action`.
        name: The table, the function, or what the statement would do, in words.
        column: For a column, its name.
    """

    what: str
    name: str
    column: str = ""


class Guard:
    """The authorizer of one connection, and its memory of what it refused in the current statement.

    Attributes:
        refusal: What it refused first.
        open: Whether the statement is one of ours, about which nothing is asked.
    """

    def __init__(self, visibility: Visibility) -> None:
        self.refusal: Refusal | None = None
        self.open = False
        self._restricted = visibility.restricted
        catalogue = frozenset[str]() if visibility.restricted else _CATALOGUE
        self._tables = visibility.tables | (TABLE_FUNCTIONS - visibility.hidden_tables) | catalogue
        self._hidden_tables = visibility.hidden_tables | (_CATALOGUE - catalogue) | _TEMPORARY
        self._hidden_columns = visibility.hidden_columns
        self._columns = visibility.columns

    def __call__(
        self, action: int, first: str | None, second: str | None, database: str | None, _source: str | None
    ) -> int:
        """SQLite's question whether the statement may do `action`."""
        if self.open:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_READ:
            return self._read(first or "", second or "", database)
        if action == sqlite3.SQLITE_FUNCTION:
            if (second or "").lower() in ALLOWED_FUNCTIONS:
                return sqlite3.SQLITE_OK
            return self._refuse(Refusal("function", second or ""))
        if action in (sqlite3.SQLITE_SELECT, sqlite3.SQLITE_RECURSIVE):
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_PRAGMA and first == _ALLOWED_PRAGMA and second is None:
            return sqlite3.SQLITE_OK
        does = _DOES.get(action, "changes the database's structure:")
        return self._refuse(Refusal("action", f"{does} {first or ''}".strip()))

    def _read(self, table: str, column: str, database: str | None) -> int:
        name = table.lower()
        # Where something is hidden, a query meets temporary views (see `confined`), whose rows have no numbers.
        if name in self._tables and (database != "temp" or self._restricted):
            if self._shows(name, column.lower()) and not (database == "temp" and column == "ROWID"):
                return sqlite3.SQLITE_OK
            # The row number has several names, and SQLite gives one of them, which may not be in the statement.
            return self._refuse(Refusal("row" if column == "ROWID" else "column", table, column))
        # Counting the rows of a common table expression looks like this; no table's content can be read so.
        if not column and database is None and name not in self._hidden_tables:
            return sqlite3.SQLITE_OK
        # What is in no list of tables is a table function, of pragmas or of SQLite's inner state.
        return self._refuse(Refusal("table" if name in self._hidden_tables else "function", table))

    def _shows(self, table: str, column: str) -> bool:
        """Whether a column of a visible table may be read; one that was added since is not known to be."""
        if table in self._hidden_columns and column in self._hidden_columns[table]:
            return False
        return table not in self._columns or column in self._columns[table] or column in _NO_COLUMN

    def _refuse(self, refusal: Refusal) -> int:
        if self.refusal is None:
            self.refusal = refusal
        return sqlite3.SQLITE_DENY
