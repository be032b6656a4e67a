"""Where conversations are kept: an SQLite file for the workers of one machine, or PostgreSQL for several."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..agent.cli.conversations import own_file
from ..tools.errors import SettingsError
from ..tools.folders import data_folder
from .store import TABLES

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_BUSY_SECONDS = 10.0
_CONNECTIONS = 8
_SCHEMES = ("postgresql://", "postgres://")


@dataclass(frozen=True)
class Place:
    """Where LangGraph's checkpoints and the store's tables lie, side by side.

    Attributes:
        location: A file's absolute path, or a URL of PostgreSQL.
    """

    location: str

    @classmethod
    def of(cls, given: str | None, db: str) -> Place:
        """The place that `--checkpoints` names; a file in the data folder by default.

        Raises:
            SettingsError: It cannot be used.
        """
        if given is None:
            given = str(data_folder() / "serve.sqlite")
        if given.startswith(_SCHEMES):
            return cls("postgresql://" + given.partition("://")[2])
        if "://" in given:
            raise SettingsError("--checkpoints takes a file, or a database as postgresql://...")
        return cls(str(own_file(Path(given), db, TABLES)))

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

    @asynccontextmanager
    async def checkpointer(self) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
        """LangGraph's checkpointer there, for this event loop."""
        if self.on_server:
            async with _on_postgres(self.location) as saver:
                yield saver
            return
        import aiosqlite
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver

        async with aiosqlite.connect(self.location, timeout=_BUSY_SECONDS) as connection:
            saver = AsyncSqliteSaver(connection)
            await saver.setup()
            yield saver


@asynccontextmanager
async def _on_postgres(url: str) -> AsyncGenerator[BaseCheckpointSaver[Any]]:
    try:
        from langgraph.checkpoint.postgres.aio import AsyncPostgresSaver
        from psycopg.rows import dict_row
        from psycopg_pool import AsyncConnectionPool
    except ImportError as error:
        raise SettingsError(f"conversations in PostgreSQL need {error.name}: pip install 'tableturn[serve]'") from None
    own: dict[str, Any] = {"autocommit": True, "prepare_threshold": 0, "row_factory": dict_row}
    async with AsyncConnectionPool(url, kwargs=own, min_size=1, max_size=_CONNECTIONS, open=False) as pool:
        saver = AsyncPostgresSaver(pool)  # pyright: ignore[reportArgumentType] - rows are dictionaries by `own`
        await saver.setup()
        yield saver
