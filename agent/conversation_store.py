"""The storage of conversations at the terminal and the server: an SQLite file, or PostgreSQL for several machines."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import sqlite3
import time
from collections.abc import Generator, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar, Self

from ..tools.errors import SettingsError, TableturnError
from ..tools.folders import data_folder, make_private_file

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver
    from psycopg import Connection

_CHECKPOINT_TABLES = {"checkpoints", "writes"}  # what LangGraph's SQLite checkpointer makes
_SERVER_TABLE = "tableturn_threads"  # one of the server's; the names of all of them begin so
_SIDECARS = ("-wal", "-shm", "-journal", ".wal")  # how the files end that SQLite and DuckDB keep beside a database

_SCHEME = re.compile(r"^\w+:///?")
_HEADER = b"SQLite format 3\x00"
_POSTGRES = ("postgresql://", "postgres://")
_SET_UP = 7_282_254  # the number of the lock under which LangGraph's tables are made


class StoreError(TableturnError):
    """A question or an answer cannot be stored, or cannot be read from the store.

    What to do: check that the file or database of `--checkpoints` can be reached and is not full.
    """


@dataclass(frozen=True)
class ConversationStore:
    """The place where LangGraph's checkpoints are stored."""

    location: str  # a file's absolute path, or a URL of PostgreSQL
    default_file: ClassVar[str] = "conversations.sqlite"

    @classmethod
    def of(cls, location: str | None, db: str = "") -> Self:
        """Return the store that `--checkpoints` names; by default a file in the data folder.

        A file with other contents, such as the database `db`, is refused.
        """
        location = location or str(data_folder() / cls.default_file)
        if location.startswith(_POSTGRES):
            return cls("postgresql://" + location.partition("://")[2])
        if "://" in location:
            raise SettingsError("--checkpoints takes a file, or a database as postgresql://...")
        # An absolute path is never read as a URI, which could name another file than the one that is looked into.
        path = Path(location).absolute()
        with _report_storage_errors(str(path)):
            _check_conversation_file(path)
        if Path(_SCHEME.sub("", db)).absolute() == path:
            raise SettingsError(f"{path} is the database itself: name another file with --checkpoints")
        return cls(str(path))

    @property
    def is_on_postgres(self) -> bool:
        """Whether the location is a PostgreSQL server."""
        return self.location.startswith(_POSTGRES)

    def set_up(self) -> None:
        """Create what is missing: a file that is private to its owner, or LangGraph's tables on the server."""
        if not self.is_on_postgres:
            with _report_storage_errors(self.location):
                make_private_file(Path(self.location))
            return
        with self._connect() as connection:
            from langgraph.checkpoint.postgres import PostgresSaver

            # Asked for again and again, not waited for: whoever waits for a lock holds up an index that is being built
            # concurrently, and that holds the lock.
            while not _try_advisory_lock(connection, _SET_UP):  # which goes with the connection
                time.sleep(0.1)
            PostgresSaver(connection).setup()

    @contextmanager
    def open(self) -> Generator[BaseCheckpointSaver[Any]]:
        """Open LangGraph's checkpointer, blocking."""
        self.set_up()
        if self.is_on_postgres:
            with self._connect() as connection:
                from langgraph.checkpoint.postgres import PostgresSaver

                yield PostgresSaver(connection)
            return
        from langgraph.checkpoint.sqlite import SqliteSaver

        with _report_storage_errors(self.location), SqliteSaver.from_conn_string(self.location) as saver:
            saver.setup()
            yield saver

    @contextmanager
    def _connect(self) -> Generator[Connection[dict[str, Any]]]:
        try:
            import_module("langgraph.checkpoint.postgres")  # told here if it is missing
            import psycopg
            from psycopg.rows import dict_row
        except ImportError as error:
            raise SettingsError(
                f"conversations in PostgreSQL need {error.name}: pip install 'tableturn[serve]'"
            ) from None
        connect = psycopg.Connection[dict[str, Any]].connect
        try:
            with connect(
                self.location, autocommit=True, prepare_threshold=0, connect_timeout=10, row_factory=dict_row
            ) as connection:
                yield connection
        except psycopg.Error as error:
            reason = " ".join(str(error).split())
            raise StoreError(f"conversations cannot be stored in the database of --checkpoints: {reason}") from None

    @contextmanager
    def lock(self, thread: str, database: str) -> Generator[str]:
        """Lock a conversation about a database, so that no other chat changes it; yield the checkpointer's name for it.

        The lock is a number of the server's, or a byte of one file for all conversations; it ends with the process.
        """
        name = f"{thread}@{database}"
        number = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7])
        with ExitStack() as stack:
            if self.is_on_postgres:
                is_free = _try_advisory_lock(stack.enter_context(self._connect()), number)
            else:
                with _report_storage_errors(self.location):
                    descriptor = os.open(f"{self.location}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
                    is_free = _try_byte_lock(stack.enter_context(os.fdopen(descriptor, "r+b", buffering=0)), number)
            if not is_free:
                raise SettingsError(
                    f"the conversation {thread!r} is in use by another chat: close it, or choose another name with "
                    "--thread"
                )
            yield name

    def list_chats(self, database: str) -> dict[str, datetime]:
        """Return the saved conversations about a database with the times of their last turns, the last used first."""
        query = "SELECT thread_id, max(checkpoint_id) FROM checkpoints GROUP BY thread_id ORDER BY 2 DESC"
        if self.is_on_postgres:
            with self._connect() as server:
                rows = [tuple(row.values()) for row in server.execute(query)]
        elif not os.path.exists(self.location):
            return {}
        else:
            try:
                with _open_read_only(Path(self.location)) as connection:
                    rows = connection.execute(query).fetchall()
            except sqlite3.Error as error:
                raise SettingsError(f"cannot read the conversations in {self.location}: {error}") from None
        end = f"@{database}"
        return {name.removesuffix(end): _read_uuid_time(last) for name, last in rows if name.endswith(end)}


def _read_uuid_time(text: str) -> datetime:
    """Return the time with which a UUID of version 6 begins, in 100 ns since 1582."""
    digits = text.replace("-", "")
    offset = timedelta(microseconds=int(digits[:12] + digits[13:16], 16) // 10)
    return datetime(1582, 10, 15, tzinfo=UTC).astimezone() + offset


def _try_advisory_lock(connection: Connection[dict[str, Any]], number: int) -> bool:
    """Lock a number of a PostgreSQL server until the connection ends; return whether it was free."""
    query = "SELECT pg_try_advisory_lock(%s) AS locked"
    return connection.execute(query, (number,)).fetchall()[0]["locked"]


def _try_byte_lock(file: IO[bytes], offset: int) -> bool:
    """Lock a byte of a file until it is closed; return whether it was free."""
    try:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, offset)
    except (BlockingIOError, PermissionError):
        return False
    return True


@contextmanager
def _report_storage_errors(place: str) -> Generator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise SettingsError(
            f"cannot store conversations in {place}: {error}; choose a file with --checkpoints"
        ) from None


def _open_read_only(path: Path) -> closing[sqlite3.Connection]:
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False))


