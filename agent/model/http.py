"""HTTP clients for a model's server, with bounds on the length and time of replies.

They also keep to the turn's budgets request by request: the client library repeats failed ones by itself.

A blocking request that nobody waits for any more is ended by closing its connection from outside. Only where it went
out over an earlier connection, and no reply has begun, is that not known: then it ends when one does, or at its bound.
"""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from functools import cache
from typing import Any

import httpx2 as httpx
from openai import DefaultAsyncHttpxClient, DefaultHttpxClient

from .turn_budget import get_current_allowance

MOST_BYTES = 32_000_000  # longest reply that is read: far more than any model writes


@cache
def make_bounded_http_clients(seconds: float) -> tuple[httpx.Client, httpx.AsyncClient]:
    """Return shared HTTP clients that limit the size of a reply, and its time to `seconds`."""

    def bound_response_stream(response: httpx.Response) -> None:
        _register_connection(response.extensions.get("network_stream"))
        response.stream = _BoundedReplyStream(response.stream, seconds)

    async def bound_stream_async(response: httpx.Response) -> None:
        response.stream = _BoundedReplyStream(response.stream, seconds)

    return (
        DefaultHttpxClient(event_hooks={"request": [_count_and_trace_request], "response": [bound_response_stream]}),
        DefaultAsyncHttpxClient(event_hooks={"request": [_count_async_request], "response": [bound_stream_async]}),
    )


def _count_and_trace_request(request: httpx.Request) -> None:
    if (allowance := get_current_allowance()) is not None:
        allowance.count_request()
        request.extensions = {**request.extensions, "trace": _trace_connection}


def _trace_connection(event: str, info: Mapping[str, Any]) -> None:
    """Register a connection as soon as it is open."""
    if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
        _register_connection(info["return_value"])


def _register_connection(stream: Any) -> None:
    """Register a connection so that it can be closed when the reply is no longer needed."""
    allowance = get_current_allowance()
    connection: socket.socket | None = stream and stream.get_extra_info("socket")
    if allowance is None or connection is None:
        return

    def shut_down_socket() -> None:
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    allowance.register_connection_closer(shut_down_socket)


async def _count_async_request(request: httpx.Request) -> None:
    if (allowance := get_current_allowance()) is not None:
        allowance.count_request()


class _BoundedReplyStream(httpx.SyncByteStream, httpx.AsyncByteStream):
    """The stream of one reply, with a maximum of bytes and seconds."""

    def __init__(self, stream: Any, seconds: float) -> None:
        self._stream = stream
        self._bytes_left = MOST_BYTES
        self._until = time.monotonic() + seconds
        self._seconds = seconds

    def _check_reply_limits(self, chunk: bytes) -> bytes:
        self._bytes_left -= len(chunk)
        if self._bytes_left < 0:
            raise httpx.ReadError(f"the reply is longer than {MOST_BYTES:,} bytes")
        if time.monotonic() > self._until:
            raise httpx.ReadTimeout(f"the reply was not complete after {self._seconds:g} s")
        return chunk

    def __iter__(self) -> Iterator[bytes]:
        return map(self._check_reply_limits, self._stream)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            yield self._check_reply_limits(chunk)

    def close(self) -> None:
        self._stream.close()

    async def aclose(self) -> None:
        await self._stream.aclose()
