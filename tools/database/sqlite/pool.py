"""Pools of guarded connections to a file, renewed when the file or its schema changes."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from ...errors import DatabaseUnavailable, QueryError, QueryFailed, QueryRejected, SettingsError, TableLocked
from ..fetch import Sink, fetch
from ..session import Permissions
from ..table import Limits, Table
from ..watchdog import WATCHDOG, Cancellation, RunningQuery, raise_if_cancelled
from .bounded_work import compute_value_limit
from .catalogue import FileCatalogue, FileState, read_catalogue, read_file_states, read_schema_version
from .confined import SchemaChanged
from .connection import NOT_UTF8, SQLITE_ERRORS, QueryConnection, connect, decode_leniently, open_guarded_connection
from .guard import make_error
from .location import has_no_writer, make_unavailable_error
from .tokens import split_words

LIMITS_HERE = (
    "this system cannot limit a process, so queries run in the calling one: a statement that compiles for long"
    " can pass its time, temporary files are not limited, and memory is limited for all queries together"
)
"""What a `ConnectionPool` does not hold if it is not in a worker."""


def run_query(
    connection: QueryConnection, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None
) -> Table:
    """Run one statement on a guarded connection within the limits."""
    confinement = connection.confinement
    if confinement:
        confinement.check_statement(sql)
    # The guard cannot refuse it, for full-text tables ask for it on the same connection.
    if "data_version" in sql and "pragma" in split_words(sql):
        raise QueryRejected("this connection only reads, but the statement uses PRAGMA data_version: write a SELECT")
    raise_if_cancelled(cancellation)
    start = time.monotonic()
    longest = compute_value_limit(sql, limits.cell_bytes, connection.catalogue.full_text_tables)
    sqlite = connection.sqlite
    sqlite.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, longest)
    connection.guard.refusal = None
    query = RunningQuery(sqlite.interrupt, start + limits.seconds, cancellation)
    try:
        with connection.open_transaction(), WATCHDOG.watch(query):
            try:
                return _fetch_table(sqlite, sql, limits, sink, start)
            except sqlite3.OperationalError as error:
                if not str(error).startswith(NOT_UTF8):
                    raise
                with decode_leniently(sqlite):
                    return _fetch_table(sqlite, sql, limits, sink, start)
    except (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError) as error:
        # VACUUM, stopped on its way, makes SQLite forget the virtual tables, which cannot declare themselves again
        # behind the guard; what else a refused action or a lack of memory leaves undone is not worth knowing.
        refusal = connection.guard.refusal
        connection.suspect |= isinstance(error, MemoryError) or (refusal is not None and refusal.kind == "action")
        query.check(time.monotonic())  # the transaction's wait is not watched
        if query.outcome:
            raise query.make_timeout(limits.seconds) from None
        failure = make_error(error, sql, refusal, longest)
        raise (confinement.conceal_hidden_names(failure) if confinement else failure) from None


def _fetch_table(sqlite: sqlite3.Connection, sql: str, limits: Limits, sink: Sink | None, start: float) -> Table:
    cursor = sqlite.execute(sql)
    try:
        if cursor.description is None:
            raise QueryFailed("the text contains no query: write a SELECT", "syntax")
        return fetch(cursor, limits, sink, start)
    finally:
        cursor.close()


_heap_lock = threading.Lock()
_lowest_heap = 0

# Idle connections kept open; more are opened when more queries run at once, so that none waits for another.
_IDLE_CONNECTIONS = 8

# Files written to longer ago than this have another time once they are written to again, whatever the clock's grain.
_SETTLED_NS = 2_000_000_000


class ConnectionPool:
    """A pool of guarded connections to a file, each used by one thread at a time."""

    about = b""

    def __init__(self, path: Path, rules: Permissions) -> None:
        self._path, self._rules = path, rules
        self._lock = threading.Lock()
        self._idle: list[QueryConnection] = []
        self._closed = False
        self._snapshot: tuple[tuple[FileState, FileState | None], FileCatalogue] | None = None
        self._state = FileState.of(path)
        try:
            self._reader = connect(path)
            try:
                self._catalogue = read_catalogue(self._reader.sqlite, self._state, rules)
            except BaseException:
                self._reader.sqlite.close()
                raise
        except SQLITE_ERRORS as error:
            raise make_unavailable_error(path, error) from None

    def catalogue(self) -> FileCatalogue:
        """Return the current catalogue of the database file."""
        # Many threads ask dozens of times a turn: none waits if neither the file nor its log was written to.
        files = read_file_states(self._path)
        snapshot = self._snapshot
        if snapshot is not None and snapshot[0] == files and not self._closed:
            return snapshot[1]
        with self._lock:
            self._raise_if_closed()
            self._refresh_catalogue()
            is_settled = time.time_ns() - max(file.mtime for file in files if file) > _SETTLED_NS
            self._snapshot = (files, self._catalogue) if is_settled else None
            return self._catalogue

    @contextmanager
    def borrow_connection(self) -> Generator[QueryConnection]:
        """Lend a connection for one query while a block runs."""
        connection = self._take_connection()
        try:
            yield connection
        finally:
            with self._lock:
                usable = connection.catalogue is self._catalogue and not connection.suspect
                if usable and not self._closed and len(self._idle) < _IDLE_CONNECTIONS:
                    self._idle.append(connection)
                else:
                    connection.sqlite.close()

    def _take_connection(self) -> QueryConnection:
        with self._lock:
            self._raise_if_closed()
            # A writer with a write-ahead log alters the schema without touching the file. If nothing is hidden, a
            # query that fails tells of it early enough; if something is, a new column must not be seen even once.
            if self._rules or FileState.of(self._path) != self._state:
                self._refresh_catalogue()
            while self._idle:
                connection = self._idle.pop()
                if not connection.immutable or has_no_writer(self._path):
                    return connection
                connection.sqlite.close()
            catalogue = self._catalogue
        try:
            return open_guarded_connection(self._path, catalogue)
        except SchemaChanged:
            self.catalogue()
            return self._take_connection()
        except SQLITE_ERRORS as error:
            raise make_unavailable_error(self._path, error) from None

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        self._limit_process_heap(limits.memory_bytes)
        with self.borrow_connection() as connection:
            try:
                return run_query(connection, sql, limits, cancellation, sink)
            except SchemaChanged:
                self.catalogue()
            except TableLocked:
                raise  # nor could the names be read
            except QueryError:
                # A table made, or a virtual table touched, by another program since the connection was set up.
                if connection.catalogue is self.catalogue():
                    raise
        return self.execute(sql, limits, cancellation, sink)

    def _limit_process_heap(self, limit: int) -> None:
        """Lower the heap memory limit of the whole process."""
        # Nothing else ends a statement that fills the heap when it is compiled.
        global _lowest_heap
        if not limit or 0 < _lowest_heap <= limit:
            return
        with self._lock, _heap_lock:
            self._raise_if_closed()
            self._reader.sqlite.execute(f"PRAGMA hard_heap_limit = {int(limit)}").close()
            _lowest_heap = min(limit, _lowest_heap or limit)

    def close(self) -> None:
        """Close idle connections; those in use are closed when they are given back."""
        with self._lock:
            self._closed = True
            self._close_idle_connections()
            self._reader.sqlite.close()

    def _raise_if_closed(self) -> None:
        if self._closed:
            raise DatabaseUnavailable(f"the database {self._path.stem} was closed: open it again")

    def _refresh_catalogue(self) -> None:
        """Read the catalogue again if the file was replaced or its schema was altered."""
        state = FileState.of(self._path)
        is_replaced = (state.device, state.inode) != (self._state.device, self._state.inode)
        try:
            # What was opened as immutable doesn't look at the file again.
            reopen = is_replaced or (self._reader.immutable and (state != self._state or not has_no_writer(self._path)))
            if reopen:
                self._reader.sqlite.close()
                self._reader = connect(self._path)
            if reopen or read_schema_version(self._reader.sqlite, state) != self._catalogue.version:
                self._catalogue = read_catalogue(self._reader.sqlite, state, self._rules)
                self._close_idle_connections()
        except SQLITE_ERRORS as error:
            raise make_unavailable_error(self._path, error) from None
        except SettingsError as error:
            raise DatabaseUnavailable(f"{self._path} was altered while open: {error}: nothing is shown") from None
        self._state = state

    def _close_idle_connections(self) -> None:
        for connection in self._idle:
            connection.sqlite.close()
        self._idle.clear()
