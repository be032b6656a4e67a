"""Small databases in memory, in which gold queries and mutants can read and nothing else."""

from __future__ import annotations

import sqlite3
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

from ...tools.database.fetch import fetch
from ...tools.database.quoting import quoted
from ...tools.database.schema import Schema
from ...tools.database.table import Cell, Limits
from ...tools.errors import DatabaseUnavailable, ResultTooLarge
from ..sqlite_files import lenient_text, open_read_only

_STEPS = 2_000_000
"""Virtual machine steps that a query on a small database may take; a mutant without its join conditions takes more."""

_CHECKS = 100

_LIMITS = Limits(rows=2_000, result_bytes=50_000_000)
"""A query with more rows tells nothing here. Steps end a query first, so that the same one ends everywhere."""

_STATEMENT_LIMITS = {
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_LENGTH: _LIMITS.cell_bytes,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 500_000,
}

_READS = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE})

Rows = tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Original:
    """A copy of the database that a suite is built for.

    Attributes:
        copy: The copy, sealed.
        ddl: CREATE statements of its tables, views and indexes. Triggers would write what nobody chose; the tables in
            which full-text tables keep their content are made by these.
    """

    copy: sqlite3.Connection
    ddl: tuple[str, ...]


def blank() -> sqlite3.Connection:
    """A database in memory without anything, which cannot reach any other."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.text_factory = lenient_text
    for limit, value in _STATEMENT_LIMITS.items():
        connection.setlimit(limit, value)
    return connection


def copied(path: Path, schema: Schema) -> Original:
    """A copy of a database, which is itself opened for reading only.

    Raises:
        DatabaseUnavailable: It cannot be read.
    """
    copy = blank()
    try:
        with closing(open_read_only(path)) as source:
            source.backup(copy)
        ddl = _definitions(copy, {table.name.lower() for table in schema.tables})
        return Original(sealed(copy, schema), ddl)
    except sqlite3.Error as error:
        copy.close()
        raise DatabaseUnavailable(f"{path} cannot be used: {error}") from error


def sealed(connection: sqlite3.Connection, schema: Schema) -> sqlite3.Connection:
    """The connection, from now on for reading only.

    Virtual tables declare themselves when they are first used, with statements that are refused from then on.
    """
    virtual = [quoted(table.name) for table in schema.tables if table.kind == "virtual"]
    for table in ("json_each('[]')", "json_tree('[]')", *virtual):
        with suppress(sqlite3.Error):
            connection.execute(f"SELECT 1 FROM {table} LIMIT 0").close()
    connection.set_authorizer(_only_reads)
    return connection


def rows(database: sqlite3.Connection, sql: str) -> Rows | None:
    """A query's result; None where it fails, is refused, or costs too much to tell."""
    budget = iter(range(_CHECKS))
    database.set_progress_handler(lambda: next(budget, None) is None, _STEPS // _CHECKS)
    try:
        with closing(database.execute(sql)) as cursor:
            result = fetch(cursor, _LIMITS) if cursor.description else None
    except (sqlite3.Error, sqlite3.Warning, ResultTooLarge, ValueError, MemoryError):
        return None
    return None if result is None or result.truncated else result.rows


def _only_reads(action: int, argument: str | None, *_: object) -> int:
    # Full-text tables ask for this pragma themselves.
    allowed = action in _READS or (action == sqlite3.SQLITE_PRAGMA and argument == "data_version")
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _definitions(connection: sqlite3.Connection, shown: set[str]) -> tuple[str, ...]:
    found: list[tuple[str, str]] = connection.execute(
        "SELECT tbl_name, sql FROM sqlite_master WHERE type IN ('table', 'view', 'index') AND sql IS NOT NULL"
        " ORDER BY type = 'index', rowid"
    ).fetchall()
    return tuple(sql for table, sql in found if table.lower() in shown)
