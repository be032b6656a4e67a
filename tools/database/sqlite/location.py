"""Locations of database files, with one clear error line for each that is wrong."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from ...errors import DatabaseUnavailable

_MAGIC = b"SQLite format 3\x00"
_HEADER_BYTES = 100
_WRITE_AHEAD = 2


def locate(path_or_url: str | Path) -> Path:
    """Return the absolute path of an existing SQLite file.

    URLs are as SQLAlchemy writes them: `sqlite:///shop.db`, `sqlite:////data/shop.db`,
    `sqlite:///file:shop.db?mode=ro&uri=true`.
    """
    text = os.fspath(path_or_url)
    path = Path(_extract_path_from_url(text) if "://" in text else text).expanduser().absolute()
    _read_file_header(path)
    return path


def _extract_path_from_url(text: str) -> str:
    address, _, query = text.partition("://")[2].partition("?")
    name = unquote(address.partition("/")[2])
    if name.startswith("file:"):
        name = ":memory:" if "mode=memory" in query.split("&") else unquote(urlsplit(name).path)
    if name in ("", ":memory:"):
        raise DatabaseUnavailable(f"{text} is a database in memory, which is empty here: name a file")
    return name


def _read_file_header(path: Path) -> bytes:
    """Return the header of a file, after checking that the file is an SQLite database."""
    try:
        if path.is_dir():
            raise DatabaseUnavailable(f"{path} is a folder: name the database file in it")
        if path.exists() and not path.is_file():
            raise DatabaseUnavailable(f"{path} is not a regular file: name an SQLite database file")
        with path.open("rb") as file:
            header = file.read(_HEADER_BYTES)
    except FileNotFoundError:
        raise DatabaseUnavailable(f"no such database file: {path}") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise DatabaseUnavailable(f"cannot read the database file {path}: {reason}") from None
    if not header:
        raise DatabaseUnavailable(f"{path} is empty: it has no tables")
    if not header.startswith(_MAGIC):
        from ..duckdb.sources import READ_EXTENSIONS

        raise DatabaseUnavailable(
            f"{path} is not an SQLite database; table files are recognised by their extensions: {READ_EXTENSIONS}"
        )
    return header


def make_read_only_uri(path: Path) -> str:
    """Return the URI that opens the file for reading without leaving other files beside it.

    A database in write-ahead mode that nobody has open would get `-wal` and `-shm` files beside it even from a reader;
    it is opened as immutable, for as long as no `-wal` file shows that there is a writer (see `has_no_writer`). Where a
    writer left a `-wal` file behind but no `-shm` file, SQLite makes the latter anew: nothing else shows what is in it.
    """
    uri = f"file:{quote(os.fsencode(path))}?mode=ro"
    return f"{uri}&immutable=1" if has_no_writer(path) else uri


def has_no_writer(path: Path) -> bool:
    """Whether the file is in write-ahead mode and no writer has it open."""
    return _WRITE_AHEAD in _read_file_header(path)[18:20] and not os.path.exists(f"{path}-wal")


def make_unavailable_error(path: Path, error: Exception) -> DatabaseUnavailable:
    """Return a one-line error for SQLite's failure to open or read the file."""
    message = " ".join(str(error).split())
    if "locked" in message or "busy" in message:
        return DatabaseUnavailable(f"{path} is locked by another program: try again later")
    if "readonly database" in message:
        return DatabaseUnavailable(
            f"{path} was left in the middle of a write: open it once with the program that wrote it, to repair it"
        )
    if "not a database" in message:
        return DatabaseUnavailable(f"{path} is not an SQLite database, or is encrypted")
    if "malformed" in message or isinstance(error, UnicodeDecodeError):
        return DatabaseUnavailable(f"{path} is damaged: {message}")
    return DatabaseUnavailable(f"cannot open {path}: {message}")
