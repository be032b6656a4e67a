"""A worker that runs queries in its own process, limited by the kernel.

An engine inside a process can be interrupted between its steps, but not within one, and its memory and temporary files
belong to the whole process. So a query from outside runs in a worker: a small process whose address space, processor
time and temporary files are bounded by the kernel, and which is killed once its time is up. A *nursery*, which has
loaded what workers need and holds no data, forks them; each keeps its database open from query to query. What a worker
says is read as data from an untrusted side.
"""

from __future__ import annotations

import math
import os
import resource
import socket
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import ormsgpack

from ..errors import ResultTooLarge, TableturnError
from ..sandbox.boundary import confine_reader_process, measure_address_space
from .fetch import Row, Sink
from .table import Limits, Table
from .watchdog import Cancellation
from .wire import FAILURE, MESSAGE_BYTES, PART, RESULT, pack_error, pack_table, receive, send, set_limit, unpack_query

_MEMORY = "the query needs more memory than it may use: ask for less, or aggregate"
_INFINITE = resource.RLIM_INFINITY


class QueryRunner(Protocol):
    """A database that is open for queries; `about` describes the database to the caller."""

    @property
    def about(self) -> bytes: ...

    def execute(
        self, sql: str, limits: Limits, cancellation: Cancellation | None, sink: Sink | None = None, /
    ) -> Table: ...


def serve_database(
    sock: socket.socket,
    open_database: Callable[[], QueryRunner],
    *,
    files: int = 0,
    threads: int = 1,
    engine_bytes: int = 0,
) -> None:
    """Serve one database until the connection ends; never return.

    Args:
        sock: To the caller.
        open_database: What it does first.
        files: How many temporary files a query may open, which share `Limits.disk_bytes`; 0 for one that may have all.
        threads: How many compute at once.
        engine_bytes: Memory that the engine keeps books of by itself, beside what a query may use.
    """
    try:
        worker = _LimitedDatabase(open_database(), files, threads, engine_bytes)
    except TableturnError as error:
        send(sock, FAILURE, pack_error(error))
        os._exit(0)
    send(sock, RESULT, ormsgpack.packb((os.getpid(), worker.queries.about)))
    while message := receive(sock, MESSAGE_BYTES):
        sql, limits, is_streamed = unpack_query(message[1])
        try:
            send(sock, RESULT, worker.run(sql, limits, _PartSender(sock) if is_streamed else None))
        except TableturnError as error:
            send(sock, FAILURE, pack_error(error))
        except MemoryError:
            send(sock, FAILURE, pack_error(ResultTooLarge(_MEMORY)))
            break
    os._exit(0)


class _LimitedDatabase:
    """An open database whose queries run under the limits of this process."""

    def __init__(self, queries: QueryRunner, files: int, threads: int, engine_bytes: int) -> None:
        self.queries = queries
        # Whatever a first query makes, threads included, is no part of what later ones may use.
        queries.execute("SELECT 1", Limits(memory_bytes=0), None)
        self._base_bytes = measure_address_space() + engine_bytes
        self._files, self._threads = files, threads
        if files:
            highest = max(map(int, os.listdir("/proc/self/fd")))
            set_limit(resource.RLIMIT_NOFILE, highest + 1 + files)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Now that the thread runs that ends queries in time, none is needed any more.
        confine_reader_process()

    def run(self, sql: str, limits: Limits, sink: Sink | None) -> bytes:
        """Run a query under the given limits and return the packed result."""
        set_limit(resource.RLIMIT_AS, self._base_bytes + limits.memory_bytes if limits.memory_bytes else _INFINITE)
        set_limit(resource.RLIMIT_FSIZE, limits.disk_bytes // max(1, self._files))
        # The last of three: the caller kills it in time, and the query ends by itself before that.
        set_limit(resource.RLIMIT_CPU, math.ceil(time.process_time() + self._threads * limits.seconds) + 1)
        # The kernel keeps the memory: SQLite's own limit could never be raised again.
        return pack_table(self.queries.execute(sql, replace(limits, memory_bytes=0), None, sink))


class _PartSender:
    """A sink that sends rows in parts; the first part has no rows."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._columns: tuple[str, ...] = ()

    def start(self, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self._send_rows(())

    def take(self, rows: Sequence[Row]) -> None:
        if rows:
            self._send_rows(tuple(rows))

    def _send_rows(self, rows: tuple[Row, ...]) -> None:
        types = ("mixed",) * len(self._columns)
        send(self._line, PART, pack_table(Table(self._columns, types, rows, False, 0.0)))
