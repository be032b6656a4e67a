"""Files are read in a process of its own, which the kernel holds to limits of memory and time.

What it says of a file, a name and a call of DuckDB for each table, is read as data from an untrusted side: an instance
closes the file system but for the files that were asked for before it declares any view.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import ormsgpack

from ...errors import DatabaseUnavailable
from ...forkserver import ForkServer, available
from ..wire import ERROR_BYTES, PART, RESULT, patience, receive, send, unpack_error
from .entries import Entry, column
from .files import MESSAGE_BYTES, READING_BYTES, FileReader
from .sources import File

_SECONDS = 60.0
# A larger file may take longer.
_BYTES_A_SECOND = 5_000_000
_START_SECONDS = 60.0
_ENVIRONMENT = {
    "LC_ALL": "C.UTF-8",
    # One heap for all threads: further ones reserve address space that no file has asked for.
    "MALLOC_ARENA_MAX": "1",
    # pandas is imported once no thread may be started any more.
    "OPENBLAS_NUM_THREADS": "1",
}

NURSERY = ForkServer(f"{__package__}.reader", _ENVIRONMENT, _START_SECONDS, ("TMPDIR",), socket.SOCK_STREAM)


def read_files(files: Sequence[File], folder: Path, *, thorough: bool) -> Iterator[Entry]:
    """Find the tables of files.

    Args:
        files: Read one after another.
        folder: Made for copies that are read instead of files.
        thorough: Whether types are found by all rows.

    Raises:
        DatabaseUnavailable: A file cannot be read, or not within the limits.
    """
    folder.mkdir()
    if not available():
        reader = FileReader(folder, thorough=thorough)
        try:
            for file in files:
                yield from reader.entries(file)
        finally:
            reader.close()
        return
    with NURSERY.call(b"\0") as line:
        patience(line, _START_SECONDS)
        send(
            line,
            RESULT,
            ormsgpack.packb((os.fsencode(folder), thorough, any(file.kind == "workbook" for file in files))),
        )
        receive(line, MESSAGE_BYTES)
        for file in files:
            yield from _answer(line, file, folder)


def _answer(line: socket.socket, file: File, folder: Path) -> Iterator[Entry]:
    seconds = _SECONDS + file.path.stat().st_size / _BYTES_A_SECOND
    try:
        # On a busy machine, it takes longer than the processor needs.
        patience(line, 2 * seconds)
        send(line, RESULT, ormsgpack.packb((os.fsencode(file.path), file.kind, file.table, seconds)))
        answer = receive(line, MESSAGE_BYTES)
    except (OSError, ValueError):
        answer = None
    if answer is None:
        raise DatabaseUnavailable(
            f"{file.path} cannot be read: it takes more than {READING_BYTES // 10**6:,} MB of memory or {seconds:.0f}"
            " seconds: split it, leave columns out, or save it as Parquet"
        )
    kind, body = answer
    if kind == PART:
        raise RuntimeError(f"reading {file.path} failed:\n{body.decode(errors='replace')}")
    if kind != RESULT:
        raise unpack_error(body[:ERROR_BYTES])
    for packed in ormsgpack.unpackb(body):
        entry = _unpacked(packed)
        if entry.path != file.path and (entry.path is None or entry.path.parent != folder):
            raise RuntimeError(f"reading {file.path} gave another file")
        yield entry


def _unpacked(packed: Any) -> Entry:
    name, listed, scan, comment, estimate, slow, path, remarks = packed
    columns = tuple((own, column(shown, declared, comment=told)) for own, shown, declared, told in listed)
    return Entry(
        name,
        columns,
        scan,
        comment=comment,
        estimate=estimate,
        slow=slow,
        path=Path(os.fsdecode(path)),
        remarks=tuple(remarks),
    )
