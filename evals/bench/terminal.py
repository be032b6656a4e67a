"""A conversation at a pseudo-terminal: how soon Ctrl-C ends a turn, and a model's first words are seen."""

from __future__ import annotations

import queue
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

from .pseudo_terminal import CTRL_C, PROMPT, PseudoTerminal
from .registry import BenchOptions
from .stand_in import sample_database
from .streaming_server import BEGIN

_TURNS = 5
_ON_THE_WAY = 0.5
"""Seconds that a turn has been at it when it is ended."""


def run(options: BenchOptions) -> dict[str, object]:
    """The longest of a few turns each: seconds from Ctrl-C to the next prompt, and from a model's piece to the screen.

    A turn is ended while a model's reply comes piece by piece (`interrupt_words_s`), while none comes
    (`interrupt_quiet_s`), and while a query runs (`interrupt_query_s`); `interrupt_s` is the longest of them.
    `request_closed_s` is when the model's server saw that nobody waited for the reply any more.
    """
    turns = options.limit or _TURNS
    with tempfile.TemporaryDirectory() as folder, sample_database() as database, _server() as (url, said):
        settings = Path(folder) / "settings.toml"
        settings.write_text('query_seconds = 300\nturn_seconds = 600\nexamples = "none"\n', encoding="utf-8")
        chat = ["chat", "--db", str(database), "--settings", str(settings)]
        model = ["--model", "openai:stand-in", "--base-url", url]
        own = {"TABLETURN_HOME": folder, "TABLETURN_CACHE": folder, "OPENAI_API_KEY": "none"}
        with PseudoTerminal([*chat, *model], own) as terminal:
            terminal.wait_for(PROMPT)
            found = [_words(terminal, said) for _ in range(turns)]
            quiet = [_ended(terminal, "Something quiet?", _ON_THE_WAY) for _ in range(turns)]
            query = [_ended(terminal, "A slow query?", _ON_THE_WAY, BEGIN) for _ in range(turns)]
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
    seen = terminal.wait_for(BEGIN[:12], start=start)
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


@contextmanager
def _server() -> Generator[tuple[str, queue.Queue[tuple[str, float]]]]:
    """A streaming server in a process of its own: its base URL, and what it tells."""
    said: queue.Queue[tuple[str, float]] = queue.Queue()
    command = [sys.executable, "-m", "tableturn.evals.bench.streaming_server"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:  # noqa: S603 - our own module
        assert process.stdout is not None
        port, lines = process.stdout.readline().strip(), process.stdout

        def listen() -> None:
            for line in lines:
                name, at = line.split()
                said.put((name, float(at)))

        threading.Thread(target=listen, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{port}/v1", said
        finally:
            process.terminate()
