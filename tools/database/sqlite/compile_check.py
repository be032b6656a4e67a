"""The check of whether SQLite can compile a query, by SQLite itself, without the data.

A parser that reads many dialects lets pass what SQLite refuses. So the tables that a query reads are declared, empty
and in memory, and the query is prepared there (EXPLAIN: compiled, never run) behind the same guard, and inside the same
limits, as on the database. What would still take long to compile is not tried, for that can't be interrupted.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable

from ...errors import QueryError
from ..engine import QueryTooComplex
from ..quoting import quote
from ..schema import TableSchema
from ..table import Limits
from .bounded_work import compute_value_limit, count_word_with_ctes_expanded
from .functions import declare_table_functions
from .guard import QueryAuthorizer, make_error
from .tokens import split_words
from .visibility import Visibility

_PLAIN_TYPE = re.compile(r"[A-Za-z][A-Za-z ]*(\(\s*\d+\s*(,\s*\d+\s*)?\))?\Z")

# SELECTs with all common table expressions written out: 0.1 s to compile, and 50 MB.
_SELECTS = 10_000
# How long SQLite may compile, where it asks meanwhile (from 3.41 on), and after how many of its steps it asks.
_SECONDS = 0.5
_STEPS = 1_000


def find_compile_error(sql: str, tables: Iterable[TableSchema]) -> QueryError | None:
    """Return SQLite's error in compiling a query, or None; raise `QueryTooComplex` if slow."""
    longest = Limits().cell_bytes
    try:
        compute_value_limit(sql, longest)
    except QueryError as error:
        return error
    if count_word_with_ctes_expanded(split_words(sql), "select") > _SELECTS:
        raise QueryTooComplex
    table_list = list(tables)
    visibility = Visibility(frozenset(table.name.lower() for table in table_list), frozenset(), {})
    guard = None
    connection = sqlite3.connect(":memory:", isolation_level=None)
    try:
        for table in table_list:
            types = (column.type if _PLAIN_TYPE.match(column.type) else "" for column in table.columns)
            columns = (f"{quote(column.name)} {kind}" for column, kind in zip(table.columns, types, strict=True))
            connection.execute(f"CREATE TABLE {quote(table.name)} ({', '.join(columns)})")
        if "json_" in sql.lower():
            declare_table_functions(connection)
        guard = QueryAuthorizer(visibility, connection)
        deadline = time.monotonic() + _SECONDS
        connection.set_progress_handler(lambda: time.monotonic() > deadline, _STEPS)
        connection.execute(f"EXPLAIN {sql}").close()
    except MemoryError:
        raise QueryTooComplex from None
    except (sqlite3.Error, sqlite3.Warning, UnicodeError, ValueError) as error:
        if "interrupted" in str(error):
            raise QueryTooComplex from None
        return make_error(error, sql, guard and guard.refusal, longest)
    finally:
        connection.close()
    return None
