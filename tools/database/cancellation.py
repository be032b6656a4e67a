"""Stopping a query from another thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager


class Cancellation:
    """A handle on one caller's queries: pass it to `Database.execute`, then call `cancel` from any thread.

    Once cancelled it stays so: a query started with it afterwards ends at once. The query ends with `QueryTimeout`.
    """

    def __init__(self) -> None:
        self._cancelled = threading.Event()
        self._lock = threading.Lock()
        self._watchers: list[Callable[[], None]] = []

    def cancel(self) -> None:
        """Stop the query that runs with this handle, and every later one."""
        with self._lock:
            self._cancelled.set()
            watchers, self._watchers = self._watchers, []
        for told in watchers:
            told()

    @contextmanager
    def watched(self, told: Callable[[], None]) -> Generator[None]:
        """Within it, `told` is called once when this is cancelled, in the thread that does so; at once if it is."""
        with self._lock:
            if not self._cancelled.is_set():
                self._watchers.append(told)
        if self.cancelled:
            told()
        try:
            yield
        finally:
            with self._lock:
                if told in self._watchers:
                    self._watchers.remove(told)

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()
