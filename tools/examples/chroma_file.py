"""Looks into a Chroma store's file before Chroma does, which does not survive every damage."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import lru_cache
from pathlib import Path

from ..errors import ExampleStoreError

_READ_WHOLE = 64_000_000
"""Bytes of a file that is read through; of a larger one, which would take seconds, the start is."""

_REPAIR = "the example store {} is damaged ({}): put back a copy of it, or move it away and import its examples anew"


def check_file(path: Path) -> None:
    """Looks whether a store's file is a whole SQLite database; one that is not there, or empty, will be made.

    Raises:
        ExampleStoreError: It is not.
    """
    try:
        found = path.stat()
    except OSError:
        return
    if found.st_size and (problem := _problem(path, found.st_mtime_ns, found.st_size)):
        raise ExampleStoreError(_REPAIR.format(path.parent, problem))


@lru_cache(maxsize=64)
def _problem(path: Path, changed: int, size: int) -> str:
    """What is wrong with the file as it was at that time; empty where nothing is."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            connection.text_factory = bytes
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
            if size > _READ_WHOLE:
                return ""
            (first,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            return "" if first == b"ok" else first.decode("utf-8", "replace")
    except sqlite3.OperationalError:
        return ""  # locked, say: Chroma waits for that
    except sqlite3.DatabaseError as error:
        return str(error)
