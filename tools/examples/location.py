"""Where the command line keeps its example store."""

from __future__ import annotations

from pathlib import Path

from ..folders import data_folder


def default_location() -> Path:
    """The folder of the store where none is named; a person would miss what is in it."""
    return data_folder() / "examples"
