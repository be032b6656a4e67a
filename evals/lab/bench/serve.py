"""The server under load: many conversations at once against a model that takes a second; server and load are apart."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx2 as httpx

from .harness import Serving, client_of, percentile_ms, served
from .registry import BenchOptions, Figures
from .scale import build_large
from .stand_in import TURNS, sample_database, slow_server

_CONVERSATIONS = 200
_SECONDS_A_REPLY = 1.0
_OPEN_SECONDS = 60.0
_NEWCOMERS = 30
_TABLES = 290


def run(options: BenchOptions) -> Figures:
    """Return figures of one worker and of two.

    `cpu_ms_a_turn` counts all processes of the server, those that run queries too. `p95_added_ms` is what a turn takes
    beyond its model's replies, of turns that begin at half of one worker's rate, whether or not others have ended.
    `soak` compares memory and descriptors after the first conversations with those at the end. `newcomers` is how long
    somebody else's list of threads takes while new people open the page on a large database and ask: people of equal
    rights, and people with rights of their own each.
    """
    return asyncio.run(_measure_load(options.limit or _CONVERSATIONS))


async def _measure_load(conversations: int) -> Figures:
    figures: Figures = {}
    with slow_server(_SECONDS_A_REPLY) as model, sample_database() as path:
        for name, workers in (("one", 1), ("two", 2)):
            with tempfile.TemporaryDirectory() as folder:
                options = ("--db", str(path), "--model", "openai:m", "--base-url", model, "--workers", str(workers))
                async with served(Path(folder), *options) as serving:
                    loop, held = await _measure_closed_loop(serving, conversations)
                    figures[name] = loop
                    if workers == 1:
                        seconds = _OPEN_SECONDS * conversations / _CONVERSATIONS
                        figures["p95_added_ms"] = await _measure_open_loop(serving, loop["turns_per_s"] / 2, seconds)
                        figures["soak"] = held
    people = min(conversations, _NEWCOMERS)
    tables = _TABLES * people // _NEWCOMERS
    return figures | {
        "newcomers": {
            "people": people,
            "tables": tables,
            "equal_rights": await _measure_newcomers(people, tables, own_rights=False),
            "own_rights": await _measure_newcomers(people, tables, own_rights=True),
        }
    }


async def _measure_newcomers(people: int, tables: int, *, own_rights: bool) -> Figures:
    """Ask for somebody's list of threads, again and again, while others open the page for the first time and ask."""

    async def come(name: str) -> bool:
        who = {"X-User": name}
        await asyncio.gather(*(client.get(path, headers=who) for path in ("/me", "/threads", "/schema")))
        reply = await client.post("/ask", json={"question": TURNS[0][0]}, headers=who)
        return reply.status_code == 200 and reply.json()["status"] in ("converged", "capped")

    with slow_server(_SECONDS_A_REPLY) as model, sample_database() as path, tempfile.TemporaryDirectory() as folder:
        build_large(path, tables)
        options = ["--db", str(path), "--model", "openai:m", "--base-url", model, "--user-header", "X-User"]
        if own_rights:
            rules = Path(folder) / "people.toml"
            denied = "".join(f'[users.new{number}]\ndeny = ["entity{number}.field_1"]\n' for number in range(people))
            rules.write_text(f'[default]\ndeny = ["entity{people}.field_1"]\n{denied}')
            options += ["--permissions", str(rules)]
        async with served(Path(folder), *options) as serving, client_of(serving) as client:
            ada = {"X-User": "ada"}
            await client.post("/ask", json={"question": TURNS[0][0]}, headers=ada)
            coming = asyncio.gather(*(come(f"new{number}") for number in range(people)))
            start, seconds = time.perf_counter(), list[float]()
            while not coming.done():
                asked = time.perf_counter()
                (await client.get("/threads", headers=ada)).raise_for_status()
                seconds.append(time.perf_counter() - asked)
                await asyncio.sleep(0.02)
            took = time.perf_counter() - start
    return {
        "answered": sum(await coming),
        "seconds": round(took, 1),
        "others_p95_ms": round(percentile_ms(seconds, 95), 1),
        "others_longest_ms": round(1000 * max(seconds), 1),
    }


async def _measure_closed_loop(serving: Serving, conversations: int) -> tuple[dict[str, float], Figures]:
    """Return figures of many conversations at once, and what was held after the first of them and at the end."""
    async with client_of(serving) as client:
        await _converse(client)  # what is opened at the first question
        start, cpu = time.perf_counter(), serving.cpu_seconds()
        tasks = [asyncio.create_task(_converse(client)) for _ in range(conversations)]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        before = serving.holdings()
        answered = sum(await asyncio.gather(*tasks))
        seconds, cpu = time.perf_counter() - start, serving.cpu_seconds() - cpu
    memory, descriptors = map(list, zip(before, serving.holdings(), strict=True))
    return {
        "conversations": conversations,
        "turns_per_s": round(answered / seconds, 2),
        "cpu_ms_a_turn": round(1000 * cpu / max(answered, 1), 1),
        "errors": conversations * len(TURNS) - answered,
    }, {"memory_mb": memory, "descriptors": descriptors}


async def _converse(client: Any) -> int:
    """Take the turns of one conversation; return how many were answered."""
    thread = (await client.post("/threads", json={})).json()["id"]
    answered = 0
    for question, _ in TURNS:
        try:
            reply = await client.post(f"/threads/{thread}/turns", json={"question": question})
            answered += reply.status_code == 200 and reply.json()["answer"]["answered"]
        except httpx.HTTPError:
            continue
    return answered


async def _measure_open_loop(serving: Serving, rate: float, seconds: float) -> float:
    """Return the 95th percentile of what a turn takes beyond its model's replies, in milliseconds."""

    async def ask() -> float:
        begun = time.perf_counter()
        reply = (await client.post("/ask", json={"question": TURNS[0][0]})).json()
        return time.perf_counter() - begun - reply["usage"]["llm_calls"] * _SECONDS_A_REPLY

    async with client_of(serving) as client:
        tasks: list[asyncio.Task[float]] = []
        start = time.perf_counter()
        for number in range(max(int(rate * seconds), 1)):
            await asyncio.sleep(max(start + number / rate - time.perf_counter(), 0))
            tasks.append(asyncio.create_task(ask()))
        return round(percentile_ms(await asyncio.gather(*tasks), 95), 1)
