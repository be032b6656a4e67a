"""Whether SQLite would accept a query, asked of SQLite itself without the data.

A parser that reads many dialects lets pass what SQLite refuses. So the tables that a query reads are declared, empty
and in memory, and the query is prepared there (EXPLAIN: compiled, never run) behind an authorizer that allows nothing
but reading.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from ..database.functions import ALLOWED_FUNCTIONS
from ..database.schema import TableSchema

_PLAIN_TYPE = re.compile(r"[A-Za-z][A-Za-z ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?\Z")
_ALLOWED = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})


def refusal(sql: str, tables: Iterable[TableSchema]) -> str | None:
    """SQLite's message if it refuses to compile a query; None if it accepts.

    Args:
        sql: As it would be sent to the database.
        tables: All tables that it may read; none of them virtual.
    """
    connection = sqlite3.connect(":memory:", isolation_level=None)
    denied: list[str] = []
    try:
        for table in tables:
            connection.execute(_declaration(table))
        connection.set_authorizer(_authorizer(denied))
        connection.execute(f"EXPLAIN {sql}").close()
    except (sqlite3.Error, sqlite3.Warning, UnicodeError, ValueError) as error:
        return denied[0] if denied else str(error)
    finally:
        connection.close()
    return None


def _authorizer(denied: list[str]):
    def authorize(
        action: int, first: str | None, second: str | None, _database: str | None, _source: str | None
    ) -> int:
        if action not in _ALLOWED:
            denied.append("not authorized: only reading is allowed")
            return sqlite3.SQLITE_DENY
        if action == sqlite3.SQLITE_FUNCTION and second and second.lower() not in ALLOWED_FUNCTIONS:
            denied.append(f"not authorized to use function: {second.lower()}")
            return sqlite3.SQLITE_DENY
        return sqlite3.SQLITE_OK

    return authorize


def _declaration(table: TableSchema) -> str:
    columns = (
        f"{_quoted(column.name)} {column.type if _PLAIN_TYPE.match(column.type) else ''}" for column in table.columns
    )
    return f"CREATE TABLE {_quoted(table.name)} ({', '.join(columns)})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
