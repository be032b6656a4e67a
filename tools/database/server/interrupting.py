"""Ending what runs on a server from a second connection, and, where that doesn't help, hanging up."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

_AGAIN_SECONDS = 0.5
_HANG_UP_SECONDS = 3.0


class Interrupter:
    """Asks in a thread of its own, for a new connection takes time, and the watchdog looks after other queries too."""

    def __init__(self, ask: Callable[[], None], hang_up: Callable[[], None]) -> None:
        """Both may raise: then it is tried again."""
        self._ask = ask
        self._hang_up = hang_up
        self._first = 0.0
        self._last = 0.0

    def interrupt(self) -> None:
        """Called again and again until the statement has ended."""
        now = time.monotonic()
        self._first = self._first or now
        if now - self._last < _AGAIN_SECONDS:
            return
        self._last = now
        chosen = self._hang_up if now - self._first > _HANG_UP_SECONDS else self._ask
        threading.Thread(target=_quietly, args=(chosen,), name="tableturn-interrupt", daemon=True).start()


def _quietly(ask: Callable[[], None]) -> None:
    try:
        ask()
    except Exception:  # noqa: BLE001 - a driver's error: the next try asks again, the last one hangs up
        return
