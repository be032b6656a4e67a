"""DuckDB as a `Backend`: instances made anew when the files change."""

from __future__ import annotations

import threading

from ..schema import ColumnSchema
from ..server.catalogue import Catalogue
from ..server.connection import Backend, ServerConnection
from ..session import Session
from .connection import DuckDBConnection
from .grammar import GRAMMAR
from .instance import Contents, Instance


class DuckDBBackend(Backend):
    """Files of tables, DuckDB's own files, or data frames."""

    name = "DuckDB"
    dialect = "duckdb"
    grammar = GRAMMAR
    keeps_permissions = True

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
        return DuckDBBackend(self.database, self.location, self._contents, session)

    def connect(self) -> DuckDBConnection:
        return DuckDBConnection(self.instance(), self._is_current, self._reread)

    def catalogue(self, connection: ServerConnection) -> Catalogue:
        del connection
        return self.instance().catalogue

    def catalogue_version(self, connection: ServerConnection) -> str:
        return self.catalogue(connection).version

    def state(self, connection: ServerConnection) -> str:
        del connection
        return self.state_of_contents()

    def warnings(self, connection: ServerConnection) -> tuple[str, ...]:
        # Files are open for reading only, but some may have been meant otherwise than they are read.
        del connection
        return self.instance().remarks

    def cut(self, column: ColumnSchema) -> str:
        return super().cut(column) if column.type == "VARCHAR" else self.quoted(column.name)

    def _is_current(self, instance: Instance) -> bool:
        return self.instance() is instance

    def _reread(self) -> bool:
        with self._lock:
            if self._thorough or self._contents.sources is None or self._contents.sources.database is not None:
                return False
            self._thorough = True
            self._instance = None
            return True
