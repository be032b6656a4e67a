"""The engine of servers: pooled connections, read-only transactions, limits, schemas."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from queue import Empty, LifoQueue
from typing import TypeVar

from ...errors import (
    DatabaseUnavailable,
    NothingReadable,
    QueryError,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    SettingsError,
    TableLocked,
)
from ..estimate import Estimate
from ..fetch import Sink
from ..profile import ConnectionLost
from ..schema import Schema, TableSchema
from ..schema_cache import SchemaCache
from ..session import Session
from ..table import Limits, Table
from ..watchdog import WATCHDOG, Cancellation, RunningQuery, raise_if_cancelled
from .catalogue import Catalogue
from .connection import Backend, ServerConnection
from .profiler import read_schema
from .statement_check import StatementChecker

# Idle connections kept open; more are opened when more queries run at once, so that none waits for another.
_IDLE_CONNECTIONS = 4
# How long what was read of the catalogue is believed; a name that is not known is looked for at once.
_FRESH_SECONDS = 5.0
# How long what `state` told is believed: on a busy server it differs at every look, and an index is built for each.
_STATE_SECONDS = 300.0
_CATALOGUE_SECONDS = 30.0
_COMPILE_SECONDS = 1.0
# What the server's own time limit is given before the query is ended from outside.
_GRACE_SECONDS = 0.5
# Errors that a catalogue which is out of date may be the reason of.
_STALE = ("unknown_table", "unknown_column", "rejected")
UNREADABLE = "<insufficient privilege>"
"""What PostgreSQL shows in the place of a query."""


R = TypeVar("R")


class ServerEngine:
    """A database of a server under one session, as an `Engine`.

    Attributes:
        warnings: What the login may do that it should not, and how to make one that may not.
    """

    def __init__(self, backend: Backend, session: Session) -> None:
        if session.policy.permissions and not backend.keeps_permissions:
            raise SettingsError(
                f"allow and deny lists cannot be used on {backend.name}: instead, grant the login SELECT on the tables"
                " or columns that it may read"
            )
        self._backend = backend
        self.name = backend.name
        self.dialect = backend.dialect
        self.database = backend.database
        self.location = backend.location
        self._reader = StatementChecker(backend.grammar)
        self._idle = LifoQueue[ServerConnection]()
        self._closed = False
        self._lock = threading.RLock()
        self._schemas = SchemaCache(self.state)
        self._state = ("", -_STATE_SECONDS)
        self._seconds = _CATALOGUE_SECONDS * backend.patience
        try:
            self.version, self.warnings, self._catalogue = self._run_transaction(
                self._seconds,
                lambda connection: (
                    connection.read_version(),
                    backend.warnings(connection),
                    backend.catalogue(connection),
                ),
            )
            if not self._catalogue.relations:
                raise NothingReadable(f"{self.location} has no tables that you may read")
        except BaseException:
            self.close()
            raise
        self._refreshed_at = time.monotonic()

    @property
    def ruled_tables(self) -> frozenset[str]:
        """The tables and views whose rows depend on who asks, by the server's rules."""
        return frozenset(relation.shown_name for relation in self._catalogue.relations if relation.ruled)

    @property
    def personal_tables(self) -> frozenset[str]:
        """The tables whose row rules ask for a person that the connection does not name."""
        return frozenset(relation.shown_name for relation in self._catalogue.relations if relation.personal)

    def with_session(self, session: Session) -> ServerEngine:
        return type(self)(self._backend.with_session(session), session)

    def close(self) -> None:
        self._closed = True
        self._close_idle_connections()

    def state(self) -> str:
        with self._lock:
            state, read_time = self._state
            now = time.monotonic()
            if now - read_time > _STATE_SECONDS:
                state = self._run_transaction(self._seconds, self._backend.state)
                self._state = (state, now)
            return state

    def schema(self) -> Schema:
        # Read once per version of the catalogue, and again where the contents have changed since.
        self._raise_if_closed()
        catalogue = self._refresh_catalogue()

        def read_current_schema(is_refresh: bool) -> Schema:
            def read_schema_on_connection(connection: ServerConnection) -> Schema:
                # The server's own estimates of rows are in the catalogue.
                current = self._backend.catalogue(connection) if is_refresh else catalogue
                return read_schema(connection, self._backend, current)

            return self._run_transaction(self._seconds, read_schema_on_connection)

        return self._schemas.get(catalogue, read_current_schema)

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        start = time.monotonic()

        def fetch_result_table(connection: ServerConnection, statement: str) -> Table:
            return connection.fetch(statement, limits, sink, start)

        try:
            return self._run_checked_statement(sql, limits.seconds, fetch_result_table, cancellation)
        except TableLocked:
            names = self._reader.list_tables(sql, self._catalogue)
            tables = f"the table {names[0]}" if len(names) == 1 else f"one of the tables {', '.join(names)}"
            raise TableLocked(f"{tables} is locked by another program: try again later") from None

    def read_query_log(self, limit: int) -> tuple[str, ...]:
        """Return the queries logged by the server, without constants, the most frequent first.

        Other people's queries that the login may not read are `UNREADABLE`.

        Raises:
            DatabaseUnavailable: It keeps none, or does not show them; the message says what to do.
        """
        return self._run_transaction(self._seconds, lambda connection: self._backend.read_query_log(connection, limit))

    def translate(self, sql: str) -> str:
        return self._reader.translate(sql)

    def compile_check(self, sql: str, tables: Sequence[TableSchema]) -> QueryError | None:
        seconds = _COMPILE_SECONDS * self._backend.patience
        try:
            self._run_checked_statement(sql, seconds, lambda connection, statement: connection.compile(statement))
        except QueryError as error:
            return error
        return None

    def estimate(self, sql: str) -> Estimate | None:
        return self._run_checked_statement(
            sql, _COMPILE_SECONDS, lambda connection, statement: connection.estimate(statement)
        )

    def _run_checked_statement(
        self,
        sql: str,
        seconds: float,
        work: Callable[[ServerConnection, str], R],
        cancellation: Cancellation | None = None,
    ) -> R:
        """Run `work` on a checked statement, and again if the schema has changed meanwhile.

        What is hidden takes the same way, as many requests long, as what is not there.
        """

        def check_and_run_statement() -> R:
            statement = self._reader.rewrite(sql, self._catalogue)
            self._backend.check_text(statement)
            return self._run_transaction(seconds, lambda connection: work(connection, statement), cancellation)

        catalogue = self._catalogue
        try:
            return check_and_run_statement()
        except (QueryFailed, QueryRejected) as error:
            if error.kind not in _STALE or self._refresh_catalogue(at_once=True) is catalogue:
                raise
        return check_and_run_statement()

    def _refresh_catalogue(self, *, at_once: bool = False) -> Catalogue:
        """Return the catalogue, read again if the schema has changed."""

        def read_catalogue_if_changed(connection: ServerConnection) -> Catalogue:
            version = self._backend.catalogue_version(connection)
            return self._catalogue if version == self._catalogue.version else self._backend.catalogue(connection)

        with self._lock:
            if at_once or time.monotonic() - self._refreshed_at > _FRESH_SECONDS:
                self._catalogue = self._run_transaction(self._seconds, read_catalogue_if_changed)
                self._refreshed_at = time.monotonic()
            return self._catalogue

    def _run_transaction(
        self, seconds: float, work: Callable[[ServerConnection], R], cancellation: Cancellation | None = None
    ) -> R:
        """Run `work` in a read-only transaction, and again if the connection was lost."""
        for _ in range(2):
            try:
                return self._run_once(seconds, work, cancellation)
            except ConnectionLost:
                # The others are likely to be dropped too.
                self._close_idle_connections()
        raise DatabaseUnavailable(f"the connection to {self.location} was lost: is the server running?")

    def _run_once(self, seconds: float, work: Callable[[ServerConnection], R], cancellation: Cancellation | None) -> R:
        raise_if_cancelled(cancellation)
        connection = self._take_connection()
        query = RunningQuery(connection.interrupt, time.monotonic() + seconds + _GRACE_SECONDS, cancellation)
        try:
            with WATCHDOG.watch(query):
                connection.begin(seconds)
                return work(connection)
        except connection.errors as error:
            cause = connection.make_error(error)
            raise query.make_timeout(seconds) if query.outcome or isinstance(cause, QueryTimeout) else cause from None
        finally:
            if not query.outcome:
                connection.end()
            # An interrupt that is still under way must not hit somebody else's query.
            self._return_connection(connection, usable=not query.outcome and connection.is_usable)

    def _raise_if_closed(self) -> None:
        if self._closed:
            raise DatabaseUnavailable("the database was closed: open it again")

    def _take_connection(self) -> ServerConnection:
        """Return a connection for one task."""
        self._raise_if_closed()
        with suppress(Empty):
            return self._idle.get_nowait()
        return self._backend.connect()

    def _return_connection(self, connection: ServerConnection, *, usable: bool) -> None:
        """Keep a connection for the next task, or close it."""
        if usable and self._idle.qsize() < _IDLE_CONNECTIONS:
            self._idle.put(connection)
        else:
            connection.close()
        if self._closed:
            self._close_idle_connections()

    def _close_idle_connections(self) -> None:
        with suppress(Empty):
            while True:
                self._idle.get_nowait().close()
