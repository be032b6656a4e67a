"""A cache in which making one entry holds up nobody who wants another."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class KeyedCache(Generic[K, V]):
    """A thread-safe cache that creates each entry only once."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._entries: OrderedDict[K, Future[V]] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the entry for `key`, created on first use; an error of `make` reaches all callers."""
        with self._lock:
            entry = self._entries.pop(key, None)
            made = entry or Future[V]()
            self._entries[key] = made
            while len(self._entries) > self._most:
                self._entries.popitem(last=False)
        if entry is None:
            try:
                made.set_result(make())
            except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
                with self._lock:
                    if self._entries.get(key) is made:
                        del self._entries[key]
                made.set_exception(error)
        return made.result()
