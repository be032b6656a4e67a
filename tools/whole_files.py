"""Files that are written completely or not at all, by one writer at a time."""

from __future__ import annotations

import os
import secrets
import shutil
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

_lock = threading.Lock()


@contextmanager
def replace_file(path: Path) -> Generator[BinaryIO]:
    """Yield a file that replaces `path` once it is completely written to disk.

    What a link points to is written, and whoever may read it may go on doing so.
    """
    path = Path(os.path.realpath(path))
    temporary_path = path.with_name(f".{secrets.token_hex(8)}.part")
    file = temporary_path.open("xb")
    try:
        yield file
        file.flush()
        os.fsync(file.fileno())
        file.close()
        with suppress(FileNotFoundError):
            shutil.copymode(path, temporary_path)
        os.replace(temporary_path, path)
    finally:
        with suppress(OSError):  # a full disk has been reported by then
            file.close()
        temporary_path.unlink(missing_ok=True)


def write_text_atomically(path: Path, text: str) -> None:
    """Write a text file completely or not at all."""
    with replace_file(path) as file:
        file.write(text.encode())


@contextmanager
def lock_folder_of_file(path: Path) -> Generator[None]:
    """Lock the folder of the file `path` against other writers, threads and processes."""
    with _lock:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The file itself is another one after each change, and a lock file would be left behind.
        folder = os.open(path.resolve().parent, os.O_RDONLY)
        try:
            with suppress(ImportError):  # not a POSIX system: threads alone are held back
                import fcntl

                fcntl.flock(folder, fcntl.LOCK_EX)
            yield
        finally:
            os.close(folder)
