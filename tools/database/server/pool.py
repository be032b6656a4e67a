"""Connections to a server, for any number of threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from ...errors import DatabaseUnavailable

# Idle connections kept open; more are opened when more queries run at once, so that none waits for another.
_IDLE_CONNECTIONS = 4


class Closable(Protocol):
    """A connection."""

    def close(self) -> None:
        """Closes it; never raises."""
        ...


C = TypeVar("C", bound=Closable)


class Pool(Generic[C]):
    """Hands out connections, one thread at a time each."""

    def __init__(self, connect: Callable[[], C]) -> None:
        self._connect = connect
        self._lock = threading.Lock()
        self._idle: list[C] = []
        self._closed = False

    def take(self) -> C:
        """A connection for one piece of work; give it back with `give`.

        Raises:
            DatabaseUnavailable: The server cannot be reached, or the pool is closed.
        """
        self.check_open()
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return self._connect()

    def check_open(self) -> None:
        """Raises `DatabaseUnavailable` where the pool was closed."""
        if self._closed:
            raise DatabaseUnavailable("the database was closed: open it again")

    def give(self, connection: C, *, usable: bool) -> None:
        """Takes a connection back, or closes it."""
        with self._lock:
            if usable and not self._closed and len(self._idle) < _IDLE_CONNECTIONS:
                self._idle.append(connection)
                return
        connection.close()

    def drop_idle(self) -> None:
        """Closes the idle connections: after one was found dropped, the others are likely to be."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Closes every idle connection; those in use are closed when they are given back."""
        with self._lock:
            self._closed = True
        self.drop_idle()
