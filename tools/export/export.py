"""Writing all rows of a query to a file or a stream, under the rights of the session that asks.

Nothing of what is written is ever a part of the result: it goes to a file of its own first, beside the one that is
wanted, which takes its place once every row is in it. Rows are held a part at a time, however many there are.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from fnmatch import fnmatch
from pathlib import Path
from typing import BinaryIO

from ..database import Database, Limits
from ..database.fetch import Row
from ..database.watchdog import Cancellation
from ..errors import ExportError, TableturnError
from ..whole_files import written_whole
from .forms import WRITERS, Format, Writer, check_installed

_BYTES = 4_000_000_000
"""Values of one export, all together: rows are not held, but a disk is finite."""

_MEMORY_FILE = 1_000_000
"""Bytes that are kept in memory before a stream's rows go to a temporary file."""

Target = str | Path | BinaryIO


@dataclass(frozen=True)
class Exported:
    """What was written.

    Attributes:
        rows: How many rows.
        truncated: Whether the query had more.
        form: In which form.
    """

    rows: int
    truncated: bool
    form: Format


def export_query(
    database: Database,
    sql: str,
    target: Target,
    form: Format,
    limits: Limits,
    cancellation: Cancellation | None = None,
) -> Exported:
    """Runs a query and writes its rows.

    The rows are for whoever the database's session is of: nothing is withheld, and none of it may go to a model.

    Args:
        database: Under the session of the person who gets the file.
        sql: One reading statement.
        target: A path, whose file is replaced at the end, or a binary stream, which gets nothing if anything fails.
        form: In which form.
        limits: What the query may cost; the rows that are written at most are `limits.rows`. Its `result_bytes` do not
            count, since nothing is held.
        cancellation: Ends it from another thread.

    Raises:
        QueryError: The query cannot be run under these limits.
        DatabaseUnavailable: The database is gone.
        ExportError: The file cannot be written, its form cannot hold the rows, or lacks its package.
    """
    _spare(database, target)
    with _opened(target) as file:
        sink = _Sink(file, form, target)
        table = database.execute(sql, replace(limits, result_bytes=_BYTES), cancellation, sink)
        sink.close()
    return Exported(sink.rows, table.truncated, form)


def export_rows(columns: Sequence[str], rows: Iterable[Row], target: Target, form: Format) -> Exported:
    """Writes rows that are at hand; see `export_query`."""
    with _opened(target) as file:
        sink = _Sink(file, form, target)
        sink.start(tuple(columns))
        sink.take(list(rows))
        sink.close()
    return Exported(sink.rows, False, form)


def check_target(database: Database, target: str | Path) -> None:
    """Sees that a file may be written there, before its rows are asked for.

    Raises:
        ExportError: It is the database, no file, or its folder is missing or not to be written to.
    """
    _spare(database, target)
    folder = _place(target).parent
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ExportError(f"cannot write {target}: you may not write into {folder}")


def write_file(data: bytes, path: str | Path) -> None:
    """Writes a file as a whole, or not at all.

    Raises:
        ExportError: It cannot be written.
    """
    with _opened(path) as file, _told(path):
        file.write(data)


class _Sink:
    """Gives a writer the rows of a query; starts over where the query does."""

    def __init__(self, file: BinaryIO, form: Format, target: Target) -> None:
        self._file = file
        self._form: Format = form
        self._target = target
        self._writer: Writer | None = None
        self.rows = 0

    def start(self, columns: tuple[str, ...]) -> None:
        """See `Sink`."""
        check_installed(self._form)
        with _told(self._target):
            self._file.seek(0)
            self._file.truncate()
            self.rows = 0
            self._writer = WRITERS[self._form](self._file, columns)
            next(self._writer)

    def take(self, rows: Sequence[Row]) -> None:
        """See `Sink`."""
        assert self._writer is not None
        with _told(self._target):
            self._writer.send(rows)
        self.rows += len(rows)

    def close(self) -> None:
        """Write what comes after the last row."""
        assert self._writer is not None
        with _told(self._target):
            next(self._writer, None)


@contextmanager
def _opened(target: Target) -> Generator[BinaryIO]:
    """A file to write to, whose contents reach the target if all goes well."""
    if not isinstance(target, str | Path):
        with tempfile.SpooledTemporaryFile(_MEMORY_FILE) as spooled:
            yield spooled  # pyright: ignore[reportReturnType] - it is one in all but its declared type
            with _told(target):
                spooled.seek(0)
                shutil.copyfileobj(spooled, target)
                target.flush()
        return
    path = _place(target)
    with ExitStack() as stack:
        with _told(target):
            file = stack.enter_context(written_whole(path))
        yield file
        with _told(target):  # the last bytes reach the disk here, if it has room for them
            stack.pop_all().close()


def _place(target: str | Path) -> Path:
    """Where a file is written, links resolved.

    Raises:
        ExportError: There is something else than a file, or no folder for it.
    """
    path = Path(os.path.realpath(target))
    if path.exists() and not path.is_file():
        raise ExportError(f"cannot write {target}: it is there already, and is no file")
    if not path.parent.is_dir():
        raise ExportError(f"cannot write {target}: there is no folder {path.parent}")
    return path


@contextmanager
def _told(target: Target) -> Generator[None]:
    """Errors of files and of the libraries that write them, as ours."""
    what = f"cannot write {target if isinstance(target, str | Path) else 'the rows'}: "
    try:
        yield
    except (TableturnError, BrokenPipeError):  # the latter is who reads a pipe and has had enough
        raise
    except OSError as error:
        raise ExportError(f"{what}{error.strerror or error}") from None
    except (ValueError, TypeError, OverflowError) as error:
        raise ExportError(f"{what}{type(error).__name__}: {error}") from error


def _spare(database: Database, target: Target) -> None:
    """Sees that the database is not written over.

    Raises:
        ExportError: The target is the database, or one of the files that it is made of.
    """
    if not isinstance(target, str | Path) or not os.path.exists(target):
        return
    location, path = database.location, os.path.realpath(target)
    own = os.path.exists(location) and any(os.path.samefile(location, place) for place in (path, os.path.dirname(path)))
    if own or fnmatch(path, location):
        raise ExportError(f"{target} is what is asked, or a part of it: name another file")
