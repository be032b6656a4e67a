"""Index files: in the user's cache folder, one for each database and session, named by what they were built from."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from datetime import date
from pathlib import Path

from ..database import Database
from .build import columns_to_index
from .store import Store


def open_store(database: Database, folder: Path) -> Store:
    """The index file of a database as it is now: new, or replaced where it is damaged; outdated ones are removed.

    Where the folder cannot be written, the index is kept in memory.
    """
    schema = database.schema()
    columns = columns_to_index(schema, database.leaving().levels)
    # Who asks and what they may see are part of the name: nothing that was read under wider rights is found under
    # narrower ones, be they rights to columns, which change the list, or to rows, which only the engine knows.
    owner = _digest(*filter(None, (database.location, database.session.key)), repr(columns))
    path = folder / "values" / f"{owner}-{_digest(contents_key(database), schema.version)}.sqlite"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove(other for other in path.parent.glob(f"{owner}-*") if not other.name.startswith(path.stem))
        return _open(path, columns)
    except (OSError, sqlite3.OperationalError):
        return Store(":memory:", columns)


def contents_key(database: Database) -> str:
    """Changes whenever the contents may have; daily where the engine cannot tell."""
    return database.engine.state() or date.today().isoformat()


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
