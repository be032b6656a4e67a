"""An OpenAI-compatible server in a process of its own: `python -m tableturn.evals.bench.slow_server SECONDS`.

It takes its time for each reply, serves any number of requests at once, and prints its port first.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from .stand_in import reply_to


async def serve(seconds: float) -> None:
    """Serves until the process is terminated."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                length = int(head.split("content-length:")[1].split("\r\n")[0]) if "content-length:" in head else 0
                request = json.loads(await reader.readexactly(length))
                await asyncio.sleep(seconds)
                writer.write(_response(request))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=1024)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


def _response(request: dict[str, Any]) -> bytes:
    text = reply_to("\n".join(message["content"] for message in request["messages"]))
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    reply = {"id": "1", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice], "usage": usage}
    kind, body = "application/json", json.dumps(reply).encode()
    if request.get("stream"):
        piece = {"index": 0, "delta": choice["message"], "finish_reason": "stop"}
        chunk = reply | {"object": "chat.completion.chunk", "choices": [piece]}
        kind, body = "text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode()
    head = f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n\r\n"
    return head.encode() + body


if __name__ == "__main__":
    asyncio.run(serve(float(sys.argv[1])))
