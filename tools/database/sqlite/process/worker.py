"""A worker: reads an order, runs the query inside limits that the kernel keeps, sends the result, and so on."""

from __future__ import annotations

import math
import os
import resource
import socket
from dataclasses import replace
from pathlib import Path

from ....errors import DatabaseUnavailable, ResultTooLarge, SettingsError, TableturnError
from ...table import Limits
from ..run_here import QueriesHere
from .codec import encode
from .wire import FAILURE, RESULT, Opening, Order, pack_error, receive, send

_ORDER_BYTES = 1 << 24
_MEMORY = "the query needs more memory than it may use: ask for less, or aggregate"
# Temporary files that a query may have open, of which each may grow to its share of `Limits.disk_bytes`. They have no
# names, and SQLite opens one when a sort or a table of its own outgrows its cache. A write-ahead log that appears
# later takes up to four of them.
_FILES = 8
_INFINITE = resource.RLIM_INFINITY


def work(line: socket.socket) -> None:
    """Serve one database until the line ends. Never returns."""
    message = receive(line, _ORDER_BYTES)
    if message is None:
        os._exit(0)
    opening = Opening.unpack(message[1])
    send(line, RESULT, str(os.getpid()).encode())
    worker: _Worker | None = None
    while message := receive(line, _ORDER_BYTES):
        order = Order.unpack(message[1])
        try:
            worker = worker or _Worker(opening)
            send(line, RESULT, worker.run(order))
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
            self._queries = QueriesHere(Path(opening.path), opening.permissions)
        except SettingsError as error:
            # They fitted when the database was opened.
            raise DatabaseUnavailable(f"{opening.path} was altered while open: {error}: nothing is shown") from None
        # Whatever a first query makes, threads included, is no part of what later ones may use.
        self._queries.execute("SELECT 1", Limits(memory_bytes=0), None)
        with open("/proc/self/statm", encoding="ascii") as file:
            self._held = int(file.read().split()[0]) * resource.getpagesize()
        highest = max(map(int, os.listdir("/proc/self/fd")))
        _soft(resource.RLIMIT_NOFILE, highest + 1 + _FILES)
        self._limits: Limits | None = None

    def run(self, order: Order) -> bytes:
        limits = order.limits
        if limits != self._limits:
            self._limits = limits
            _soft(resource.RLIMIT_AS, self._held + limits.memory_bytes if limits.memory_bytes else _INFINITE)
            _soft(resource.RLIMIT_FSIZE, limits.disk_bytes // _FILES)
        used = resource.getrusage(resource.RUSAGE_SELF)
        _soft(resource.RLIMIT_CPU, math.ceil(used.ru_utime + used.ru_stime + limits.seconds) + 1)
        # The kernel keeps the memory: SQLite's own limit could never be raised again.
        return encode(self._queries.execute(order.sql, replace(limits, memory_bytes=0), None))


def _soft(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    most = value if hard == _INFINITE else hard if value == _INFINITE else min(value, hard)
    resource.setrlimit(kind, (most, hard))
