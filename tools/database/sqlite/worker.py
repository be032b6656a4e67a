"""A worker: runs queries in a process of its own, which the kernel holds to their limits.

SQLite can be interrupted between the steps of a program, but not while it compiles one or works inside a function, and
its memory and temporary files belong to the whole process. So a query from outside runs in a worker: a small process
whose address space, processor time and temporary files are bounded by the kernel, and which is killed once its time is
up. A *nursery*, which has loaded what workers need and holds no data, forks them; each keeps its connection from query
to query. What a worker says is read as data from an untrusted side.
"""

from __future__ import annotations

import math
import os
import resource
import socket
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...errors import DatabaseUnavailable, ResultTooLarge, SettingsError, TableturnError
from ...nursery import serve_workers
from ...sandbox.boundary import confine_reader, drop_capabilities_for
from ...sandbox.bounds import memory_held
from ..fetch import Row, Sink
from ..table import Limits, Table
from ..wire import FAILURE, PART, RESULT, Opening, pack_error, pack_table, receive, send, soft_limit, unpack_order
from .pool import ConnectionPool

_ORDER_BYTES = 1 << 24
_MEMORY = "the query needs more memory than it may use: ask for less, or aggregate"
# Temporary files that a query may have open, of which each may grow to its share of `Limits.disk_bytes`. They have no
# names, and SQLite opens one when a sort or a table of its own outgrows its cache. A write-ahead log that appears
# later takes up to four of them.
_FILES = 8
_INFINITE = resource.RLIM_INFINITY


def serve(descriptor: int) -> None:
    """Fork a worker for every line that comes, until the control socket ends. Never returns."""
    # Workers make rows and bytes, no cycles: that none are looked for halves the time of a long result.
    serve_workers(descriptor, work)


def work(line: socket.socket) -> None:
    """Serve one database until the line ends. Never returns."""
    message = receive(line, _ORDER_BYTES)
    if message is None:
        os._exit(0)
    opening = Opening.unpack(message[1])
    drop_capabilities_for(opening.path)
    send(line, RESULT, str(os.getpid()).encode())
    worker: _Worker | None = None
    while message := receive(line, _ORDER_BYTES):
        sql, limits, in_parts = unpack_order(message[1])
        try:
            worker = worker or _Worker(opening)
            send(line, RESULT, worker.run(sql, limits, _Parts(line) if in_parts else None))
        except TableturnError as error:
            send(line, FAILURE, pack_error(error))
        except MemoryError:
            send(line, FAILURE, pack_error(ResultTooLarge(_MEMORY)))
            break
    os._exit(0)


class _Worker:
    """The connection, and the limits that are set."""

    def __init__(self, opening: Opening) -> None:
        try:
            self._queries = ConnectionPool(Path(opening.path), opening.permissions)
        except SettingsError as error:
            # They fitted when the database was opened.
            raise DatabaseUnavailable(f"{opening.path} was altered while open: {error}: nothing is shown") from None
        # Whatever a first query makes, threads included, is no part of what later ones may use.
        self._queries.execute("SELECT 1", Limits(memory_bytes=0), None)
        self._held = memory_held()
        highest = max(map(int, os.listdir("/proc/self/fd")))
        soft_limit(resource.RLIMIT_NOFILE, highest + 1 + _FILES)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Now that the thread runs that ends queries in time, none is needed any more.
        confine_reader()
        self._asked: list[Any] = []
        self._limits = Limits()
        self._processor_until = 0.0

    def run(self, sql: str, asked: list[Any], sink: Sink | None) -> bytes:
        if asked != self._asked:
            self._limit(Limits(*asked))
            self._asked = asked
        # The last of three: the caller kills it in time, and the query ends by itself before that. So the limit is set
        # with room for more, and not for every query.
        if time.process_time() + self._limits.seconds > self._processor_until:
            used = math.ceil(time.process_time() + 2 * self._limits.seconds) + 1
            soft_limit(resource.RLIMIT_CPU, used)
            self._processor_until = used
        return pack_table(self._queries.execute(sql, self._limits, None, sink))

    def _limit(self, limits: Limits) -> None:
        soft_limit(resource.RLIMIT_AS, self._held + limits.memory_bytes if limits.memory_bytes else _INFINITE)
        soft_limit(resource.RLIMIT_FSIZE, limits.disk_bytes // _FILES)
        # The kernel keeps the memory: SQLite's own limit could never be raised again.
        self._limits = replace(limits, memory_bytes=0)
        self._processor_until = 0.0


class _Parts:
    """Sends rows as they come, each part when the one before was taken; the first has none but the columns' names."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._columns: tuple[str, ...] = ()

    def start(self, columns: tuple[str, ...]) -> None:
        self._columns = columns
        self._send(())

    def take(self, rows: Sequence[Row]) -> None:
        if rows:
            self._send(tuple(rows))

    def _send(self, rows: tuple[Row, ...]) -> None:
        types = ("mixed",) * len(self._columns)
        send(self._line, PART, pack_table(Table(self._columns, types, rows, False, 0.0)))
        if receive(self._line, _ORDER_BYTES) is None:
            os._exit(0)
