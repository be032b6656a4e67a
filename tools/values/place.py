"""Where index files lie: in the user's cache folder, one a database, named by what they were built from."""

from __future__ import annotations

import hashlib
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

from ..database import Database
from ..errors import DatabaseUnavailable
from .build import columns_to_index
from .store import Store


def database_state(database: Database) -> str:
    """Differs whenever the database's file, or its write-ahead log, has changed.

    Raises:
        DatabaseUnavailable: The file is gone.
    """
    log = database.path.with_name(database.path.name + "-wal")
    try:
        states = [os.stat(path) for path in (database.path, log) if path is database.path or path.exists()]
    except OSError:
        raise DatabaseUnavailable(f"the database file {database.path} is gone") from None
    return " ".join(f"{state.st_dev}.{state.st_ino}.{state.st_size}.{state.st_mtime_ns}" for state in states)


def open_store(database: Database, folder: Path) -> Store:
    """The index file of a database as it is now: new, or replaced where it is damaged; outdated ones are removed.

    Where the folder cannot be written, the index is kept in memory.
    """
    schema = database.schema()
    columns = columns_to_index(schema)
    # Columns are part of the name because what a database hides must not be in an index that it is given.
    owner = _digest(str(database.path.resolve()), repr(columns))
    path = folder / "values" / f"{owner}-{_digest(database_state(database), schema.version)}.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(other for other in path.parent.glob(f"{owner}-*") if not other.name.startswith(path.stem))
        return _open(path, columns)
    except (OSError, sqlite3.OperationalError):
        return Store(":memory:", columns)


def _open(path: Path, columns: list[tuple[str, str]]) -> Store:
    try:
        return Store(path, columns)
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        _remove([path])
        return Store(path, columns)


def _remove(paths: Iterable[Path]) -> None:
    for path in paths:
        path.unlink(missing_ok=True)


def _digest(*parts: str) -> str:
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:24]
