"""Replies that go on: server-sent events, the line kept open while there are none."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.responses import Response, StreamingResponse

STREAM = "text/event-stream"

_KEEP_ALIVE_SECONDS = 15.0


def event_stream(lines: AsyncIterator[bytes], headers: dict[str, str] | None = None) -> Response:
    """A reply of these events."""
    more = {"x-accel-buffering": "no", "cache-control": "no-store"}
    return StreamingResponse(_kept_alive(lines), media_type=STREAM, headers=more | (headers or {}))


async def _kept_alive(lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    """The lines, with a comment wherever there is none for a while: proxies close what is silent."""
    line: asyncio.Task[bytes] | None = None
    try:
        while True:
            line = line or asyncio.ensure_future(anext(lines))
            if (await asyncio.wait((line,), timeout=_KEEP_ALIVE_SECONDS))[0]:
                yield line.result()
                line = None
            else:
                yield b": still here\n\n"
    except StopAsyncIteration:
        return
    finally:
        if line is not None:
            line.cancel()
