"""Small databases in memory, which gold queries and mutants reach only through the guard."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from ...tools.database.catalogue import Catalogue, FileState, read_catalogue
from ...tools.database.connection import QUERY_LIMITS, QueryConnection, guarded
from ...tools.database.run_query import run_query
from ...tools.database.table import Limits, Table
from ...tools.database.visibility import Rules
from ...tools.errors import DatabaseUnavailable, QueryError

_STEPS = 2_000_000
"""Virtual machine steps that a query on a small database may take; a mutant without its join conditions takes more."""

_CHECKS = 100

_LIMITS = Limits(seconds=10.0, rows=2_000, result_bytes=50_000_000)
"""A query with more rows tells nothing here. Steps end a query first, so that the same one ends everywhere."""


@dataclass(frozen=True)
class Original:
    """A copy of the database that a suite is built for.

    Attributes:
        held: The copy.
        ddl: CREATE statements of its tables, views and indexes. Triggers would write what nobody chose; the tables in
            which full-text tables keep their content are made by these.
    """

    held: QueryConnection
    ddl: tuple[str, ...]


def blank() -> sqlite3.Connection:
    """A database in memory without anything, which cannot reach any other."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.text_factory = _decoded
    for limit, value in QUERY_LIMITS.items():
        connection.setlimit(limit, value)
    return connection


def copied(path: Path) -> Original:
    """A copy of a database, which is itself opened for reading only.

    Raises:
        DatabaseUnavailable: It cannot be read.
    """
    copy = blank()
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as source:
            source.backup(copy)
        catalogue = read_catalogue(copy, FileState(0, 0, 0, 0), Rules())
        ddl = _definitions(copy, catalogue)
        return Original(guarded(copy, catalogue), ddl)
    except sqlite3.Error as error:
        copy.close()
        raise DatabaseUnavailable(f"{path} cannot be used: {error}") from error


def rows(database: QueryConnection, sql: str) -> Table | None:
    """A query's result; None where it fails, is refused, or costs too much to tell."""
    budget = iter(range(_CHECKS))
    database.sqlite.set_progress_handler(lambda: next(budget, None) is None, _STEPS // _CHECKS)
    try:
        table = run_query(database, sql, _LIMITS, None)
    except QueryError:
        return None
    return None if table.truncated else table


def _definitions(connection: sqlite3.Connection, catalogue: Catalogue) -> tuple[str, ...]:
    shown = {entry.name.lower() for entry in catalogue.entries}
    indexes = connection.execute("SELECT tbl_name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL")
    return (
        *(entry.sql for entry in catalogue.entries),
        *(str(sql) for table, sql in indexes if str(table).lower() in shown),
    )


def _decoded(text: bytes) -> str:
    return text.decode(errors="ignore")
