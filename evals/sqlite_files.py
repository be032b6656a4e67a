"""SQLite as the evaluations use it themselves: on benchmarks' files and on databases that they made."""

from __future__ import annotations

import sqlite3
from pathlib import Path

_MAGIC = b"SQLite format 3\0"


def is_sqlite(place: str | Path) -> bool:
    """Whether a place is an SQLite file, or a file that holds nothing yet, rather than another engine's database."""
    if isinstance(place, str):
        return False
    with place.open("rb") as file:
        return file.read(len(_MAGIC)) in (_MAGIC, b"")


def open_read_only(path: Path) -> sqlite3.Connection:
    """A connection that cannot write to the file, for any thread; text that is not UTF-8 is an error as it comes."""
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, check_same_thread=False)


def lenient_text(text: bytes) -> str:
    """A text factory for databases with text that is not UTF-8: what cannot be read is left out."""
    return text.decode(errors="ignore")
