"""The server while things fail: whether every turn is answered, refused in words of ours, or offered again."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import tempfile
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import httpx2 as httpx

from .registry import BenchOptions
from .serve_process import Serving, client_of, free_port, served
from .stand_in import TURNS, sample_database, slow_server

_TURNS = 40
_AT_ONCE = 8
_KILL_SECONDS = 300.0
_BETWEEN_KILLS = 10.0
_FOUND_SECONDS = 300.0
"""How long a client looks for its turn: on a busy machine a new worker takes half a minute to come up."""

_FULL_BYTES = 2_000_000
"""No file may grow beyond this: room for the store's tables, and for a few turns."""


_UNFORESEEN = ("Internal", "InternalError")
"""Errors that are not ours."""


@dataclass
class Outcome:
    """What became of the turns that were asked while something failed.

    Attributes:
        turns: Those that were asked.
        answered: Those with an answer, asked again or not.
        typed_errors: Those that ended in an error of ours, which says what to do.
        offered_again: Those whose worker died, which were found as lost and asked again.
        lost: Those of which nobody knows any more, and answers that were given and are not kept.
    """

    turns: int = 0
    answered: int = 0
    typed_errors: int = 0
    offered_again: int = 0
    lost: int = 0
    kept: dict[str, str] = field(default_factory=dict[str, str], repr=False)

    def figures(self) -> dict[str, int]:
        """As the benchmark prints it."""
        return {name: value for name, value in asdict(self).items() if name != "kept"}


def run(options: BenchOptions) -> dict[str, object]:
    """An `Outcome` for each fault; `--limit` is how many turns each has (40), and shortens `worker_killed` alike."""
    return asyncio.run(_run(options.limit or _TURNS))


async def _run(turns: int) -> dict[str, object]:
    figures: dict[str, object] = {}
    settings = '{"request_retries": 1, "request_seconds": 1.0, "effort": "low"}'
    with sample_database() as path, slow_server(0.2) as quick, slow_server(5.0) as slow, _limited() as limited:
        urls = {"model_down": f"http://127.0.0.1:{free_port()}/v1", "model_slow": slow, "model_rate_limited": limited}
        urls |= {"database_locked": quick, "disk_full": quick}
        for fault, url in urls.items():
            async with _serving(path, url, settings, full=fault == "disk_full") as serving:
                with _locked(path) if fault == "database_locked" else nullcontext():
                    figures[fault] = (await _many(serving, turns)).figures()
        async with _serving(path, quick, settings, workers=2) as serving:
            seconds = _KILL_SECONDS * min(turns / _TURNS, 1.0)
            figures["worker_killed"] = (await _while_killing(serving, seconds)).figures()
    return figures


@asynccontextmanager
async def _serving(
    path: Path, url: str, settings: str, workers: int = 1, *, full: bool = False
) -> AsyncGenerator[Serving]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "settings.json"
        file.write_text(settings)
        options = ["--db", str(path), "--model", "openai:m", "--base-url", url, "--settings", str(file)]
        options += ["--workers", str(workers)]
        async with served(Path(folder), *options, file_bytes=_FULL_BYTES if full else None) as serving:
            yield serving


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Somebody else holds the database."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")


@contextmanager
def _limited() -> Generator[str]:
    """A model's server that always says that there were too many requests."""
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("content-length", 0)))
            self.send_response(429)
            self.send_header("retry-after", "1")
            self.send_header("content-length", "2")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()


async def _many(serving: Serving, turns: int) -> Outcome:
    """So many turns, a few at once."""
    outcome, left = Outcome(), iter(range(turns))
    async with client_of(serving) as client:

        async def ask() -> None:
            for _ in left:
                await _turn(client, outcome)

        await asyncio.gather(*(ask() for _ in range(_AT_ONCE)))
        await _look_again(client, outcome)
    return outcome


async def _while_killing(serving: Serving, seconds: float) -> Outcome:
    """Turns for so long, while a worker is killed now and then."""
    outcome, until = Outcome(), time.monotonic() + seconds
    async with client_of(serving, seconds=30.0) as client:

        async def ask() -> None:
            while time.monotonic() < until:
                await _turn(client, outcome)

        async def kill() -> None:
            while time.monotonic() < until:
                await asyncio.sleep(min(_BETWEEN_KILLS, max(seconds / 3, 1.0)))
                if workers := serving.workers():
                    with suppress(ProcessLookupError):
                        os.kill(random.choice(workers), signal.SIGKILL)  # noqa: S311 - any will do

        await asyncio.gather(kill(), *(ask() for _ in range(_AT_ONCE)))
        await _look_again(client, outcome)
    return outcome


