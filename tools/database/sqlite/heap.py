"""The limit on SQLite's heap: the only thing that stops a statement whose mere compilation takes all memory."""

from __future__ import annotations

import sqlite3
import threading

_lock = threading.Lock()
_lowest = 0


def heap_limit_to_lower(limit: int) -> bool:
    """Whether the process-wide limit is not yet as low as `limit` bytes; 0 never lowers it."""
    return bool(limit) and not 0 < _lowest <= limit


def limit_heap(connection: sqlite3.Connection, limit: int) -> None:
    """Lower the process-wide limit to `limit` bytes.

    A statement that needs more fails with MemoryError and leaves its connection usable. Builds of SQLite before 3.31
    don't know the limit and ignore it.
    """
    global _lowest
    with _lock:
        if heap_limit_to_lower(limit):
            connection.execute(f"PRAGMA hard_heap_limit = {int(limit)}").close()
            _lowest = limit
