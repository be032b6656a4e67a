"""A conversation at a pseudo-terminal: how soon Ctrl-C ends a turn, and a model's first words are seen."""

from __future__ import annotations

import asyncio
import json
import queue
import tempfile
import time
from pathlib import Path

from tests.support.openai_server import OpenAIServer
from tests.support.terminal import CTRL_C, PROMPT, PseudoTerminal

from .registry import BenchOptions, Figures
from .stand_in import sample_database

_TURNS = 5
_ON_THE_WAY = 0.5
"""Seconds that a turn has been at it when it is ended."""

_PAUSE_SECONDS = 0.25
"""Between two pieces of a reply."""

_PIECES = 240
_BEGIN = "SELECT count(*) AS one"
"""What every streamed query begins with, so that it can be waited for."""

_SLOW = f"{_BEGIN} FROM customers a, customers b, customers c, customers d WHERE a.email < b.email"


def run(options: BenchOptions) -> Figures:
    """Return the longest seconds from Ctrl-C to the next prompt, and from a model's piece to the screen.

    A turn is ended while a model's reply comes piece by piece, while none comes, and while a query runs.
    """
    turns = options.limit or _TURNS
    with tempfile.TemporaryDirectory() as folder, sample_database() as database, _StreamingServer() as server:
        settings = Path(folder) / "settings.toml"
        settings.write_text('query_seconds = 300\nturn_seconds = 600\nexamples = "none"\n', encoding="utf-8")
        chat = ["chat", "--db", str(database), "--settings", str(settings)]
        model = ["--model", "openai:stand-in", "--base-url", server.base_url]
        own = {"TABLETURN_HOME": folder, "TABLETURN_CACHE": folder, "OPENAI_API_KEY": "none"}
        with PseudoTerminal([*chat, *model], own) as terminal:
            terminal.wait_for(PROMPT)
            found = [_time_words(terminal, server.said) for _ in range(turns)]
            ended = [
                _interrupt(terminal, question, shown)
                for question, shown in [("Something quiet?", ""), ("A slow query?", _BEGIN)] * turns
            ]
    first, words = zip(*found, strict=True)
    return {"interrupt_s": round(max(*words, *ended), 3), "first_token_s": round(max(first), 3), "turns": turns}


def _time_words(terminal: PseudoTerminal, said: queue.Queue[float]) -> tuple[float, float]:
    """Return seconds from a model's first words to the screen, and from Ctrl-C to the prompt."""
    start = len(terminal.written)
    terminal.type("Some slow words?\r")
    seen = terminal.wait_for(_BEGIN[:12], start=start)
    terminal.read(_ON_THE_WAY)
    return seen - said.get(timeout=90), _press_ctrl_c(terminal)


def _interrupt(terminal: PseudoTerminal, question: str, shown: str) -> float:
    """Return seconds from Ctrl-C to the prompt, pressed when a question has been at it for a while."""
    start = len(terminal.written)
    terminal.type(f"{question}\r")
    terminal.wait_for(shown[:12], start=start)
    until = time.monotonic() + _ON_THE_WAY
    while time.monotonic() < until:
        terminal.read(0.05)
    return _press_ctrl_c(terminal)


def _press_ctrl_c(terminal: PseudoTerminal) -> float:
    """Return seconds from Ctrl-C to the next prompt."""
    start, pressed = len(terminal.written), time.monotonic()
    terminal.type(CTRL_C)
    ended = terminal.wait_for(PROMPT, start=start) - pressed
    terminal.read(0.2)
    if b"interrupted" not in terminal.written[start:]:
        raise AssertionError(f"the turn had ended before: {terminal.written[start - 500 :]!r}")
    return ended


class _StreamingServer(OpenAIServer):
    """A server that streams, and notes in `said` when a reply of slow words begins.

    A question decides what comes: one with `quiet` no reply at all, one with `slow words` a reply of one piece after
    the other for a minute, one with `slow query` at once a query that runs for minutes.
    """

    def __init__(self) -> None:
        super().__init__([])
        self.said: queue.Queue[float] = queue.Queue()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        async def send(text: str, reason: str | None = None) -> None:
            choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": reason}
            event = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
            end = "data: [DONE]\n\n" if reason else ""
            writer.write(f"data: {json.dumps(event)}\n\n{end}".encode())
            await writer.drain()

        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        question = (await reader.readexactly(length)).decode().rsplit("<question>", 1)[-1]
        if "quiet" in question:
            await reader.readexactly(1)  # nothing comes: the client leaves
        slow = "slow words" in question
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        await writer.drain()
        if slow:
            await asyncio.sleep(2 * _PAUSE_SECONDS)
            self.said.put(time.monotonic())
        await send(f"```sql\n{_BEGIN if slow else _SLOW}")
        for number in range(_PIECES if slow else 0):
            await asyncio.sleep(_PAUSE_SECONDS)
            if reader.at_eof():
                raise ConnectionError
            await send(f", {number}")
        await send("\n```", "stop")
        return False
