"""Queries in this process: what a worker does, and all that can be done where the kernel bounds no process."""

from __future__ import annotations

from pathlib import Path

from ...errors import QueryError, TableLocked
from ..cancellation import Cancellation
from ..fetch import Sink
from ..session import Permissions
from ..table import Limits, Table
from .confined import Stale
from .pool import ConnectionPool
from .run_query import run_query

LIMITS_HERE = (
    "this system cannot hold a process to limits, so queries run in the caller's: a statement that compiles for long"
    " can pass its time, temporary files are not limited, and memory is limited for all queries together"
)
"""What `QueriesHere` does not hold."""


class QueriesHere:
    """Runs queries on one database under one set of permissions."""

    def __init__(self, path: Path, permissions: Permissions) -> None:
        """Opens the file.

        Raises:
            DatabaseUnavailable: It cannot be read.
            SettingsError: The permissions name what the database doesn't have.
        """
        self.pool = ConnectionPool(path, permissions)

    def execute(self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None) -> Table:
        """See `Engine.execute`."""
        self.pool.limit_heap(limits.memory_bytes)
        connection = self.pool.take()
        try:
            return run_query(connection, sql, limits, cancellation, sink)
        except Stale:
            self.pool.catalogue()
        except TableLocked:
            raise  # nor could the names be read
        except QueryError:
            # A table made, or a virtual table touched, by another program since the connection was set up.
            if connection.catalogue is self.pool.catalogue():
                raise
        finally:
            self.pool.give(connection)
        return self.execute(sql, limits, cancellation, sink)
