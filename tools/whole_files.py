"""Files, and JSON lines at the end of files, that are written completely or not at all."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from .errors import SettingsError

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


def find_incomplete_last_line(content: bytes) -> bytes:
    """Return the incomplete last JSON object of a file's content; empty if there is none.

    A last line that lacks its line end, as an editor may leave it, is whole.
    """
    last = content.rpartition(b"\n")[2]
    return last if _is_cut_object(last) or (last and not last.strip(b"\0")) else b""


def _is_cut_object(line: bytes) -> bool:
    """Whether a line is the beginning of a JSON object, and not all of it."""
    text = line.rstrip(b"\0").decode("utf-8", "ignore")
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        # What is cut ends at the fault, or within a text, a number, a word or an escape.
        rest = text[error.pos :]
        return text.startswith("{") and (error.msg.startswith("Unterminated") or len(rest) == 0 or rest.isalnum())
    except (ValueError, RecursionError):  # a number too long to read, or nested too deeply
        pass
    return False


def _is_json_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def append_lines(path: Path, lines: str) -> None:
    """Append JSON lines to a file, and sync it; an incomplete last line is removed first.

    Several processes may do so at once. Raises `SettingsError` if it cannot be written, or holds something else.
    """
    if path.exists() and not path.is_file():
        raise SettingsError(f"{path} is not a file of JSON lines, and is not changed: name another file")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a+b") as file:
            with suppress(ImportError):  # not a POSIX system: one short write to the end is whole all the same
                import fcntl

                fcntl.flock(file.fileno(), fcntl.LOCK_EX)
            file.seek(0)
            content = file.read()
            first, end, _ = content.lstrip(b"\xef\xbb\xbf \t\r\n\0").partition(b"\n")
            if first and not (_is_cut_object(first) and not end) and not _is_json_object(first):
                raise SettingsError(f"{path} is not a file of JSON lines, and is not changed: name another file")
            if fragment := find_incomplete_last_line(content):
                file.truncate(len(content) - len(fragment))
            elif content and not content.endswith(b"\n"):
                lines = "\n" + lines
            file.write(lines.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise SettingsError(f"cannot write {path}: {error.strerror or error}") from error