def _check_conversation_file(path: Path) -> None:
    """Raise `SettingsError` if a file contains anything other than conversations."""
    if path.name.endswith(_SIDECARS) or any(segment.endswith(":") for segment in path.parts):
        raise SettingsError(f"cannot store conversations in {path}: give --checkpoints a plain file name")
    if not path.exists():
        return
    if not path.is_file():
        raise SettingsError(f"cannot store conversations in {path}: it is not a file; choose one with --checkpoints")
    with path.open("rb") as file:
        start = file.read(len(_HEADER))
    if not start:
        return
    tables: set[str] = set()
    if start == _HEADER:
        with _open_read_only(path) as connection:
            tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    foreign_tables = {name for name in tables if not name.startswith(("sqlite_", "tableturn_"))}
    if foreign_tables != _CHECKPOINT_TABLES and (foreign_tables or _SERVER_TABLE not in tables):
        raise SettingsError(
            f"{path} contains something other than conversations, and is not changed: name another file"
            " with --checkpoints"
        )


def read_queries(path: Path, location: str) -> Iterator[str]:
    """Yield the queries of the stored conversations with a database."""
    from langgraph.checkpoint.sqlite import SqliteSaver

    with _open_read_only(path) as connection:
        saver = SqliteSaver(connection)
        saver.is_setup = True
        try:
            for snapshot in saver.list(None):
                if str(snapshot.config.get("configurable", {}).get("thread_id", "")).endswith(f"@{location}"):
                    values: dict[str, Any] = snapshot.checkpoint.get("channel_values", {})
                    yield from (turn["sql"] for turn in values.get("turns") or () if turn.get("sql"))
        except sqlite3.Error:
            raise SettingsError(
                f"{path} has no saved conversations: give a file of SQL, or one that `chat --checkpoints` wrote"
            ) from None
