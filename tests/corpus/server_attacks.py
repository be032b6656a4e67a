"""Hostile requests to servers that run, as `evals.lab bench` sends them all: to the HTTP API, and to MCP's tools."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import sys
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from tableturn.evals.lab.bench.harness import ServerProcess, make_http_client, run_server
from tableturn.evals.lab.bench.registry import BenchOptions, Figures
from tableturn.evals.lab.bench.stand_in import make_sample_db

from . import requests

_TOKEN = "a-token-that-nobody-guesses"
_SECONDS = 40.0
_DRIP_SECONDS = 1.0


def measure_serve_attacks(options: BenchOptions) -> Figures:
    """Return requests `tried`, those `held`, and the names of those that were `not_held`.

    One is held when the reply is what the corpus allows; all are when the server still answers at the end, and its
    database is as it was.
    """
    return asyncio.run(_attack_server(options.limit))


async def _attack_server(limit: int | None) -> Figures:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        database = folder / "notes.db"
        with closing(sqlite3.connect(database)) as connection, connection:
            connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, note TEXT)")
            connection.executemany("INSERT INTO notes (note) VALUES (?)", [(requests.MARK,), (requests.FORMULA,)])
        before = database.read_bytes()
        options = ("--db", str(database), "--model", "offline", "--token", _TOKEN)
        async with run_server(folder, *options) as serving:
            target = await _target(serving)
            all_ = requests.attacks(target)
            chosen = all_ if limit is None else all_[:: max(len(all_) // limit, 1)]
            not_held = [attack.name for attack in chosen if not attack.held(await _sent(serving, attack))]
            async with make_http_client(serving) as client:
                alive = (await client.get("/health")).status_code == 200
        if not alive or database.read_bytes() != before:
            not_held = [attack.name for attack in chosen]
    return {"tried": len(chosen), "held": len(chosen) - len(not_held), "not_held": not_held}


async def _target(serving: ServerProcess) -> requests.Target:
    """The server as the corpus needs to know it, with a turn whose rows hold the marks."""
    async with make_http_client(serving, headers={"authorization": f"Bearer {_TOKEN}"}) as client:
        thread = (await client.post("/threads", json={})).json()["id"]
        first = (await client.post(f"/threads/{thread}/turns", json={"question": "How many notes are there?"})).json()
        turn = (await client.post(f"/turns/{first['id']}/run", json={"sql": requests.QUERY})).json()["id"]
    return requests.Target(serving.url.removeprefix("http://"), _TOKEN, thread, turn)


async def _sent(serving: ServerProcess, attack: requests.Attack) -> requests.Reply:
    """The reply to a request; one that drips goes on with a blank now and then."""
    host, _, port = serving.url.removeprefix("http://").partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    received = b""
    with suppress(OSError, TimeoutError):
        async with asyncio.timeout(_SECONDS):
            reading = asyncio.create_task(reader.read())
            writer.write(attack.data)
            await writer.drain()
            while attack.drip and not reading.done():
                await asyncio.wait((reading,), timeout=_DRIP_SECONDS)
                writer.write(b" ")
            if not attack.data.startswith(b"GET /turns") and b"connection: close" not in attack.data.lower():
                await asyncio.wait((reading,), timeout=2.0)
                writer.write_eof()
            received = await reading
    writer.close()
    head, _, body = received.partition(b"\r\n\r\n")
    words = head.split(b" ", 2)
    status = int(words[1]) if len(words) > 1 and words[1][:3].isdigit() else 0
    return requests.Reply(status, head.decode("latin-1").lower(), body.decode("utf-8", "replace"))


_BAD: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("ask", {}, "question"),
    ("ask", {"question": ""}, "question"),
    ("ask", {"question": "Who?", "thread": "nowhere"}, "nowhere"),
    ("run_sql", {"sql": ""}, "sql"),
    ("run_sql", {"sql": "DELETE FROM orders"}, "only reads"),
    ("run_sql", {"sql": "SELECT * FROM nowhere"}, "nowhere"),
    ("schema", {"tables": ["nowhere"]}, "nowhere"),
    ("schema", {"tables": 7}, "tables"),
    ("values", {"text": "x", "limit": 1_000}, "limit"),
    ("explain", {}, "sql"),
    ("approve", {"turn": "nowhere"}, "nowhere"),
    ("correct", {"turn": "nowhere", "text": "no"}, "nowhere"),
    ("correct", {"turn": "nowhere", "text": ""}, "text"),
    ("teach", {"id": "nowhere"}, "nowhere"),
)
"""A tool, arguments that it must refuse, and a word of the refusal."""


def measure_mcp(options: BenchOptions) -> Figures:
    """Return `tools` that there are, those `called` with success, and bad calls `refused` of so many `tried`."""
    return asyncio.run(_call_tools())


async def _call_tools() -> Figures:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    with tempfile.TemporaryDirectory() as folder, make_sample_db() as path:
        command = ["-m", "tableturn", "mcp", "--db", str(path), "--model", "offline"]
        command += ["--examples", str(Path(folder) / "examples")]
        environment = {**os.environ, "TABLETURN_HOME": folder}
        started = StdioServerParameters(command=sys.executable, args=command, env=environment)
        async with Client(stdio_client(started)) as client:
            tools = [tool.name for tool in (await client.list_tools()).tools]
            answer = await client.call_tool("ask", {"question": "How many customers are there?"})
            turn = (answer.structured_content or {}).get("turn", "")
            good: dict[str, dict[str, Any]] = {
                "run_sql": {"sql": "SELECT count(*) FROM customers"},
                "schema": {},
                "values": {"text": "customers in France"},
                "explain": {"sql": "SELECT count(*) FROM customers"},
                "approve": {"turn": turn},
                "correct": {"turn": turn, "text": "only those in France"},
                "teach": {"text": "regular means with three orders or more"},
                "lessons": {},
            }
            results = [answer, *[await client.call_tool(name, given) for name, given in good.items()]]
            called = sum(not result.is_error and result.structured_content is not None for result in results)
            refused = 0
            for name, given, word in _BAD:
                result = await client.call_tool(name, given)
                refused += result.is_error and word in str(result.content)
    return {"tools": len(tools), "called": called, "tried": len(_BAD), "refused": refused}
