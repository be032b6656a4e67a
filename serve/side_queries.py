"""Queries that people run beside turns, a few at once, on their own threads."""

from __future__ import annotations

import asyncio
import contextvars
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TypeVar

from ..tools.database import Cancellation
from .config import ServerLimits
from .request_checks import TooMany
from .store import Owner

R = TypeVar("R")

_WAITING = 32
"""Of one person, those that run included: a page asks for a few results at once, and nobody waits for more."""


class SideQueryRunner:
    """A runner of queries that people start outside turns."""

    def __init__(self, limits: ServerLimits) -> None:
        self._limits = limits
        self._pool = ThreadPoolExecutor(limits.queries_at_once, "tableturn-query")
        self._wanted: Counter[Owner] = Counter()
        self._shares: dict[Owner, asyncio.Semaphore] = {}
        self._running: set[Cancellation] = set()

    async def run(self, owner: Owner, function: Callable[[Cancellation], R]) -> R:
        """Run a blocking function in a thread, only a few at once for a named person."""
        if self._wanted[owner] >= _WAITING or self._wanted.total() >= self._limits.at_once:
            raise TooMany("too many queries are waiting: try again in a moment")
        self._wanted[owner] += 1
        cancellation = Cancellation()
        # A task of its own: who gives up keeps their share until the thread has ended.
        running = asyncio.create_task(self._run_in_pool(owner, function, cancellation))
        running.add_done_callback(lambda done: done.cancelled() or done.exception())  # seen, if nobody waits any more
        try:
            return await asyncio.shield(running)
        except asyncio.CancelledError:
            if cancellation not in self._running:
                running.cancel()  # it waits for its turn
            cancellation.cancel()
            raise

    async def _run_in_pool(self, owner: Owner, function: Callable[[Cancellation], R], cancellation: Cancellation) -> R:
        share = self._shares.setdefault(owner, asyncio.Semaphore(self._limits.at_once_a_person))
        try:
            async with share if owner.person else nullcontext():
                self._running.add(cancellation)
                context = contextvars.copy_context()
                loop = asyncio.get_running_loop()
                return await loop.run_in_executor(self._pool, lambda: context.run(function, cancellation))
        finally:
            self._running.discard(cancellation)
            self._wanted[owner] -= 1
            if not self._wanted[owner]:
                del self._wanted[owner], self._shares[owner]

    def cancel(self) -> None:
        """Cancel all running queries."""
        for cancellation in tuple(self._running):
            cancellation.cancel()

    def close(self) -> None:
        """Cancel all running queries, and accept no more."""
        self.cancel()
        self._pool.shutdown(cancel_futures=True)
