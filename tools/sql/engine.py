"""Whether SQLite would accept a query, asked of SQLite itself without the data.

A parser that reads many dialects lets pass what SQLite refuses. So the tables that a query reads are declared, empty
and in memory, and the query is prepared there (EXPLAIN: compiled, never run) behind the same guard as on the database.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable

from ..database.failures import failure
from ..database.guard import Guard
from ..database.schema import TableSchema
from ..database.table import Limits
from ..database.visibility import Visibility
from ..errors import QueryError

_PLAIN_TYPE = re.compile(r"[A-Za-z][A-Za-z ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?\Z")


def refusal(sql: str, tables: Iterable[TableSchema]) -> QueryError | None:
    """Why SQLite refuses to compile a query; None if it accepts.

    Args:
        sql: As it would be sent to the database.
        tables: All tables that it may read; none of them virtual.
    """
    declared = list(tables)
    guard = Guard(Visibility(frozenset(table.name.lower() for table in declared), frozenset(), {}))
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for table in declared:
            connection.execute(_declaration(table))
        if "json_" in sql.lower():  # table functions come into being on first use, which the guard would refuse
            connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')").close()
        connection.set_authorizer(guard)
        connection.execute(f"EXPLAIN {sql}").close()
    except (sqlite3.Error, sqlite3.Warning, UnicodeError, ValueError) as error:
        return failure(error, sql, guard.refusal, Limits().cell_bytes)
    finally:
        connection.close()
    return None


def _declaration(table: TableSchema) -> str:
    columns = (
        f"{_quoted(column.name)} {column.type if _PLAIN_TYPE.match(column.type) else ''}" for column in table.columns
    )
    return f"CREATE TABLE {_quoted(table.name)} ({', '.join(columns)})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