async def _turn(client: Any, outcome: Outcome) -> None:
    """Takes a turn in a thread of its own; whose connection breaks looks what became of it."""
    thread = ""
    try:
        begun = await client.post("/threads", json={})
        if begun.status_code != 201:
            outcome.turns += 1
            _count(begun, outcome)
            return
        thread = begun.json()["id"]
    except httpx.HTTPError:
        await asyncio.sleep(0.5)  # nothing was accepted
        return
    outcome.turns += 1
    try:
        if outcome.turns % 2:
            _count(await client.post(f"/threads/{thread}/turns", json={"question": TURNS[0][0]}), outcome)
        else:
            await _watch(client, thread, outcome)
    except httpx.HTTPError:
        await _find(client, thread, outcome)


async def _watch(client: Any, thread: str, outcome: Outcome) -> None:
    """Takes a turn and listens to its events, as the page does.

    Raises:
        httpx.HTTPError: The line broke.
    """
    asked, headers = {"question": TURNS[0][0]}, {"accept": "text/event-stream"}
    async with client.stream("POST", f"/threads/{thread}/turns", json=asked, headers=headers) as reply:
        if reply.status_code != 200:
            await reply.aread()
            _count(reply, outcome)
            return
        event = await _last_event(reply)
    if event.get("event") == "answer":
        _count_body({"id": event["turn"], "thread": thread, "answer": event["answer"]}, outcome)
    elif event.get("event") == "error":
        _count_body({"error": event}, outcome)
    else:
        raise httpx.ReadError("the line ended before the turn did")


async def _last_event(reply: Any) -> dict[str, Any]:
    last: dict[str, Any] = {}
    async for line in reply.aiter_lines():
        if line.startswith("data: "):
            last = json.loads(line.removeprefix("data: "))
    return last


def _count(reply: Any, outcome: Outcome) -> None:
    """Counts a reply by what it says."""
    _count_body(reply.json() if reply.headers.get("content-type", "").startswith("application/json") else {}, outcome)


def _count_body(body: dict[str, Any], outcome: Outcome) -> None:
    if body.get("answer"):
        status = body["answer"]["status"]
        outcome.answered += status in ("converged", "capped")
        outcome.typed_errors += status not in ("converged", "capped")
        outcome.kept[body["id"]] = body["thread"]
    elif body.get("error") and body["error"]["kind"] not in _UNFORESEEN:
        outcome.typed_errors += 1
    else:
        outcome.lost += 1


async def _find(client: Any, thread: str, outcome: Outcome) -> None:
    """What became of a turn whose connection broke: it is answered after all, or is lost and asked again."""
    until = time.monotonic() + _FOUND_SECONDS
    while time.monotonic() < until:
        await asyncio.sleep(0.5)
        with suppress(httpx.HTTPError, ValueError, KeyError):
            turns = (await client.get(f"/threads/{thread}")).json()["turns"]
            if not turns:
                reply = await client.post(f"/threads/{thread}/turns", json={"question": TURNS[0][0]})
            elif turns[-1]["status"] == "running":
                async with client.stream("GET", f"/turns/{turns[-1]['id']}/events") as reply:
                    await _last_event(reply)
                continue
            elif turns[-1]["status"] in ("lost", "stopped"):
                outcome.offered_again += 1
                reply = await client.post(f"/turns/{turns[-1]['id']}/again", headers={"accept": "application/json"})
            else:
                reply = await client.get(f"/turns/{turns[-1]['id']}")
            _count(reply, outcome)
            return
    outcome.lost += 1


async def _look_again(client: Any, outcome: Outcome) -> None:
    """Answers that were given are there at the end."""
    for turn in outcome.kept:
        for _ in range(10):
            with suppress(httpx.HTTPError):
                outcome.lost += (await client.get(f"/turns/{turn}")).status_code != 200
                break
            await asyncio.sleep(1.0)
        else:
            outcome.lost += 1
