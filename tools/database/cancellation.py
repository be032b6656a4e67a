"""Stopping a query from another thread."""

from __future__ import annotations

import threading


class Cancellation:
    """A handle on one caller's queries: pass it to `Database.execute`, then call `cancel` from any thread.

    Once cancelled it stays so: a query started with it afterwards ends at once. The query ends with `QueryTimeout`.
    """

    def __init__(self) -> None:
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        """Stop the query that runs with this handle, and every later one."""
        self._cancelled.set()

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()
