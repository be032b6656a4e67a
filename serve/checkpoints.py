"""Where conversations are kept: an SQLite file for the workers of one machine, or PostgreSQL for several."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..agent.conversation_files import make_private_file
from ..tools.errors import SettingsError
from ..tools.folders import data_folder
from .store import StoreError
from .tables import TABLES

if TYPE_CHECKING:
    from aiosqlite import Connection
    from langgraph.checkpoint.base import BaseCheckpointSaver

_BUSY_SECONDS = 10.0
_CONNECT_SECONDS = 10
_CONNECTIONS = 8
_SET_UP = 7_282_254  # the number of the lock under which LangGraph's tables are made
_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class Place:
    """Where LangGraph's checkpoints and the store's tables lie, side by side."""

    location: str  # a file's absolute path, or a URL of PostgreSQL

    @classmethod
    def of(cls, given: str | None, db: str) -> Place:
        """Return the place that `--checkpoints` names; a file in the data folder by default."""
        if given is None:
            given = str(data_folder() / "serve.sqlite")
        if given.startswith(_SCHEMES):
            return cls("postgresql://" + given.partition("://")[2])
        if "://" in given:
            raise SettingsError("--checkpoints takes a file, or a database as postgresql://...")
        return cls(str(make_private_file(Path(given), db, TABLES)))

    @property
    def on_server(self) -> bool:
        """Whether it is PostgreSQL."""
        return self.location.startswith(_SCHEMES)

    @property
    def url(self) -> str:
        """SQLAlchemy's URL of it."""
        if self.on_server:
            return self.location.replace("postgresql://", "postgresql+psycopg://", 1)
        return f"sqlite:///{self.location}"

    async def check(self) -> None:
        """Check that it can be used, before workers are started that would all find out."""
        if self.on_server:
            await _set_up(self.location)

    @asynccontextmanager
    async def checkpointer(self) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
        """LangGraph's checkpointer there, for this event loop."""
        if self.on_server:
            await _set_up(self.location)
            from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
            from psycopg import Error
            from psycopg.rows import dict_row
            from psycopg_pool import AsyncConnectionPool

            own: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
            check = AsyncConnectionPool.check_connection  # after a restart of the server all are dead
            async with AsyncConnectionPool(
                self.location, kwargs=own, min_size=1, max_size=_CONNECTIONS, open=False, check=check
            ) as pool:
                saver = AsyncPostgresSaver(pool)  # pyright: ignore[reportArgumentType] - rows are dictionaries by `own`
                _tell(saver, Error)
                yield saver
            return
        import aiosqlite
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        async with aiosqlite.connect(self.location, timeout=_BUSY_SECONDS) as connection:
            await connection.execute("PRAGMA secure_delete = ON")
            saver = AsyncSqliteSaver(connection)
            saver.lock = _TransactionLock(connection)
            _tell(saver, sqlite3.Error)
            await saver.setup()
            yield saver


class _TransactionLock(asyncio.Lock):
    """The lock under which a checkpointer writes; what fails or is cancelled under it is rolled back."""

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


async def _set_up(url: str) -> None:
    """Make LangGraph's tables; of several workers that begin, one after another."""
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
                found = await connection.execute("SELECT pg_try_advisory_lock(%s) AS locked", (_SET_UP,))
                if (row := await found.fetchone()) and row["locked"]:  # which goes with the connection
                    break
                await asyncio.sleep(0.1)
            await AsyncPostgresSaver(connection).setup()
    except psycopg.Error as error:
        reason = " ".join(str(error).split())
        raise StoreError(f"conversations cannot be kept in the database of --checkpoints: {reason}") from None


def _tell(saver: BaseCheckpointSaver[Any], kind: type[Exception]) -> None:
    """Have a checkpointer's failures told as ours: a locked database, a full disk, a server that is gone."""

    def told(method: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        @wraps(method)
        async def called(*args: Any, **more: Any) -> Any:
            try:
                return await method(*args, **more)
            except kind as error:
                raise StoreError(f"conversations cannot be kept or read at the moment: {error}") from None

        return called

    for name in ("setup", "aget_tuple", "aput", "aput_writes", "adelete_thread"):
        setattr(saver, name, told(getattr(saver, name)))
