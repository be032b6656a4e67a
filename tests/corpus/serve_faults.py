"""The server while things fail: whether every turn is answered, refused in words of ours, or offered again."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from contextlib import asynccontextmanager, closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from glob import glob
from pathlib import Path
from typing import Any

import httpx2 as httpx
from tableturn.evals.lab.bench.harness import ServerProcess, find_free_port, make_http_client, run_server
from tableturn.evals.lab.bench.registry import BenchOptions
from tableturn.evals.lab.bench.stand_in import TURNS, make_sample_db, run_slow_server

from tests.support.openai_server import OpenAIServer, fails

_TURNS = 40
_AT_ONCE = 8
_KILL_SECONDS = 300.0
_BETWEEN_KILLS = 10.0
_FOUND_SECONDS = 300.0
"""How long a client looks for its turn: on a busy machine a new worker takes half a minute to come up."""

_LOCK_SECONDS = 20.0
_PATIENT_MODEL = 3.0
"""Longer than workers wait before they say that they are there."""

_SLOW_TABLE = "CREATE VIEW customers AS SELECT n AS id FROM generate_series(1, 3) AS n, pg_sleep(0.5)"
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
        lost: Those of which nobody knows any more, and answers that were given and are not kept as they were given.
    """

    turns: int = 0
    answered: int = 0
    typed_errors: int = 0
    offered_again: int = 0
    lost: int = 0
    kept: dict[str, Any] = field(default_factory=dict[str, Any], repr=False)

    def figures(self) -> dict[str, int]:
        """As the benchmark prints it."""
        return {name: value for name, value in asdict(self).items() if name != "kept"}


def run(options: BenchOptions) -> dict[str, object]:
    """An `Outcome` for each fault; `--limit` is how many turns each has (40), and shortens the others alike."""
    return asyncio.run(_run(options.limit or _TURNS))


async def _run(turns: int) -> dict[str, object]:
    figures: dict[str, object] = {}
    settings = '{"request_retries": 1, "request_seconds": 1.0, "effort": "low"}'
    with (
        make_sample_db() as path,
        run_slow_server(0.2) as quick,
        run_slow_server(5.0) as slow,
        OpenAIServer([fails(429, retry_after="1")]) as limited,
    ):
        urls = {
            "model_down": f"http://127.0.0.1:{find_free_port()}/v1",
            "model_slow": slow,
            "model_rate_limited": limited.base_url,
        }
        urls |= {"database_locked": quick, "disk_full": quick}
        for fault, url in urls.items():
            async with _serving(path, url, settings, full=fault == "disk_full") as serving:
                with _locked(path) if fault == "database_locked" else nullcontext():
                    figures[fault] = (await _many(serving, turns)).figures()
        seconds = _KILL_SECONDS * min(turns / _TURNS, 1.0)
        for name, how in (("worker_killed", signal.SIGKILL), ("worker_terminated", signal.SIGTERM)):
            async with _serving(path, quick, settings, workers=2) as serving:
                figures[name] = (await _while(serving, seconds, partial(_end_worker, serving, how))).figures()
        with tempfile.TemporaryDirectory() as folder, run_slow_server(_PATIENT_MODEL) as patient:
            kept = Path(folder) / "kept.sqlite"
            async with _serving(path, patient, "{}", kept=str(kept)) as serving:
                # One at a time: the turn of somebody else would close the transaction that a failed one left open.
                locked = await _while(serving, seconds, partial(_lock, kept), at_once=1)
                figures["conversations_locked"] = locked.figures()
        with _postgres() as server:
            if server is not None:
                url, restart = server
                async with _serving(url, quick, settings, kept=f"{url.removesuffix('postgres')}kept") as serving:
                    harm = partial(asyncio.to_thread, restart)
                    figures["postgres_restarted"] = (await _while(serving, seconds, harm)).figures()
    return figures


@asynccontextmanager
async def _serving(
    path: Path | str, url: str, settings: str, workers: int = 1, *, full: bool = False, kept: str | None = None
) -> AsyncGenerator[ServerProcess]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "settings.json"
        file.write_text(settings)
        options = ["--db", str(path), "--model", "openai:m", "--base-url", url, "--settings", str(file)]
        options += ["--workers", str(workers)] + (["--checkpoints", kept] if kept else [])
        async with run_server(Path(folder), *options, file_bytes=_FULL_BYTES if full else None) as serving:
            yield serving


