"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def written_whole(path: Path) -> Generator[IO[bytes]]:
    """A temporary file that becomes `path` when all is written, and is gone where that fails or is interrupted."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Writes a text file by way of a temporary one beside it: a reader never sees half of it."""
    with written_whole(path) as file:
        file.write(text.encode())
