"""A database that can only be read: the one door through which everything else reaches it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable
from pathlib import Path

from ..errors import DatabaseUnavailable, QueryError, QueryFailed
from .cancellation import Cancellation
from .catalogue import Catalogue
from .connection import SQLITE_ERRORS, connect
from .location import locate, unavailable
from .pool import ConnectionPool
from .read_schema import read_schema
from .run_query import distinct_values, run_query
from .schema import Schema
from .table import Cell, Limits, Table
from .visibility import Rules

_DEFAULT_LIMITS = Limits()


class Database:
    """An SQLite file, read-only by the engine. May be used from any number of threads.

    Example:
        >>> with Database.open("sqlite:///shop.db") as database:
        ...     database.execute("SELECT count(*) FROM orders").rows
        ((830,),)
    """

    def __init__(self, path: Path, pool: ConnectionPool) -> None:
        """Use `Database.open`."""
        self.path = path
        # A file's name may hold bytes that are no text, which neither prompts nor stores can.
        self.name = os.fsencode(path.stem).decode("utf-8", "replace")
        self._pool = pool
        self._schema_lock = threading.Lock()
        self._schema: tuple[Catalogue, Schema] | None = None

    @classmethod
    def open(cls, path_or_url: str | Path, *, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> Database:
        """Open a database file for reading.

        Args:
            path_or_url: A path, or an SQLAlchemy-style URL such as `sqlite:///shop.db`.
            allow: What may be seen: `table` or `table.column` entries in any case, `*` for any run of characters.
                Empty: everything.
            deny: What may not; wins over `allow`. What is hidden can neither be read nor is it listed anywhere; a view
                that reads it is hidden with it, and so are generated columns and search indexes made from it.

        Raises:
            DatabaseUnavailable: The file is missing, no database, empty, locked or damaged, or the URL is not SQLite's.
            SettingsError: `allow` or `deny` names what the database doesn't have.
        """
        path = locate(path_or_url)
        rules = Rules.of(allow, deny)
        pool = ConnectionPool(path, rules)
        if not pool.catalogue().visible:
            pool.close()
            raise DatabaseUnavailable(f"{path} holds no tables{' that may be seen' if rules else ''}")
        return cls(path, pool)

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections; queries that still run end by themselves."""
        self._pool.close()

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
        limits = limits or _DEFAULT_LIMITS
        self._pool.limit_heap(limits.memory_bytes)
        connection = self._pool.take()
        try:
            return run_query(connection, sql, limits, cancellation)
        except QueryError:
            # A table made, or a virtual table touched, by another program since the connection was set up.
            if connection.catalogue is self._pool.catalogue():
                raise
        finally:
            self._pool.give(connection)
        return self.execute(sql, limits, cancellation)

    def schema(self) -> Schema:
        """Tables, columns, keys, counts and sample values of what may be seen.

        Read once per version of the schema: counts and samples are those of that time.

        Raises:
            DatabaseUnavailable: The file is gone, damaged or locked.
        """
        with self._schema_lock:
            catalogue = self._pool.catalogue()
            if self._schema is None or self._schema[0] is not catalogue:
                self._schema = catalogue, self._read_schema(catalogue)
            return self._schema[1]

    def _read_schema(self, catalogue: Catalogue) -> Schema:
        guarded = self._pool.take()
        try:
            reader = connect(self.path).sqlite
            try:
                return read_schema(reader, guarded.sqlite, self.name, catalogue)
            finally:
                reader.close()
        except SQLITE_ERRORS as error:
            raise unavailable(self.path, error) from None
        finally:
            self._pool.give(guarded)

    def distinct_values(self, table: str, column: str, limit: int, seconds: float = 5.0) -> tuple[Cell, ...]:
        """Distinct non-null values of one column, in no order that could be relied on.

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
        connection = self._pool.take()
        try:
            return distinct_values(connection, found.name, held.name, limit, seconds, _DEFAULT_LIMITS.cell_bytes)
        finally:
            self._pool.give(connection)
