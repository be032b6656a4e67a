"""A database that can only be read: the one door through which everything else reaches it."""

from __future__ import annotations

import sqlite3
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ..errors import DatabaseUnavailable, QueryFailed, QueryTimeout
from .cancellation import Cancellation
from .catalogue import FileState, read_catalogue, schema_version
from .connection import QueryConnection, connect, connect_guarded, lenient_text, quoted
from .failures import failure
from .location import locate, unavailable, unwatched
from .read_schema import read_schema
from .results import column_types, fetch
from .schema import Schema
from .table import Cell, Limits, Table
from .visibility import Rules
from .watchdog import WATCHDOG, RunningQuery

DEFAULT_LIMITS = Limits()

# Idle connections kept open; more are opened when more queries run at once, so that none waits for another.
_IDLE_CONNECTIONS = 8


class Database:
    """An SQLite file, read-only by the engine. May be used from any number of threads.

    Example:
        >>> with Database.open("sqlite:///shop.db") as database:
        ...     database.execute("SELECT count(*) FROM orders").rows
        ((830,),)
    """

    def __init__(self, path: Path, rules: Rules) -> None:
        """Use `Database.open`, which says what is wrong when something is."""
        self.path = path
        self.name = path.stem
        self._rules = rules
        self._lock = threading.RLock()
        self._idle: list[QueryConnection] = []
        self._state = FileState.of(path)
        self._reader = connect(path)
        self._catalogue = read_catalogue(self._reader, self._state, rules)
        self._schema: Schema | None = None
        self._closed = False

    @classmethod
    def open(cls, path_or_url: str | Path, *, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> Database:
        """Open a database file for reading.

        Args:
            path_or_url: A path, or an SQLAlchemy-style URL such as `sqlite:///shop.db`.
            allow: What may be seen: `table` or `table.column` entries in any case, `*` for any run of characters.
                Empty: everything.
            deny: What may not; wins over `allow`. What is hidden can neither be read nor is it listed anywhere.

        Raises:
            DatabaseUnavailable: The file is missing, no database, empty, locked or damaged, or the URL is not SQLite's.
            SettingsError: `allow` or `deny` names what the database doesn't have.
        """
        path = locate(path_or_url)
        try:
            database = cls(path, Rules.of(allow, deny))
        except sqlite3.Error as error:
            raise unavailable(path, error) from None
        if not database._catalogue.visible:
            database.close()
            raise DatabaseUnavailable(f"{path} holds no tables" + (" that may be seen" if allow or deny else ""))
        return database

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close every idle connection; running queries end by themselves."""
        with self._lock:
            self._closed = True
            self._drop_idle()
            self._reader.close()

    def execute(self, sql: str, limits: Limits | None = None, cancellation: Cancellation | None = None) -> Table:
        """Run one query.

        Args:
            sql: One SELECT, VALUES, WITH or EXPLAIN statement.
            limits: What it may cost; `Limits()` if None.
            cancellation: Ends the query from another thread.

        Raises:
            QueryRejected: It does what is not allowed.
            QueryFailed: SQLite cannot run it; `kind` says why.
            QueryTimeout: It ran past its time or was cancelled.
            ResultTooLarge: A value, the result or the memory needed passed its limit.
            DatabaseUnavailable: The file is gone or damaged.
        """
        limits = limits or DEFAULT_LIMITS
        with self._connection() as connection:
            return _run(connection, sql, limits, cancellation)

    def schema(self) -> Schema:
        """Tables, columns, keys, counts and sample values of what may be seen; read once per version of the schema."""
        with self._lock:
            self._refresh()
            if self._schema is None:
                with self._connection() as guarded, lenient_text(guarded.sqlite):
                    self._schema = read_schema(self._reader, guarded.sqlite, self.name, self._catalogue)
            return self._schema

    def distinct_values(self, table: str, column: str, limit: int, seconds: float = 5.0) -> tuple[Cell, ...]:
        """Distinct non-null values of one column, in the order in which the table holds them.

        Args:
            table: Its name in any case.
            column: Its name in any case.
            limit: At most so many values.
            seconds: Reading ends after so long, with what was read until then.

        Raises:
            QueryFailed: There is no such table or column, or it is hidden.
        """
        found = self.schema().table(table)
        if found is None:
            raise QueryFailed(f"no such table: {table}", "unknown_table")
        held = found.column(column)
        if held is None:
            raise QueryFailed(f"no such column: {table}.{column}", "unknown_column")
        name = quoted(held.name)
        sql = f"SELECT DISTINCT {name} FROM {quoted(found.name)} WHERE {name} IS NOT NULL LIMIT {int(limit)}"
        values: list[Cell] = []
        with self._connection() as connection, lenient_text(connection.sqlite):
            query = RunningQuery(connection.sqlite, time.monotonic() + seconds)
            WATCHDOG.watch(query)
            try:
                for (value,) in connection.sqlite.execute(sql):
                    values.append(value)
            except sqlite3.Error as error:
                if not query.stopped:
                    raise failure(error, sql, connection.guard.refusal, DEFAULT_LIMITS) from None
            finally:
                WATCHDOG.release(query)
        return tuple(values)

    @contextmanager
    def _connection(self) -> Iterator[QueryConnection]:
        connection = self._take()
        try:
            yield connection
        finally:
            with self._lock:
                if self._closed or len(self._idle) >= _IDLE_CONNECTIONS:
                    connection.sqlite.close()
                else:
                    self._idle.append(connection)

    def _take(self) -> QueryConnection:
        with self._lock:
            if self._closed:
                raise DatabaseUnavailable(f"the database {self.name} was closed")
            state = FileState.of(self.path)
            if state != self._state:
                self._refresh()
            while self._idle:
                connection = self._idle.pop()
                if not connection.immutable or unwatched(self.path):
                    return connection
                connection.sqlite.close()
            catalogue = self._catalogue
        try:
            return connect_guarded(self.path, catalogue.visibility, catalogue.virtual_tables)
        except sqlite3.Error as error:
            raise unavailable(self.path, error) from None

    def _refresh(self) -> None:
        """Read the names again if the file was replaced or its schema altered."""
        state = FileState.of(self.path)
        try:
            if (state.device, state.inode) != (self._state.device, self._state.inode):
                self._reader.close()
                self._reader = connect(self.path)
            if schema_version(self._reader, state) != self._catalogue.version:
                self._catalogue = read_catalogue(self._reader, state, self._rules)
                self._schema = None
                self._drop_idle()
        except sqlite3.Error as error:
            raise unavailable(self.path, error) from None
        self._state = state

    def _drop_idle(self) -> None:
        for connection in self._idle:
            connection.sqlite.close()
        self._idle.clear()


def _run(connection: QueryConnection, sql: str, limits: Limits, cancellation: Cancellation | None) -> Table:
    sqlite, guard = connection.sqlite, connection.guard
    guard.refusal = None
    sqlite.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, limits.cell_bytes)
    start = time.monotonic()
    query = RunningQuery(sqlite, start + limits.seconds, cancellation)
    WATCHDOG.watch(query)
    cursor = sqlite.cursor()
    try:
        cursor.execute(sql)
        rows, truncated = fetch(cursor, limits)
        description = cursor.description
    except (sqlite3.Error, sqlite3.Warning, MemoryError, ValueError, OverflowError) as error:
        if query.stopped == "cancelled":
            raise QueryTimeout("the query was cancelled") from None
        if query.stopped:
            raise QueryTimeout(
                f"the query ran longer than {limits.seconds:g} s: join on keys, filter earlier, or ask for less"
            ) from None
        raise failure(error, sql, guard.refusal, limits) from None
    finally:
        cursor.close()
        WATCHDOG.release(query)
    if description is None:
        raise QueryFailed("the text holds no query: write a SELECT", "syntax")
    columns = tuple(entry[0] for entry in description)
    return Table(columns, column_types(rows, len(columns)), tuple(rows), truncated, time.monotonic() - start)
