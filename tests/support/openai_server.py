"""A loopback OpenAI-compatible server that answers as scripted: well, badly, late, or not at all.

One thread with one event loop serves hundreds of connections at once.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Literal, Self, TypeAlias


@dataclass(frozen=True)
class Behaviour:
    """What the server does with one request.

    Attributes:
        kind: `reply`, `reset` (closes the connection without an answer), `hang` (never answers), `drip` (begins an
            answer and goes on with a blank now and then, for ever), `flood` (the same, as fast as it can), `empty` (a
            reply without a message) or `raw` (the content as it is, whatever was asked for).
        content: The model's words; with another status, the error's message.
        finish_reason: `stop` or `length`.
        status: HTTP status.
        headers: Further response headers.
        delay: Seconds before answering.
        usage: Prompt and completion tokens; None for a server that doesn't count.
        refusal: The separate refusal field of OpenAI's replies.
        tool: A tool that the model calls, with its arguments as JSON; None for none.
        held: What the second half of a streamed reply waits for; None for nothing.
    """

    kind: Literal["reply", "reset", "hang", "drip", "flood", "empty", "raw"] = "reply"
    content: str = ""
    finish_reason: str = "stop"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    delay: float = 0.0
    usage: tuple[int, int] | None = (100, 10)
    refusal: str | None = None
    tool: tuple[str, str] | None = None
    held: threading.Event | None = None


def says(content: str, **more: Any) -> Behaviour:
    """A reply of these words."""
    return Behaviour(content=content, **more)


def sql(statement: str, **more: Any) -> Behaviour:
    """A reply of one fenced query."""
    return Behaviour(content=f"```sql\n{statement}\n```", **more)


def calls(tool: str, arguments: Mapping[str, Any]) -> Behaviour:
    """A reply that calls a tool."""
    return Behaviour(tool=(tool, json.dumps(arguments)), finish_reason="tool_calls")


def cut(content: str) -> Behaviour:
    """A reply that ends at the output limit."""
    return Behaviour(content=content, finish_reason="length")


def fails(status: int, message: str = "scripted failure", **headers: str) -> Behaviour:
    """An error status; headers are given with underscores: `retry_after="0.05"`."""
    return Behaviour(
        status=status, content=message, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


def raw(content: str) -> Behaviour:
    """A body that is sent as it is, with status 200."""
    return Behaviour(kind="raw", content=content)


RESET = Behaviour(kind="reset")
HANG = Behaviour(kind="hang")
DRIP = Behaviour(kind="drip")
FLOOD = Behaviour(kind="flood")
EMPTY = Behaviour(kind="empty")

Script: TypeAlias = Sequence[Behaviour] | Callable[[dict[str, Any]], Behaviour]
"""Behaviours in the order of the requests, the last one for all further requests; or a function of the request."""


class OpenAIServer:
    """Serves on a free port of 127.0.0.1 while used as a context manager.

    It closes each connection after its answer, so that clients, which nobody closes, leave no sockets behind at which
    a later test would stumble; with `keep_alive` it doesn't.

    Attributes:
        requests: Bodies of the chat requests in the order in which they came.
    """

    def __init__(self, script: Script, models: Sequence[str] = ("scripted",), *, keep_alive: bool = False) -> None:
        self.requests: list[dict[str, Any]] = []
        self._script = script
        self._models = models
        self._keep_alive = keep_alive
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    @property
    def prompts(self) -> list[str]:
        """The messages of each request as one text."""
        return ["\n".join(str(message["content"]) for message in body["messages"]) for body in self.requests]

    def __enter__(self) -> Self:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        asyncio.run_coroutine_threadsafe(self._stop(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _start(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024)
        self._port = self._server.sockets[0].getsockname()[1]

    async def _stop(self) -> None:
        self._server.close()
        while tasks := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.sleep(0.01)  # for a connection between its acceptance and its task

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        length = next(
            (int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0
        )
        raw = await reader.readexactly(length)
        if head.startswith("GET"):
            listed = {"object": "list", "data": [{"id": name, "object": "model"} for name in self._models]}
            return await self._write(writer, 200, json.dumps(listed))
        body = json.loads(raw)
        behaviour = self._next(body)
        await asyncio.sleep(behaviour.delay)
        if behaviour.kind == "hang":
            await asyncio.sleep(3_600)  # the loop's timer holds the task; one that waits for nothing is collected
        if behaviour.kind in ("drip", "flood"):
            writer.write(b"HTTP/1.1 200 scripted\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{")
            while True:
                writer.write(b" " * (1 if behaviour.kind == "drip" else 100_000))
                await writer.drain()
                await asyncio.sleep(0.05 if behaviour.kind == "drip" else 0)
        if behaviour.kind == "reset":
            writer.transport.abort()
            return False
        if behaviour.kind == "raw":
            media = "text/html" if behaviour.content.startswith("<") else "application/json"
            return await self._write(writer, behaviour.status, behaviour.content, media)
        if body.get("stream") and behaviour.status == 200:
            return await self._write(
                writer, 200, _streamed(behaviour), "text/event-stream", behaviour.headers, behaviour.held
            )
        return await self._write(writer, behaviour.status, json.dumps(_payload(behaviour)), headers=behaviour.headers)

    async def _write(
        self,
        writer: asyncio.StreamWriter,
        status: int,
        text: str,
        media: str = "application/json",
        headers: Mapping[str, str] | None = None,
        held: threading.Event | None = None,
    ) -> bool:
        data = text.encode()
        lines = [f"HTTP/1.1 {status} scripted", f"content-type: {media}", f"content-length: {len(data)}"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        if not self._keep_alive:
            lines.append("connection: close")
        first = data.index(b"\n\n") + 2 if held else len(data)
        writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + data[:first])
        await writer.drain()
        while held and not held.is_set():
            await asyncio.sleep(0.01)
        writer.write(data[first:])
        await writer.drain()
        return self._keep_alive

    def _next(self, body: dict[str, Any]) -> Behaviour:
        self.requests.append(body)
        if callable(self._script):
            return self._script(body)
        return self._script[min(len(self.requests), len(self._script)) - 1]


def _payload(behaviour: Behaviour) -> dict[str, Any]:
    if behaviour.status != 200:
        return {"error": {"message": behaviour.content, "type": "scripted", "code": None}}
    message: dict[str, Any] = {"role": "assistant", "content": behaviour.content, "refusal": behaviour.refusal}
    if behaviour.tool:
        message["tool_calls"] = [_tool_call(*behaviour.tool)]
    payload: dict[str, Any] = {
        "id": "scripted",
        "object": "chat.completion",
        "created": 0,
        "model": "scripted",
        "choices": [{"index": 0, "message": message, "finish_reason": behaviour.finish_reason}],
    }
    if behaviour.kind == "empty":
        payload["choices"] = []
    return payload | _usage(behaviour)


def _usage(behaviour: Behaviour) -> dict[str, Any]:
    if behaviour.usage is None:
        return {}
    prompt, completion = behaviour.usage
    return {"usage": {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}}


def _streamed(behaviour: Behaviour) -> str:
    common = {"id": "scripted", "object": "chat.completion.chunk", "created": 0, "model": "scripted"}
    middle = len(behaviour.content) // 2
    first: dict[str, Any] = {"role": "assistant", "content": behaviour.content[:middle]}
    if behaviour.tool:
        first["tool_calls"] = [{"index": 0, **_tool_call(*behaviour.tool)}]
    choices: list[dict[str, Any]] = [
        {"index": 0, "delta": first, "finish_reason": None},
        {"index": 0, "delta": {"content": behaviour.content[middle:]}, "finish_reason": None},
        {"index": 0, "delta": {}, "finish_reason": behaviour.finish_reason},
    ]
    chunks = [common | {"choices": [choice]} for choice in choices]
    if behaviour.usage is not None:
        chunks.append(common | {"choices": []} | _usage(behaviour))
    return "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + "data: [DONE]\n\n"


def _tool_call(name: str, arguments: str) -> dict[str, Any]:
    return {"id": "call", "type": "function", "function": {"name": name, "arguments": arguments}}
