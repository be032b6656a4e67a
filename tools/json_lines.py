"""Append-only files with one JSON value per line."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path


def find_incomplete_last_line(content: bytes) -> bytes:
    """Return the incomplete last line of a file's content; empty if the last line is whole.

    A last line that lacks its line end, as an editor may leave it, is whole.
    """
    last = content.rpartition(b"\n")[2]
    try:
        json.loads(last)
    except ValueError:
        return last if last.strip() else b""
    return b""


def append_lines(path: Path, lines: str) -> None:
    """Append lines to a file and sync it to disk; an incomplete last line is removed first.

    Several processes may do so at once.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b") as file:
        with suppress(ImportError):  # not a POSIX system: one short write to the end is whole all the same
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX)
        file.seek(0)
        content = file.read()
        if fragment := find_incomplete_last_line(content):
            file.truncate(len(content) - len(fragment))
        elif content and not content.endswith(b"\n"):
            lines = "\n" + lines
        file.write(lines.encode())
        file.flush()
        os.fsync(file.fileno())


def check_writable(path: Path) -> None:
    """Raise `OSError` if lines cannot be appended to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.open("ab").close()
