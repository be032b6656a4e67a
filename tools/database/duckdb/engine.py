"""DuckDB as an `Engine`: its own files, files of tables, and data frames."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...forkserver import available
from ..fetch import Sink
from ..schema import ColumnSchema
from ..server.catalogue import Catalogue
from ..server.connection import Backend, ServerConnection
from ..server.engine import ServerEngine
from ..session import Session
from ..table import Cell, Limits, Table
from ..watchdog import Cancellation
from .connection import DuckDBConnection
from .grammar import GRAMMAR
from .snapshot import Contents, Snapshot
from .sources import sources

if TYPE_CHECKING:
    import pandas

_PART_ROWS = 200_000
_LIMITS_HERE = (
    "this system cannot hold a process to limits, so queries run in the caller's: the memory that one step takes"
    " is not limited"
)


class DuckDBBackend(Backend):
    """Files of tables, DuckDB's own files, or data frames."""

    name = "DuckDB"
    dialect = "duckdb"
    grammar = GRAMMAR
    keeps_permissions = True

    def __init__(self, database: str, location: str, contents: Contents, session: Session) -> None:
        self.database = database
        self.location = location
        self._contents = contents
        self._session = session
        self._lock = threading.RLock()
        self._thorough = False
        self._snapshot: Snapshot | None = None
        self.snapshot()

    def snapshot(self) -> Snapshot:
        """What the files hold now."""
        with self._lock:
            if self._snapshot is None or self._snapshot.state != self._contents.state():
                permissions = self._session.policy.permissions
                self._snapshot = Snapshot(self._contents, permissions, thorough=self._thorough)
            return self._snapshot

    def close(self) -> None:
        """Lets the files go."""
        with self._lock:
            if self._snapshot is not None:
                self._snapshot.close()
            self._snapshot = None

    def state_of_contents(self) -> str:
        """As `Engine.state`."""
        return self._contents.state()

    def under(self, session: Session) -> DuckDBBackend:
        return DuckDBBackend(self.database, self.location, self._contents, session)

    def connect(self) -> DuckDBConnection:
        return DuckDBConnection(self.snapshot(), self._is_current, self._reread)

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        del connection
        return self.snapshot().about.catalogue

    def catalogue_version(self, connection: ServerConnection) -> str:
        return self.catalogue(connection).version

    def state(self, connection: ServerConnection) -> str:
        del connection
        return self.state_of_contents()

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        # Files are open for reading only, but some may have been meant otherwise than they are read.
        del connection
        return self.snapshot().about.remarks

    def cut(self, column: ColumnSchema) -> str:
        return super().cut(column) if column.type == "VARCHAR" else self.quoted(column.name)

    def _is_current(self, snapshot: Snapshot) -> bool:
        return self.snapshot() is snapshot

    def _reread(self) -> bool:
        with self._lock:
            if self._thorough or self._contents.sources is None or self._contents.sources.database is not None:
                return False
            self._thorough = True
            self._snapshot = None
            return True


class DuckDBEngine(ServerEngine):
    """One DuckDB file, some files of tables, or data frames, under one session; see `Engine`."""

    rows_by_person = False
    limits_note = "" if available() else _LIMITS_HERE

    def __init__(self, backend: DuckDBBackend, session: Session) -> None:
        """See `ServerEngine`."""
        super().__init__(backend, session)
        self._duckdb = backend

    def close(self) -> None:
        """See `Engine`."""
        super().close()
        self._duckdb.close()

    def state(self) -> str:
        """See `Engine`: the files' sizes and times, or what is in the frames."""
        self._pool.check_open()
        return self._duckdb.state_of_contents()

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        """See `Engine`."""

        def run(connection: ServerConnection, statement: str) -> Table:
            assert isinstance(connection, DuckDBConnection)
            return connection.table(statement, limits, sink)

        return self._read_with(sql, limits.seconds, run, cancellation)

    def distinct_values(self, table: str, column: str, limit: int, seconds: float) -> tuple[Cell, ...]:
        """See `Engine`: of a large file that has to be taken apart, the values of its first rows."""
        relation = self._fresh().find(table)
        if relation is None or relation.shown not in self._duckdb.snapshot().about.slow:
            return super().distinct_values(table, column, limit, seconds)
        name, source = self._duckdb.quoted(column), self._duckdb.source(relation)
        part = f"(SELECT {name} FROM {source} LIMIT {_PART_ROWS}) AS part"
        return self._values(
            f"SELECT DISTINCT {name} FROM {part} WHERE {name} IS NOT NULL LIMIT {int(limit)}", limit, seconds
        )


def open_files(url: str, session: Session) -> DuckDBEngine:
    """Opens what a path, a pattern or a URL names."""
    found = sources(url)
    return DuckDBEngine(DuckDBBackend(found.name, found.location, Contents(found), session), session)


def open_frames(frames: Mapping[str, pandas.DataFrame], session: Session) -> DuckDBEngine:
    """Opens data frames, as they are now, as the tables of a database."""
    from .tables import fingerprint

    state = fingerprint(frames)
    contents = Contents(frames=dict(frames), state_of_frames=state)
    name = next(iter(frames)) if len(frames) == 1 else "frames"
    return DuckDBEngine(DuckDBBackend(name, f"frames:{state}", contents, session), session)
