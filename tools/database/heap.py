"""The limit on SQLite's heap: the only thing that stops a statement whose mere compilation takes all memory."""

from __future__ import annotations

import sqlite3
import threading

_lock = threading.Lock()
_lowest = 0


def limit_heap(connection: sqlite3.Connection, limit: int) -> None:
    """Lower the process-wide limit to `limit` bytes, unless it is as low already; 0 changes nothing.

    A statement that needs more fails with MemoryError and leaves its connection usable. Builds of SQLite before 3.31
    don't know the limit and ignore it.
    """
    global _lowest
    if not limit or (_lowest and _lowest <= limit):
        return
    with _lock:
        connection.execute(f"PRAGMA hard_heap_limit = {int(limit)}").close()
        _lowest = limit
