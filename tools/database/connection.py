"""Connections: one kind for queries, behind the guard, and one for reading the schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from .guard import Guard
from .location import read_only_uri
from .visibility import Visibility

_BUSY_SECONDS = 1.0

# Limits on a statement's text and program. All are far above what a person or a model writes for a question, and low
# enough that compiling stays within a second; SQLite's own defaults are meant for trusted statements.
_SQLITE_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 200_000,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 200,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 500_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 1_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}

_PRAGMAS = (
    "PRAGMA query_only = ON",
    "PRAGMA trusted_schema = OFF",
    "PRAGMA cell_size_check = ON",
    "PRAGMA mmap_size = 0",
    # Sorting and recursion spill to unnamed temporary files: memory stays bounded by the caches of the connection.
    "PRAGMA temp_store = FILE",
)


@dataclass(frozen=True)
class QueryConnection:
    """A guarded connection; one thread at a time may use it.

    Attributes:
        sqlite: The connection.
        guard: Its authorizer.
        immutable: Whether it was opened in the belief that nobody writes (see `location.read_only_uri`).
    """

    sqlite: sqlite3.Connection
    guard: Guard
    immutable: bool


def connect(path: Path) -> sqlite3.Connection:
    """A connection that opens the file for reading only, without any other restriction: for reading the schema."""
    connection = sqlite3.connect(
        read_only_uri(path), uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS
    )
    connection.text_factory = decode
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
    except BaseException:
        connection.close()
        raise
    return connection


def connect_guarded(path: Path, visibility: Visibility, virtual_tables: tuple[str, ...]) -> QueryConnection:
    """A connection for queries: whatever is sent to it, it only reads what `visibility` shows.

    Virtual tables declare themselves to SQLite when they are first used, with statements that the guard refuses; they
    are used once before it is set.
    """
    uri = read_only_uri(path)
    connection = sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS, cached_statements=32
    )
    try:
        for pragma in _PRAGMAS:
            connection.execute(pragma)
        connection.execute("SELECT 1 FROM json_each('[]'), json_tree('[]')").close()
        for name in virtual_tables:
            _touch(connection, name)
        guard = Guard(visibility)
        connection.set_authorizer(guard)
        for limit, value in _SQLITE_LIMITS.items():
            connection.setlimit(limit, value)
    except BaseException:
        connection.close()
        raise
    return QueryConnection(connection, guard, "immutable=1" in uri)


def _touch(connection: sqlite3.Connection, table: str) -> None:
    try:
        connection.execute(f"SELECT 1 FROM {quoted(table)} LIMIT 0").close()
    except sqlite3.Error:
        # A module that this SQLite lacks: queries on the table fail with SQLite's own message.
        return


@contextmanager
def lenient_text(connection: sqlite3.Connection) -> Iterator[None]:
    """Read text that is not UTF-8 as well, for some time: see `decode`."""
    connection.text_factory = decode
    try:
        yield
    finally:
        connection.text_factory = str


def decode(text: bytes) -> str:
    """Text as SQLite holds it, with what is not UTF-8 replaced by U+FFFD."""
    return text.decode("utf-8", "replace")


def quoted(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
