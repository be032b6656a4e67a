"""An OpenAI-compatible server that streams: `python -m tableturn.evals.bench.streaming_server`.

It prints its port, and then a line for what happens: `first` when the first piece of a reply goes out, `closed` when a
client left before the reply's end, each with the time by `time.monotonic`, which all processes share.

A question decides what comes: one with `quiet` no reply at all, one with `slow words` a reply of one piece after the
other for a minute, one with `slow query` at once a query that runs for minutes.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time

PAUSE_SECONDS = 0.25
"""Between two pieces of a reply."""

BEGIN = "SELECT count(*) AS one"
"""What every streamed query begins with, so that it can be waited for."""

_SLOW = f"{BEGIN} FROM customers a, customers b, customers c, customers d WHERE a.email < b.email"
_PIECES = 240


async def serve() -> None:
    """Serves until the process is terminated."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = int(head.split("content-length:")[1].split("\r\n")[0])
                prompt = (await reader.readexactly(length)).decode()
                await _reply(prompt.rsplit("<question>", 1)[-1], reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            _say("closed")
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


async def _reply(question: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    if "quiet" in question:
        await reader.readexactly(1)  # nothing comes: the client leaves
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n")
    await writer.drain()
    slow = "slow words" in question
    await asyncio.sleep(2 * PAUSE_SECONDS if slow else 0)
    _say("first")
    await _send(writer, f"```sql\n{BEGIN if slow else _SLOW}")
    for number in range(_PIECES if slow else 0):
        await asyncio.sleep(PAUSE_SECONDS)
        if reader.at_eof():
            raise ConnectionError
        await _send(writer, f", {number}")
    await _send(writer, "\n```", "stop")
    for text in (b"data: [DONE]\n\n", b""):
        writer.write(b"%x\r\n%b\r\n" % (len(text), text))
    await writer.drain()


async def _send(writer: asyncio.StreamWriter, text: str, reason: str | None = None) -> None:
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": reason}
    event = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    data = f"data: {json.dumps(event)}\n\n".encode()
    writer.write(b"%x\r\n%b\r\n" % (len(data), data))
    await writer.drain()


def _say(what: str) -> None:
    sys.stdout.write(f"{what} {time.monotonic()}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(serve())
