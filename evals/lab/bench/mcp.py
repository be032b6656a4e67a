"""Every tool of the MCP server called by the SDK's client over stdio, and bad arguments refused by name."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from .registry import BenchOptions
from .stand_in import sample_database

_BAD: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("ask", {}, "question"),
    ("ask", {"question": ""}, "question"),
    ("ask", {"question": "Who?", "thread": "nowhere"}, "nowhere"),
    ("run_sql", {"sql": ""}, "sql"),
    ("run_sql", {"sql": "DELETE FROM orders"}, "QueryRejected"),
    ("run_sql", {"sql": "SELECT * FROM nowhere"}, "nowhere"),
    ("schema", {"tables": ["nowhere"]}, "nowhere"),
    ("schema", {"tables": 7}, "tables"),
    ("values", {"text": "x", "limit": 1_000}, "limit"),
    ("explain", {}, "sql"),
    ("approve", {"turn": "nowhere"}, "nowhere"),
)
"""A tool, arguments that it must refuse, and a word of the refusal."""


def run(options: BenchOptions) -> dict[str, object]:
    """Figures: `tools` that there are, those `called` with success, and bad calls `refused` of so many `tried`."""
    return asyncio.run(_run())


async def _run() -> dict[str, object]:
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    with tempfile.TemporaryDirectory() as folder, sample_database() as path:
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
            }
            results = [answer, *[await client.call_tool(name, given) for name, given in good.items()]]
            called = sum(not result.is_error and result.structured_content is not None for result in results)
            refused = 0
            for name, given, word in _BAD:
                result = await client.call_tool(name, given)
                refused += result.is_error and word in str(result.content)
    return {"tools": len(tools), "called": called, "tried": len(_BAD), "refused": refused}
