"""The start of DuckDB's processes, which open files and find their tables."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import ormsgpack

from ...errors import DatabaseUnavailable
from ...forkserver import can_limit_processes
from ..session import Session
from ..wire import ERROR_BYTES, MESSAGE_BYTES, PART, RESULT, receive, send, unpack_error
from ..workers import START_SECONDS, make_query_fork_server
from .entries import TableEntry, unpack_entry
from .sources import TableFile, find_sources

if TYPE_CHECKING:
    from .engine import DuckDBEngine

# Of a process that reads files, beside DuckDB's own limit: what reads workbooks counts too.
READING_BYTES = 1_000_000_000
_SECONDS = 60.0
# A larger file may take longer.
_BYTES_A_SECOND = 5_000_000

FILES, QUERIES = "files", "queries"
"""How the first message to a worker begins: what it is to do."""

NURSERY = make_query_fork_server(__package__ or "")


def open_engine(url: str, session: Session, reversals: frozenset[str] = frozenset()) -> DuckDBEngine:
    """Open the DuckDB engine for a path, a pattern or a URL."""
    if find_spec("duckdb") is None:
        raise DatabaseUnavailable("files and DuckDB databases need duckdb: pip install 'tableturn[duckdb]'")
    if can_limit_processes():
        with suppress(OSError):  # the first query says so
            NURSERY.start(wait=False)  # it loads DuckDB while the engine is loaded here
    from .engine import DuckDBBackend, DuckDBEngine

    return DuckDBEngine(DuckDBBackend(replace(find_sources(url), reversals=reversals), session), session)


def read_tables_from_files(
    files: Sequence[TableFile], folder: Path, *, thorough: bool, reversals: frozenset[str] = frozenset()
) -> Iterator[TableEntry]:
    """Yield the tables of files, read in a process with limited memory and time.

    What it says of a file, a name and a call of DuckDB for each table, is read as data from an untrusted side: an
    instance closes the file system but for the files that were asked for before it declares any view.
    """
    folder.mkdir()
    if not can_limit_processes():
        from .files import FileReader

        with closing(FileReader(folder, thorough=thorough, reversals=reversals)) as reader:
            for file in files:
                yield from reader.entries(file)
        return
    with NURSERY.call(b"\0") as line:
        opening = FILES, os.fsencode(folder), thorough, list(reversals), list({file.kind for file in files})
        send(line, RESULT, ormsgpack.packb(opening), START_SECONDS)
        receive(line, MESSAGE_BYTES, time.monotonic() + START_SECONDS)
        for file in files:
            yield from _read_tables_from_file(line, file, folder)


def _read_tables_from_file(sock: socket.socket, file: TableFile, folder: Path) -> Iterator[TableEntry]:
    seconds = _SECONDS + file.path.stat().st_size / _BYTES_A_SECOND
    try:
        # On a busy machine, it takes longer than the processor needs.
        deadline = time.monotonic() + 2 * seconds
        order = ormsgpack.packb((os.fsencode(file.path), file.kind, file.table, seconds))
        send(sock, RESULT, order, START_SECONDS)
        answer = receive(sock, MESSAGE_BYTES, deadline)
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
    for packed_entry in ormsgpack.unpackb(body):
        entry = unpack_entry(packed_entry)
        if entry.path != file.path and (entry.path is None or entry.path.parent != folder):
            raise RuntimeError(f"the reader of {file.path} returned another file")
        yield entry
