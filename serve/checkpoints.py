"""The storage of conversations: an SQLite file, or PostgreSQL for several machines."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..agent.conversation_files import create_conversation_file
from ..tools.errors import SettingsError
from ..tools.folders import data_folder
from .store import UNREACHABLE, StoreError

if TYPE_CHECKING:
    from aiosqlite import Connection
    from langgraph.checkpoint.base import BaseCheckpointSaver

_BUSY_SECONDS = 10.0
_CONNECT_SECONDS = 10
_CONNECTIONS = 8
_SET_UP = 7_282_254  # the number of the lock under which LangGraph's tables are made
_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class StorageLocation:
    """The location of LangGraph's checkpoints and of the store's tables."""

    location: str  # a file's absolute path, or a URL of PostgreSQL

    @classmethod
    def of(cls, location: str | None, db: str) -> StorageLocation:
        """Return the location that `--checkpoints` names; by default a file in the data folder."""
        if location is None:
            location = str(data_folder() / "serve.sqlite")
        if location.startswith(_SCHEMES):
            return cls("postgresql://" + location.partition("://")[2])
        if "://" in location:
            raise SettingsError("--checkpoints takes a file, or a database as postgresql://...")
        return cls(str(create_conversation_file(Path(location), db)))

    @property
    def is_on_postgres(self) -> bool:
        """Whether the location is a PostgreSQL server."""
        return self.location.startswith(_SCHEMES)

    @property
    def url(self) -> str:
        """The location as a URL for SQLAlchemy."""
        if self.is_on_postgres:
            return self.location.replace("postgresql://", "postgresql+psycopg://", 1)
        return f"sqlite:///{self.location}"

    async def check(self) -> None:
        """Connect to a PostgreSQL location and create its tables, before workers start."""
        if self.is_on_postgres:
            await _create_checkpoint_tables(self.location)

    @asynccontextmanager
    async def open_checkpointer(self) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
        """Open LangGraph's checkpointer for this event loop."""
        if self.is_on_postgres:
            await _create_checkpoint_tables(self.location)
            from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
            from psycopg import Error
            from psycopg.rows import dict_row
            from psycopg_pool import AsyncConnectionPool

            options: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
            check = AsyncConnectionPool.check_connection  # after a restart of the server all are dead
            async with AsyncConnectionPool(
                self.location, kwargs=options, min_size=1, max_size=_CONNECTIONS, open=False, check=check
            ) as pool:
                saver = AsyncPostgresSaver(pool)  # pyright: ignore[reportArgumentType] - `options` make rows dictionaries
                _convert_database_errors(saver, Error)
                yield saver
            return
        import aiosqlite
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        async with aiosqlite.connect(self.location, timeout=_BUSY_SECONDS) as connection:
            await connection.execute("PRAGMA secure_delete = ON")
            saver = AsyncSqliteSaver(connection)
            saver.lock = _TransactionLock(connection)
            _convert_database_errors(saver, sqlite3.Error)
            await saver.setup()
            yield saver


class _TransactionLock(asyncio.Lock):
    """A checkpointer's write lock, which rolls back failed or cancelled writes."""

    def __init__(self, connection: Connection) -> None:
        super().__init__()
        self._connection = connection

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        try:
            if error is not None:
                # A transaction left open keeps the state that it began with, over which nobody can write any more.
                await self._connection.rollback()
        finally:
            self.release()


async def _create_checkpoint_tables(url: str) -> None:
    """Create LangGraph's tables in PostgreSQL, one worker at a time."""
    try:
        import psycopg
        import psycopg_pool  # noqa: F401  # pyright: ignore[reportUnusedImport] - told here, once, if it is missing
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import DictRow, dict_row
    except ImportError as error:
        raise SettingsError(f"conversations in PostgreSQL need {error.name}: pip install 'tableturn[serve]'") from None
    try:
        connecting = psycopg.AsyncConnection[DictRow].connect(
            url, autocommit=True, prepare_threshold=0, row_factory=dict_row, connect_timeout=_CONNECT_SECONDS
        )
        async with await connecting as connection:
            # Asked for again and again, not waited for: whoever waits for a lock holds up an index that is being built
            # concurrently, and that holds the lock.
            while True:
                cursor = await connection.execute("SELECT pg_try_advisory_lock(%s) AS locked", (_SET_UP,))
                if (row := await cursor.fetchone()) and row["locked"]:  # which goes with the connection
                    break
                await asyncio.sleep(0.1)
            await AsyncPostgresSaver(connection).setup()
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        raise StoreError(f"conversations cannot be stored in the database of --checkpoints: {reason}") from None


def _convert_database_errors(saver: BaseCheckpointSaver[Any], kind: type[Exception]) -> None:
    """Make a checkpointer raise `StoreError` if its database raises an error."""

    def wrap_method(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(method)
        async def call_method(*args: Any, **kwargs: Any) -> Any:
            try:
                return await method(*args, **kwargs)
            except kind as error:
                raise StoreError(f"{UNREACHABLE}: {error}") from None

        return call_method

    for name in ("setup", "aget_tuple", "aput", "aput_writes", "adelete_thread"):
        setattr(saver, name, wrap_method(getattr(saver, name)))
