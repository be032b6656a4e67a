"""Where the command line keeps its example store."""

from __future__ import annotations

from pathlib import Path

from ..folders import data_folder


def default_location() -> Path:
    """The folder of the store where none is named; a person would miss what is in it."""
    return data_folder() / "examples"


def is_made(location: str | Path) -> bool:
    """Whether there is something to open: a server's URL, a folder that holds a store, or whatever else is there.

    Opening a folder that holds none makes one.
    """
    if "://" in str(location):
        return True
    path = Path(location)
    try:
        return path.exists() and (not path.is_dir() or (path / "chroma.sqlite3").exists())
    except OSError:
        return True
