"""An engine that talks to a server: pooled connections, read-only transactions, limits, a schema that is kept fresh."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from ...errors import DatabaseUnavailable, QueryError, QueryFailed, QueryTimeout, SettingsError
from ..cancellation import Cancellation
from ..estimate import Estimate
from ..fetch import Sink, fetch
from ..schema import Schema, TableSchema
from ..session import Session
from ..table import Cell, Limits, Table
from ..watchdog import WATCHDOG, RunningQuery
from .catalogue import Catalogue
from .connection import Backend, ConnectionLost, ServerConnection
from .pool import Pool
from .profile import read_schema
from .reading import Reader

# How long what was read of the catalogue is believed; a name that is not known is looked for at once.
_FRESH_SECONDS = 5.0
# How long what `state` told is believed: on a busy server it differs at every look, and an index is built for each.
_STATE_SECONDS = 300.0
_CATALOGUE_SECONDS = 30.0
_COMPILE_SECONDS = 1.0
# What the server's own time limit is given before the query is ended from outside.
_GRACE_SECONDS = 0.5
_PART_ROWS = 100_000
UNREADABLE = "<insufficient privilege>"
"""What PostgreSQL shows in the place of a query."""

_CANCELLED = "the query was cancelled"

R = TypeVar("R")


class ServerEngine:
    """A database of a server under one session; see `Engine`.

    Attributes:
        warnings: What the login may do that it should not, and how to make one that may not.
        keeps_permissions: Whether the backend keeps allow and deny lists itself.
        patience: How many times as long as on a usual server our own questions may take.
    """

    keeps_permissions = False
    patience = 1.0

    def __init__(self, backend: Backend, session: Session) -> None:
        """Connects.

        Raises:
            DatabaseUnavailable: The server cannot be reached, or the session may see no table.
            SettingsError: The session has permissions, which the server has to keep.
        """
        if session.policy.permissions and not self.keeps_permissions:
            raise SettingsError(
                f"allow and deny lists cannot be used on {backend.name}: instead, grant the login SELECT on the tables"
                " or columns that it may read"
            )
        self._backend = backend
        self.name = backend.name
        self.dialect = backend.dialect
        self.database = backend.database
        self.location = backend.location
        self._reader = Reader(backend.grammar)
        self._pool = Pool(backend.connect)
        self._lock = threading.RLock()
        self._schema: Schema | None = None
        self._state = ("", -_STATE_SECONDS)
        try:
            self.version, self.warnings, self._catalogue = self._with(_CATALOGUE_SECONDS * self.patience, self._opened)
        except BaseException:
            self._pool.close()
            raise
        self._looked = time.monotonic()
        if not self._catalogue.relations:
            self._pool.close()
            raise DatabaseUnavailable(f"{self.location} holds no tables that may be read")

    def _opened(self, connection: ServerConnection) -> tuple[str, tuple[str, ...], Catalogue]:
        return connection.version, self._backend.warnings(connection), self._backend.catalogue(connection)

    def under(self, session: Session) -> ServerEngine:
        """See `Engine`."""
        return ServerEngine(self._backend.under(session), session)

    def close(self) -> None:
        """See `Engine`."""
        self._pool.close()

    def state(self) -> str:
        """See `Engine`: looked at again every few minutes."""
        with self._lock:
            state, looked = self._state
            now = time.monotonic()
            if now - looked > _STATE_SECONDS:
                state = self._with(_CATALOGUE_SECONDS * self.patience, self._backend.state)
                self._state = (state, now)
            return state

    def schema(self) -> Schema:
        """See `Engine`: read once per version of the catalogue; counts and samples are those of that time."""
        self._pool.check_open()
        with self._lock:
            catalogue = self._fresh()
            if self._schema is None or self._schema.version != catalogue.version:
                self._schema = self._with(
                    _CATALOGUE_SECONDS * self.patience,
                    lambda connection: read_schema(connection, self._backend, catalogue, self.patience),
                )
            return self._schema

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        """See `Engine`."""
        start = time.monotonic()
        statement = self._read(sql)

        def run(connection: ServerConnection) -> Table:
            cursor = connection.query(statement, limits)
            result = fetch(cursor, limits, sink)
            columns = tuple([entry[0] for entry in cursor.description])
            notes = connection.notes()
            return Table(columns, result.types, result.rows, result.truncated, time.monotonic() - start, notes=notes)

        return self._with(limits.seconds, run, cancellation)

    def query_log(self, most: int) -> tuple[str, ...]:
        """Queries that were run on this database and that the server keeps, without their constants; commonest first.

        Other people's queries that the login may not read are `UNREADABLE`.

        Raises:
            DatabaseUnavailable: It keeps none, or does not show them; the message says what to do.
        """
        read = getattr(self._backend, "query_log", None)
        if read is None:
            raise DatabaseUnavailable(f"{self.name} keeps no queries that could be read: give a file of SQL")
        return self._with(_CATALOGUE_SECONDS * self.patience, lambda connection: read(connection, most))

    def compile_check(self, sql: str, tables: Sequence[TableSchema]) -> QueryError | None:
        """See `Engine`: the server itself is asked."""
        try:
            statement = self._read(sql)
            self._with(_COMPILE_SECONDS * self.patience, lambda connection: connection.compile(statement))
        except QueryError as error:
            return error
        return None

    def estimate(self, sql: str) -> Estimate | None:
        """See `Engine`."""
        statement = self._read(sql)
        return self._with(_COMPILE_SECONDS, lambda connection: connection.estimate(statement, self._catalogue))

    def distinct_values(self, table: str, column: str, limit: int, seconds: float) -> tuple[Cell, ...]:
        """See `Engine`: where all of a table cannot be read in time, the values of its first rows."""
        relation = self._fresh().find(table)
        if relation is None:
            raise QueryFailed(f"no such table: {table}", "unknown_table")
        held = next((known.name for known in relation.columns if known.name.lower() == column.lower()), column)
        name, source = self._backend.quoted(held), self._backend.source(relation)
        kept = f"WHERE {name} IS NOT NULL LIMIT {int(limit)}"
        part = f"(SELECT {name} FROM {source} WHERE {name} IS NOT NULL LIMIT {_PART_ROWS}) AS part"
        try:
            return self._values(f"SELECT DISTINCT {name} FROM {source} {kept}", limit, seconds)
        except QueryTimeout:
            try:
                return self._values(f"SELECT DISTINCT {name} FROM {part} LIMIT {int(limit)}", limit, seconds)
            except QueryTimeout:
                return ()

    def _values(self, sql: str, limit: int, seconds: float) -> tuple[Cell, ...]:
        limits = Limits(seconds=seconds, rows=limit, result_bytes=200_000_000)
        found = self._with(seconds, lambda connection: fetch(connection.query(sql, limits), limits))
        return tuple([value for (value,) in found.rows])

    def _read(self, sql: str) -> str:
        """The statement to send; a table that was made since the catalogue was read is looked for."""
        known = self._catalogue
        try:
            return self._reader.read(sql, known)
        except QueryFailed as error:
            if error.kind != "unknown_table" or self._fresh(at_once=True) is known:
                raise
        return self._reader.read(sql, self._catalogue)

    def _fresh(self, *, at_once: bool = False) -> Catalogue:
        """The catalogue, read again where the schema has changed."""
        with self._lock:
            if at_once or time.monotonic() - self._looked > _FRESH_SECONDS:
                self._catalogue = self._with(_CATALOGUE_SECONDS * self.patience, self._refreshed)
                self._looked = time.monotonic()
            return self._catalogue

    def _refreshed(self, connection: ServerConnection) -> Catalogue:
        if self._backend.catalogue_version(connection) == self._catalogue.version:
            return self._catalogue
        return self._backend.catalogue(connection)

    def _with(
        self, seconds: float, work: Callable[[ServerConnection], R], cancellation: Cancellation | None = None
    ) -> R:
        """Does something in a read-only transaction, once more where the connection turns out to be dropped."""
        try:
            return self._once(seconds, work, cancellation)
        except ConnectionLost:
            self._pool.drop_idle()
        try:
            return self._once(seconds, work, cancellation)
        except ConnectionLost:
            raise DatabaseUnavailable(f"the connection to {self.location} was lost: is the server running?") from None

    def _once(self, seconds: float, work: Callable[[ServerConnection], R], cancellation: Cancellation | None) -> R:
        if cancellation is not None and cancellation.cancelled:
            raise QueryTimeout(_CANCELLED)
        connection = self._pool.take()
        query = RunningQuery(connection, time.monotonic() + seconds + _GRACE_SECONDS, cancellation)
        WATCHDOG.watch(query)
        try:
            connection.begin(seconds)
            return work(connection)
        except connection.errors as error:
            if query.stopped == "cancelled":
                raise QueryTimeout(_CANCELLED) from None
            failed = connection.failure(error)
            if query.stopped or isinstance(failed, QueryTimeout):
                raise QueryTimeout(
                    f"the query ran longer than {seconds:g} s: join on keys, filter earlier, or ask for less"
                ) from None
            raise failed from None
        finally:
            WATCHDOG.release(query)
            if not query.stopped:
                connection.end()
            # An interrupt that is still under way must not hit somebody else's query.
            self._pool.give(connection, usable=not query.stopped and connection.usable)
