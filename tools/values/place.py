"""Where index files lie: in the user's cache folder, one a database, named by what they were built from."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from .build import columns_to_index
from .store import FORMAT, Store

if TYPE_CHECKING:
    from ..database import Database

CACHE_VARIABLE = "TABLETURN_CACHE"
"""Environment variable that names another cache folder."""


def cache_folder() -> Path:
    """The folder for what can be built again: `TABLETURN_CACHE`, or the platform's place for such files."""
    named = os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tableturn"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")) / "tableturn" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tableturn"


def open_store(database: Database, folder: Path) -> Store:
    """The index file of a database as it is now; new, or replaced where it is damaged."""
    schema = database.schema()
    columns = columns_to_index(schema)
    path = folder / "values" / _name(database, schema.version, columns)
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return Store(path, columns)
    except sqlite3.DatabaseError:
        path.unlink(missing_ok=True)
        return Store(path, columns)


def _name(database: Database, version: str, columns: list[tuple[str, str]]) -> str:
    """Differs with the file, its state, its schema, and the columns that may be seen."""
    path = database.path
    parts = [str(FORMAT), str(path.resolve()), version, repr(columns)]
    for part in (path, path.with_name(path.name + "-wal")):
        if part.exists():
            state = part.stat()
            parts.append(f"{state.st_ino} {state.st_size} {state.st_mtime_ns}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32] + ".sqlite"
