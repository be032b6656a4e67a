"""Files that store conversations: one may have those of the terminal and of the server."""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..tools.errors import SettingsError
from ..tools.folders import data_folder, make_private_file

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

_CHECKPOINT_TABLES = {"checkpoints", "writes"}  # what LangGraph's SQLite checkpointer makes
_SERVER_TABLE = "tableturn_threads"  # one of the server's; the names of all of them begin so
_SIDECARS = ("-wal", "-shm", "-journal", ".wal")  # how the files end that SQLite and DuckDB keep beside a database

_SCHEME = re.compile(r"^\w+:///?")
_HEADER = b"SQLite format 3\x00"


@contextmanager
def open_checkpointer(
    thread: str | None, path: Path | None, db: str = ""
) -> Generator[BaseCheckpointSaver[Any] | None]:
    """Open the checkpointer of a saved conversation; yield None if `thread` is None.

    The file is private to its owner, because it contains questions and rows. A file with other contents, such as the
    database itself, is not changed.
    """
    if thread is None:
        if path is not None:
            raise SettingsError("--checkpoints needs --thread: name the conversation to keep")
        yield None
        return
    from langgraph.checkpoint.sqlite import SqliteSaver

    path = create_conversation_file(_get_conversation_file(path), db)
    with _report_storage_errors(path), SqliteSaver.from_conn_string(str(path)) as saver:
        saver.setup()
        yield saver


@contextmanager
def lock_conversation(thread: str | None, path: Path | None, location: str) -> Generator[str | None]:
    """Lock a conversation while the context is open, so that no other chat changes it.

    The lock is a byte of one file for all conversations, by a hash of the name; it ends with the process.
    """
    name = f"{thread}@{location}" if thread else None
    if name is None:
        yield None
        return
    storage = _get_conversation_file(path)
    lock_offset = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7])
    with _report_storage_errors(storage):
        descriptor = os.open(f"{storage}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as file:
        with _report_storage_errors(storage):
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, lock_offset)
            except (BlockingIOError, PermissionError):
                raise SettingsError(
                    f"the conversation {thread!r} is in use by another chat: close it, or choose another name with "
                    "--thread"
                ) from None
        yield name


def create_conversation_file(path: Path, db: str) -> Path:
    """Create a private file for conversations, if missing; `db` must be another file."""
    path = path.absolute()
    with _report_storage_errors(path):
        _check_conversation_file(path)
        if Path(_SCHEME.sub("", db)).absolute() == path:
            raise SettingsError(f"{path} is the database itself: name another file with --checkpoints")
        make_private_file(path)
    return path


@contextmanager
def _report_storage_errors(path: Path) -> Generator[None]:
    try:
        yield
    except (OSError, sqlite3.Error) as error:
        raise SettingsError(
            f"cannot store conversations in {path}: {error}; choose a file with --checkpoints"
        ) from None


@dataclass(frozen=True)
class SavedChat:
    """A saved conversation, and the time of its last turn."""

    name: str  # as `--thread` takes it
    last_turn: datetime  # when its last turn was taken


def list_saved_conversations(path: Path | None, location: str) -> list[SavedChat]:
    """Return the saved conversations about a database, the most recently used first."""
    path = _get_conversation_file(path)
    if not path.exists():
        return []
    query = "SELECT thread_id, max(checkpoint_id) FROM checkpoints GROUP BY thread_id ORDER BY 2 DESC"
    try:
        with _open_read_only(path) as connection:
            rows = connection.execute(query).fetchall()
    except sqlite3.Error as error:
        raise SettingsError(f"cannot read the conversations in {path}: {error}") from None
    end = f"@{location}"
    chats: list[SavedChat] = []
    for name, last in rows:
        if name.endswith(end):
            digits = last.replace("-", "")  # a UUID of version 6 begins with its time, in 100 ns since 1582
            offset = timedelta(microseconds=int(digits[:12] + digits[13:16], 16) // 10)
            chats.append(SavedChat(name.removesuffix(end), datetime(1582, 10, 15, tzinfo=UTC).astimezone() + offset))
    return chats


def _get_conversation_file(path: Path | None) -> Path:
    # An absolute path is never read as a URI, which could name another file than the one that is looked into.
    return (path or data_folder() / "conversations.sqlite").absolute()


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
            snapshots = list(saver.list(None))
        except sqlite3.Error:
            raise SettingsError(
                f"{path} has no saved conversations: give a file of SQL, or one that `chat --checkpoints` wrote"
            ) from None
    for snapshot in snapshots:
        if str(snapshot.config.get("configurable", {}).get("thread_id", "")).endswith(f"@{location}"):
            values: dict[str, Any] = snapshot.checkpoint.get("channel_values", {})
            yield from (turn["sql"] for turn in values.get("turns") or () if turn.get("sql"))
