"""The server's storage of conversations: its checkpointer within an event loop, and its address for SQLAlchemy."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any

from ..agent.conversation_store import ConversationStore, StoreError
from .store import UNREACHABLE

if TYPE_CHECKING:
    from aiosqlite import Connection
    from langgraph.checkpoint.base import BaseCheckpointSaver

_BUSY_SECONDS = 10.0
_CONNECTIONS = 8


class StorageLocation(ConversationStore):
    """The location of LangGraph's checkpoints and of the store's tables."""

    default_file = "serve.sqlite"

    @property
    def url(self) -> str:
        """The location as a URL for SQLAlchemy."""
        if self.is_on_postgres:
            return self.location.replace("postgresql://", "postgresql+psycopg://", 1)
        return f"sqlite:///{self.location}"

    @asynccontextmanager
    async def open_checkpointer(self) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
        """Open LangGraph's checkpointer for this event loop."""
        await asyncio.to_thread(self.set_up)
        if self.is_on_postgres:
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
