"""Threads for calls that may have to be left to themselves, used again and again.

Starting one for each request costs more than handing it over does. Those of the standard library's executors would not
do: at its end a program waits for them, and so for a server that never replies.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from queue import SimpleQueue
from typing import TypeVar

R = TypeVar("R")
Work = Callable[[], None]

_MOST_IDLE = 8
"""Threads that wait for work; more end once theirs is done."""

_idle: deque[SimpleQueue[Work]] = deque()
os.register_at_fork(after_in_child=_idle.clear)  # their threads are the parent's


def start(function: Callable[[], R]) -> Future[R]:
    """Calls a function in a thread that does not keep the program from ending, in the caller's context."""
    outcome: Future[R] = Future()

    def work() -> None:
        try:
            outcome.set_result(function())
        except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
            outcome.set_exception(error)

    context = copy_context()
    try:
        queue = _idle.pop()
    except IndexError:
        queue = SimpleQueue()
        threading.Thread(target=_serve, args=(queue,), daemon=True).start()
    queue.put(lambda: context.run(work))
    return outcome


def _serve(queue: SimpleQueue[Work]) -> None:
    while True:
        queue.get()()
        if len(_idle) >= _MOST_IDLE:
            return
        _idle.append(queue)
