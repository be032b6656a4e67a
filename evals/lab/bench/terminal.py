"""A conversation at a pseudo-terminal: how soon Ctrl-C ends a turn, and a model's first words are seen."""

from __future__ import annotations

import asyncio
import json
import queue
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.support.openai_server import OpenAIServer
from tests.support.terminal import CTRL_C, PROMPT, PseudoTerminal

from .registry import BenchOptions
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


def run(options: BenchOptions) -> dict[str, object]:
    """The longest of a few turns each: seconds from Ctrl-C to the next prompt, and from a model's piece to the screen.

    A turn is ended while a model's reply comes piece by piece (`interrupt_words_s`), while none comes
    (`interrupt_quiet_s`), and while a query runs (`interrupt_query_s`); `interrupt_s` is the longest of them.
    `request_closed_s` is when the model's server saw that nobody waited for the reply any more.
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
            found = [_words(terminal, server.said) for _ in range(turns)]
            quiet = [_ended(terminal, "Something quiet?", _ON_THE_WAY) for _ in range(turns)]
            query = [_ended(terminal, "A slow query?", _ON_THE_WAY, _BEGIN) for _ in range(turns)]
    first, words, closed = zip(*found, strict=True)
    return {
        "interrupt_s": round(max(*words, *quiet, *query), 3),
        "first_token_s": round(max(first), 3),
        "interrupt_words_s": round(max(words), 3),
        "interrupt_quiet_s": round(max(quiet), 3),
        "interrupt_query_s": round(max(query), 3),
        "request_closed_s": round(max(closed), 3),
        "median_interrupt_s": round(median([*words, *quiet, *query]), 3),
        "median_first_token_s": round(median(first), 3),
        "turns": turns,
    }


def _words(terminal: PseudoTerminal, said: queue.Queue[tuple[str, float]]) -> tuple[float, float, float]:
    """Seconds to the first words on the screen, from Ctrl-C to the prompt, and to the closed request."""
    start = len(terminal.written)
    while not said.empty():
        said.get()
    terminal.type("Some slow words?\r")
    seen = terminal.wait_for(_BEGIN[:12], start=start)
    first = _when(said, "first")
    terminal.read(_ON_THE_WAY)
    pressed = time.monotonic()
    ended = _press(terminal)
    return seen - first, ended, _when(said, "closed") - pressed


def _ended(terminal: PseudoTerminal, question: str, after: float, shown: str = "") -> float:
    start = len(terminal.written)
    terminal.type(f"{question}\r")
    if shown:
        terminal.wait_for(shown[:12], start=start)
    until = time.monotonic() + after
    while time.monotonic() < until:
        terminal.read(0.05)
    return _press(terminal)


def _press(terminal: PseudoTerminal) -> float:
    """Seconds from Ctrl-C to the next prompt."""
    start, pressed = len(terminal.written), time.monotonic()
    terminal.type(CTRL_C)
    ended = terminal.wait_for(PROMPT, start=start) - pressed
    terminal.read(0.2)
    if b"interrupted" not in terminal.written[start:]:
        raise AssertionError(f"the turn had ended before: {terminal.written[start - 500 :]!r}")
    return ended


def _when(said: queue.Queue[tuple[str, float]], what: str) -> float:
    while True:
        name, at = said.get(timeout=90)
        if name == what:
            return at


class _StreamingServer(OpenAIServer):
    """A server that streams, and notes in `said` when a reply begins, and when a client leaves before its end.

    A question decides what comes: one with `quiet` no reply at all, one with `slow words` a reply of one piece after
    the other for a minute, one with `slow query` at once a query that runs for minutes.
    """

    def __init__(self) -> None:
        super().__init__([])
        self.said: queue.Queue[tuple[str, float]] = queue.Queue()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(head.split("content-length:")[1].split("\r\n")[0])
        question = (await reader.readexactly(length)).decode().rsplit("<question>", 1)[-1]
        try:
            if "quiet" in question:
                await reader.readexactly(1)  # nothing comes: the client leaves
            await self._stream("slow words" in question, reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.said.put(("closed", time.monotonic()))
            raise
        return False

    async def _stream(self, slow: bool, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(2 * _PAUSE_SECONDS if slow else 0)
        self.said.put(("first", time.monotonic()))
        await _send(writer, f"```sql\n{_BEGIN if slow else _SLOW}")
        for number in range(_PIECES if slow else 0):
            await asyncio.sleep(_PAUSE_SECONDS)
            if reader.at_eof():
                raise ConnectionError
            await _send(writer, f", {number}")
        await _send(writer, "\n```", "stop")


async def _send(writer: asyncio.StreamWriter, text: str, reason: str | None = None) -> None:
    choice = {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": reason}
    event = {"id": "1", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    end = "data: [DONE]\n\n" if reason else ""
    writer.write(f"data: {json.dumps(event)}\n\n{end}".encode())
    await writer.drain()
