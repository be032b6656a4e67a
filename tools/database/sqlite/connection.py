"""Connections: guarded ones for queries, and one for reading the schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from ..quoting import quote
from .catalogue import FileCatalogue
from .confined import Confinement, confine_connection
from .functions import PROFILE, declare_table_functions
from .guard import QueryAuthorizer
from .location import make_read_only_uri

_BUSY_SECONDS = 1.0

SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What Python raises for SQLite's errors; the second if the message quotes a damaged file."""

NOT_UTF8 = "Could not decode to UTF-8"
"""How the message begins with which Python refuses a text that is not UTF-8; `decode_leniently` can read it."""

_QUERY_ONLY = "PRAGMA query_only = ON"


class UnguardedConnection(NamedTuple):
    """A connection that can read everything, for the schema and never for outside queries.

    It may be `immutable`: opened in the belief that nobody writes (see `location.make_read_only_uri`).
    """

    sqlite: sqlite3.Connection
    immutable: bool


@dataclass(eq=False)
class QueryConnection:
    """A guarded connection for queries, set up from a catalogue, for one thread at a time."""

    sqlite: sqlite3.Connection
    guard: QueryAuthorizer
    catalogue: FileCatalogue
    immutable: bool
    confinement: Confinement | None = None  # None if nothing is hidden
    suspect: bool = False  # something may have been left half done, so that no further query should use it

    @contextmanager
    def open_transaction(self) -> Generator[None]:
        """Run a block in a transaction; raise `SchemaChanged` if the schema has changed."""
        try:
            if self.confinement:
                with self.guard.open():
                    self.confinement.begin(self.sqlite)
            yield
        finally:
            if self.confinement and self.sqlite.in_transaction:
                with self.guard.open():
                    self.sqlite.execute("ROLLBACK")


def connect(path: Path) -> UnguardedConnection:
    """Open a database file for reading only, without any other restriction."""
    uri = make_read_only_uri(path)
    return UnguardedConnection(_open_sqlite_connection(uri, _QUERY_ONLY), "immutable=1" in uri)


def _open_sqlite_connection(uri: str, setup_sql: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS, cached_statements=32
    )
    connection.text_factory = _decode_utf8_leniently
    try:
        for pragma in (setup_sql, *PROFILE.setup):
            connection.execute(pragma).close()
    except BaseException:
        connection.close()
        raise
    return connection


def open_guarded_connection(path: Path, catalogue: FileCatalogue) -> QueryConnection:
    """Open a connection for queries, which reads only the visible names of a catalogue."""
    uri, is_restricted = make_read_only_uri(path), catalogue.visibility.restricted
    encoding_pragma = f"PRAGMA encoding = '{catalogue.encoding}'"
    connection = _open_sqlite_connection(*((":memory:", encoding_pragma) if is_restricted else (uri, _QUERY_ONLY)))
    try:
        confinement = confine_connection(connection, uri, catalogue) if is_restricted else None
        connection.execute(_QUERY_ONLY).close()
        connection.text_factory = str
        return guard_connection(connection, catalogue, "immutable=1" in uri, confinement)
    except BaseException:
        connection.close()
        raise


def guard_connection(
    connection: sqlite3.Connection,
    catalogue: FileCatalogue,
    immutable: bool = False,
    confinement: Confinement | None = None,
) -> QueryConnection:
    """Guard an open connection for queries."""
    declare_table_functions(connection)
    # Virtual tables declare themselves to SQLite when they are first used, with statements that the guard refuses.
    for entry in catalogue.visible:
        # Of a module that this SQLite lacks, queries fail with SQLite's own message.
        with suppress(*SQLITE_ERRORS):
            if entry.kind == "virtual":
                connection.execute(f"SELECT 1 FROM {quote(entry.name)} LIMIT 0").close()
    guard = QueryAuthorizer(catalogue.visibility, connection)
    return QueryConnection(connection, guard, catalogue, immutable, confinement)


@contextmanager
def decode_leniently(connection: sqlite3.Connection) -> Generator[None]:
    """Let a connection also read text that is not UTF-8 while a block runs."""
    connection.text_factory = _decode_utf8_leniently
    try:
        yield
    finally:
        connection.text_factory = str


def _decode_utf8_leniently(text: bytes) -> str:
    return text.decode("utf-8", "replace")
