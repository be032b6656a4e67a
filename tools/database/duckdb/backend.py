"""DuckDB as a `Backend`: instances made anew when the files change."""

from __future__ import annotations

import threading

from ..quoting import quoted
from ..server.catalogue import Catalogue, Relation
from ..server.connection import ServerConnection
from ..session import Session
from .connection import DuckDBConnection
from .grammar import GRAMMAR
from .instance import Contents, Instance

_CUT = 1_000


class DuckDBBackend:
    """See `Backend`."""

    name = "DuckDB"
    dialect = "duckdb"
    grammar = GRAMMAR

    def __init__(self, database: str, location: str, contents: Contents, session: Session) -> None:
        """Opens the files.

        Args:
            database: The short name.
            location: As `Engine.location`.
            contents: What it holds.
            session: Who asks under which policy.

        Raises:
            DatabaseUnavailable: They cannot be read, or nothing may be seen.
            SettingsError: The session's permissions name what is not there.
        """
        self.database = database
        self.location = location
        self._contents = contents
        self._session = session
        self._lock = threading.RLock()
        self._thorough = False
        self._instance: Instance | None = None
        self.instance()

    def instance(self) -> Instance:
        """The instance that shows what the files hold now."""
        with self._lock:
            if self._instance is None or self._instance.state != self._contents.state():
                permissions = self._session.policy.permissions
                self._instance = Instance(self._contents, permissions, thorough=self._thorough)
            return self._instance

    def close(self) -> None:
        """Lets the files go."""
        with self._lock:
            if self._instance is not None:
                self._instance.close()
            self._instance = None

    def state_of_contents(self) -> str:
        """As `Engine.state`."""
        return self._contents.state()

    def under(self, session: Session) -> DuckDBBackend:
        """See `Backend`."""
        return DuckDBBackend(self.database, self.location, self._contents, session)

    def connect(self) -> DuckDBConnection:
        """See `Backend`."""
        return DuckDBConnection(self.instance(), self._is_current, self._reread)

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        """See `Backend`."""
        del connection
        return self.instance().catalogue

    def catalogue_version(self, connection: ServerConnection) -> str:
        """See `Backend`."""
        return self.catalogue(connection).version

    def state(self, connection: ServerConnection) -> str:
        """See `Backend`."""
        del connection
        return self.state_of_contents()

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        """See `Backend`: files are open for reading only, but some may have been meant otherwise than they are read."""
        del connection
        return self.instance().remarks

    def quoted(self, name: str) -> str:
        """See `Backend`."""
        return quoted(name)

    def source(self, relation: Relation) -> str:
        """See `Backend`."""
        return f"{quoted(relation.schema)}.{quoted(relation.name)}"

    def sample(self, relation: Relation, rows: int) -> str:
        """See `Backend`."""
        listed = ", ".join(
            f"left({quoted(column.name)}, {_CUT})" if column.type == "VARCHAR" else quoted(column.name)
            for column in relation.columns
        )
        return f"SELECT {listed} FROM {self.source(relation)} LIMIT {int(rows)}"

    def _is_current(self, instance: Instance) -> bool:
        return self.instance() is instance

    def _reread(self) -> bool:
        with self._lock:
            if self._thorough or self._contents.sources is None or self._contents.sources.database is not None:
                return False
            self._thorough = True
            self._instance = None
            return True
