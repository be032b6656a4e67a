"""Connections: one kind for queries, behind the guard, and one for reading the schema."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from ..quoting import quoted
from .bounded_work import LIKE_PATTERN_LENGTH, STATEMENT_LENGTH
from .catalogue import Catalogue
from .confined import Confinement, confine
from .functions import PROFILE, declare_table_functions
from .guard import Guard
from .location import read_only_uri

_BUSY_SECONDS = 1.0

SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)
"""What Python raises for SQLite's errors; the second where the message quotes a damaged file."""

NOT_UTF8 = "Could not decode to UTF-8"
"""How the message begins with which Python refuses a text that is not UTF-8: read it again with `lenient_text`."""

# Limits on a statement's text and program. All are far above what a person or a model writes for a question, and low
# enough that compiling stays within a second; SQLite's own defaults are meant for trusted statements.
QUERY_LIMITS = {
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 4 * STATEMENT_LENGTH,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 500,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 200,
    sqlite3.SQLITE_LIMIT_VDBE_OP: 500_000,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: LIKE_PATTERN_LENGTH,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
"""By SQLite's category."""

_QUERY_ONLY = "PRAGMA query_only = ON"


@dataclass(frozen=True)
class ReadConnection:
    """A connection that only reads, but reads everything: for the schema, never for a query from outside.

    Attributes:
        sqlite: The connection.
        immutable: Whether it was opened in the belief that nobody writes (see `location.read_only_uri`).
    """

    sqlite: sqlite3.Connection
    immutable: bool


@dataclass(eq=False)
class QueryConnection:
    """A guarded connection; one thread at a time may use it.

    Attributes:
        sqlite: The connection.
        guard: Its authorizer.
        catalogue: What the guard was set up from.
        immutable: As in `ReadConnection`.
        confinement: How what is hidden is kept out of reach; None where nothing is hidden.
        suspect: Whether something may have been left half done in it, so that no further query should use it.
    """

    sqlite: sqlite3.Connection
    guard: Guard
    catalogue: Catalogue
    immutable: bool
    confinement: Confinement | None = None
    suspect: bool = False

    def begin(self) -> None:
        """Makes sure that the next statement sees the schema that the catalogue tells of.

        Raises:
            Stale: It has changed; the connection must not be used again.
        """
        if self.confinement:
            with self.guard.opened():
                self.confinement.begin(self.sqlite)

    def end(self) -> None:
        """Ends what `begin` began."""
        if self.confinement and self.sqlite.in_transaction:
            with self.guard.opened():
                self.sqlite.execute("ROLLBACK")

    def failed(self, error: Exception) -> None:
        """Take note of an error.

        VACUUM, stopped on its way, makes SQLite forget the virtual tables, which cannot declare themselves again
        behind the guard; what else a refused action or a lack of memory leaves undone is not worth knowing.
        """
        refusal = self.guard.refusal
        self.suspect |= isinstance(error, MemoryError) or (refusal is not None and refusal.what == "action")


def connect(path: Path) -> ReadConnection:
    """A connection that opens the file for reading only, without any other restriction."""
    uri = read_only_uri(path)
    connection = _opened(uri)
    try:
        for pragma in PROFILE.setup:
            connection.execute(pragma).close()
        connection.execute(_QUERY_ONLY).close()
    except BaseException:
        connection.close()
        raise
    return ReadConnection(connection, "immutable=1" in uri)


def _opened(uri: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        uri, uri=True, isolation_level=None, check_same_thread=False, timeout=_BUSY_SECONDS, cached_statements=32
    )
    connection.text_factory = decode
    return connection


def connect_guarded(path: Path, catalogue: Catalogue) -> QueryConnection:
    """A connection for queries: whatever is sent to it, it only reads what the catalogue shows.

    Virtual tables declare themselves to SQLite when they are first used, with statements that the guard refuses; they
    are used once before it is set.
    """
    if catalogue.visibility.restricted:
        return _connect_confined(path, catalogue)
    opened = connect(path)
    opened.sqlite.text_factory = str
    return guarded(opened.sqlite, catalogue, opened.immutable)


def _connect_confined(path: Path, catalogue: Catalogue) -> QueryConnection:
    uri = read_only_uri(path)
    connection = _opened(":memory:")
    try:
        connection.execute(f"PRAGMA encoding = '{catalogue.encoding}'").close()
        for pragma in PROFILE.setup:
            connection.execute(pragma).close()
        confinement = confine(connection, uri, catalogue)
        connection.execute(_QUERY_ONLY).close()
    except BaseException:
        connection.close()
        raise
    connection.text_factory = str
    return guarded(connection, catalogue, "immutable=1" in uri, confinement)


def guarded(
    connection: sqlite3.Connection,
    catalogue: Catalogue,
    immutable: bool = False,
    confinement: Confinement | None = None,
) -> QueryConnection:
    """Set the guard of a connection that is already open; closes it if that fails."""
    try:
        declare_table_functions(connection)
        for name in catalogue.virtual_tables:
            if catalogue.visibility.shows(name):
                _touch(connection, name)
        guard = Guard(catalogue.visibility)
        connection.set_authorizer(guard)
        for limit, value in QUERY_LIMITS.items():
            connection.setlimit(limit, value)
    except BaseException:
        connection.close()
        raise
    return QueryConnection(connection, guard, catalogue, immutable, confinement)


def _touch(connection: sqlite3.Connection, table: str) -> None:
    try:
        connection.execute(f"SELECT 1 FROM {quoted(table)} LIMIT 0").close()
    except SQLITE_ERRORS:
        # A module that this SQLite lacks: queries on the table fail with SQLite's own message.
        return


@contextmanager
def lenient_text(connection: sqlite3.Connection) -> Generator[None]:
    """Read text that is not UTF-8 as well, for some time: see `decode`."""
    connection.text_factory = decode
    try:
        yield
    finally:
        connection.text_factory = str


def decode(text: bytes) -> str:
    """Text as SQLite holds it, with what is not UTF-8 replaced by U+FFFD."""
    return text.decode("utf-8", "replace")
