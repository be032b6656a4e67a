"""The watchdog that ends queries that exceed their time or are cancelled.

SQLite's progress handler would need Python's interpreter lock after every few thousand steps of every query, so that
fifty conversations at once would slow each other down, and it counts steps while a single step can take a second
(LIKE on a long text); a server has to be told on a second connection. One thread that looks at the running queries
every few milliseconds and interrupts those that are over costs the others nothing.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Literal

from ..errors import QueryTimeout

CANCELLED = "the query was cancelled"
OVERDUE = "the query ran longer than {seconds:g} s: join on keys, filter earlier, or ask for less"


class Cancellation:
    """A handle by which a caller cancels queries.

    Pass it to `Database.execute`, then call `cancel` from any thread: the query ends with `QueryTimeout`, and so does,
    at once, every query that is started with it afterwards.
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
        for watcher in watchers:
            watcher()

    @contextmanager
    def watch(self, watcher: Callable[[], None]) -> Generator[None]:
        """Call `watcher` once when `cancel` is called, or at once if it was called before."""
        with self._lock:
            if not self._cancelled.is_set():
                self._watchers.append(watcher)
        if self.cancelled:
            watcher()
        try:
            yield
        finally:
            with self._lock, suppress(ValueError):
                self._watchers.remove(watcher)

    @property
    def cancelled(self) -> bool:
        """Whether `cancel` was called."""
        return self._cancelled.is_set()


def raise_if_cancelled(cancellation: Cancellation | None) -> None:
    """Raise `QueryTimeout` if the query was cancelled."""
    if cancellation is not None and cancellation.cancelled:
        raise QueryTimeout(CANCELLED)


_INTERVAL = 0.01


@dataclass(eq=False)
class RunningQuery:
    """A running query, with its deadline and cancellation."""

    interrupt: Callable[[], None]  # ends the running statement; called repeatedly until it has ended
    deadline: float  # on the `time.monotonic` clock
    cancellation: Cancellation | None = None
    outcome: Literal["", "time", "cancelled"] = ""
    done: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def check(self, now: float) -> None:
        """Interrupt the query if its time is over or it was cancelled."""
        # Again and again, because an interrupt before the first step is forgotten.
        if not self.outcome:
            if self.cancellation is not None and self.cancellation.cancelled:
                self.outcome = "cancelled"
            elif now > self.deadline:
                self.outcome = "time"
        if self.outcome:
            with self.lock:
                if not self.done:
                    self.interrupt()

    def make_timeout(self, seconds: float) -> QueryTimeout:
        """Return the error for a query that was stopped by time or cancellation."""
        return QueryTimeout(CANCELLED if self.outcome == "cancelled" else OVERDUE.format(seconds=seconds))


class Watchdog:
    """A thread that watches a process's running queries, started by the first query."""

    def __init__(self) -> None:
        self._running: dict[RunningQuery, None] = {}
        self._wake = threading.Event()
        self._lock = threading.Lock()
        self._process = 0
        self._ended = False
        self._thread: threading.Thread | None = None
        # A thread that outlives the interpreter keeps alive what modules in C would free, which some complain of.
        atexit.register(self._stop_thread)

    @contextmanager
    def watch(self, query: RunningQuery) -> Generator[RunningQuery]:
        """Watch a query while the `with` block runs."""
        if self._process != os.getpid():
            self._start_thread()
        self._running[query] = None
        if not self._wake.is_set():
            self._wake.set()
        try:
            yield query
        finally:
            with query.lock:  # its connection may run another query now
                query.done = True
            self._running.pop(query, None)

    def _start_thread(self) -> None:
        with self._lock:
            if self._process != os.getpid():
                self._running = {}
                self._wake = threading.Event()
                self._thread = threading.Thread(target=self._watch_queries, name="tableturn-queries", daemon=True)
                self._thread.start()
                self._process = os.getpid()

    def _stop_thread(self) -> None:
        self._ended = True
        self._wake.set()
        if self._thread is not None and self._process == os.getpid():
            self._thread.join(1.0)

    def _watch_queries(self) -> None:
        while not self._ended:
            self._wake.wait()
            time.sleep(_INTERVAL)
            now = time.monotonic()
            queries = tuple(self._running)
            for query in queries:
                query.check(now)
            if not queries:
                self._wake.clear()
                if self._running:
                    self._wake.set()


WATCHDOG = Watchdog()
