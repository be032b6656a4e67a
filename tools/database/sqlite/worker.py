"""SQLite in a worker, since only another process can end its compiling and functions."""

from __future__ import annotations

import socket
from pathlib import Path

from ...errors import DatabaseUnavailable, SettingsError
from ...nursery import run_fork_server
from ...sandbox.boundary import drop_unneeded_capabilities
from ..wire import MESSAGE_BYTES, receive, unpack_open_request
from ..worker import serve_database
from .pool import ConnectionPool

# Temporary files that a query may have open, of which each may grow to its share of `Limits.disk_bytes`. They have no
# names, and SQLite opens one when a sort or a table of its own outgrows its cache. A write-ahead log that appears
# later takes up to four of them.
_FILES = 8


def serve(descriptor: int) -> None:
    """Fork a worker process for every connection until the control socket closes; never return."""
    # Workers make rows and bytes, no cycles: that none are looked for halves the time of a long result.
    run_fork_server(descriptor, work)


def work(sock: socket.socket) -> None:
    """Serve one database until the connection closes; never return."""
    if message := receive(sock, MESSAGE_BYTES):
        serve_database(sock, lambda: _open_connection_pool(message[1]), files=_FILES)


def _open_connection_pool(opening: bytes) -> ConnectionPool:
    path, permissions = unpack_open_request(opening)
    drop_unneeded_capabilities(path)
    try:
        return ConnectionPool(Path(path), permissions)
    except SettingsError as error:
        # They fitted when the database was opened.
        raise DatabaseUnavailable(f"{path} was altered while open: {error}: nothing is shown") from None