@contextmanager
def _locked(path: Path) -> Generator[None]:
    """Somebody else holds the database."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        yield
        connection.execute("ROLLBACK")


async def _many(serving: ServerProcess, turns: int) -> Outcome:
    """So many turns, a few at once."""
    outcome, left = Outcome(), iter(range(turns))
    async with make_http_client(serving) as client:

        async def ask() -> None:
            for _ in left:
                await _turn(client, outcome)

        await asyncio.gather(*(ask() for _ in range(_AT_ONCE)))
        await _look_again(client, outcome)
    return outcome


async def _while(
    serving: ServerProcess, seconds: float, harm: Callable[[], Awaitable[None]], at_once: int = _AT_ONCE
) -> Outcome:
    """Turns for so long, while something is done to the server now and then; those asked afterwards are answered."""
    outcome, until = Outcome(), time.monotonic() + seconds
    async with make_http_client(serving, seconds=30.0) as client:

        async def ask() -> None:
            while time.monotonic() < until:
                await _turn(client, outcome)

        async def do_harm() -> None:
            while time.monotonic() < until:
                await asyncio.sleep(min(_BETWEEN_KILLS, max(seconds / 3, 1.0)))
                await harm()

        await asyncio.gather(do_harm(), *(ask() for _ in range(at_once)))
        await _look_again(client, outcome)
        after = Outcome()
        for _ in range(_AT_ONCE):
            await _turn(client, after)
        outcome.turns, outcome.answered = outcome.turns + after.turns, outcome.answered + after.answered
        outcome.lost += after.turns - after.answered
    return outcome


async def _end_worker(serving: ServerProcess, how: signal.Signals) -> None:
    if workers := serving.list_workers():
        with suppress(ProcessLookupError):
            os.kill(random.choice(workers), how)


async def _lock(path: Path) -> None:
    """Writes to the conversations' file for long, as a backup or VACUUM does."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=60.0)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        await asyncio.sleep(_LOCK_SECONDS)
        connection.execute("ROLLBACK")


@contextmanager
def _postgres() -> Generator[tuple[str, Callable[[], None]] | None]:
    """A PostgreSQL of our own with a table that takes half a second, and what restarts it; None where there is none."""
    programs = sorted(glob("/usr/lib/postgresql/*/bin"))
    if not programs:
        yield None
        return
    import psycopg

    other = "postgres" if os.geteuid() == 0 else None  # it refuses to run as root
    with tempfile.TemporaryDirectory() as folder:
        if other is not None:
            shutil.chown(folder, other)
        data, port = f"{folder}/data", find_free_port()

        def call(program: str, *options: str) -> None:
            command = [f"{programs[-1]}/{program}", "-D", data, *options]
            subprocess.run(command, check=True, cwd=folder, user=other, stdout=subprocess.DEVNULL)

        call("initdb", "-U", "postgres", "-A", "trust")
        serve = f"-p {port} -k {folder} -h 127.0.0.1"
        call("pg_ctl", "-w", "-l", f"{folder}/log", "-o", serve, "start")
        try:
            url = f"postgresql://postgres@127.0.0.1:{port}/postgres"
            with psycopg.connect(url, autocommit=True) as connection:
                connection.execute("CREATE DATABASE kept")
                connection.execute(_SLOW_TABLE)
            yield url, lambda: call("pg_ctl", "-w", "-l", f"{folder}/log", "-o", serve, "-m", "fast", "restart")
        finally:
            call("pg_ctl", "-w", "-m", "immediate", "stop")


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
        outcome.kept[body["id"]] = _words(body["answer"])
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


def _words(answer: dict[str, Any]) -> tuple[Any, ...]:
    """What a person would miss of an answer."""
    return answer["status"], answer["sql"], answer["columns"], answer["rows"]


async def _look_again(client: Any, outcome: Outcome) -> None:
    """Answers that were given are there at the end."""
    for turn, given in outcome.kept.items():
        for _ in range(10):
            with suppress(httpx.HTTPError):
                reply = await client.get(f"/turns/{turn}")
                if reply.status_code == 503:
                    raise httpx.ReadError("it cannot be read at the moment")
                outcome.lost += reply.status_code != 200 or _words(reply.json()["answer"]) != given
                break
            await asyncio.sleep(1.0)
        else:
            outcome.lost += 1
