"""uvicorn's HTTP/1.1 protocol with a time limit for a request's head."""

from __future__ import annotations

import asyncio

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_HEAD_SECONDS = 10.0


class HeadTimeoutProtocol(H11Protocol):
    """A protocol that closes connections whose request head does not arrive in time."""

    _head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_head_timeout()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._cancel_head_timeout()
        elif self._head is None:
            self._start_head_timeout()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_head_timeout()
        super().connection_lost(exc)

    def _start_head_timeout(self) -> None:
        self._head = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _cancel_head_timeout(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None
