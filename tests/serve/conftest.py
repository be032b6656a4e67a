"""A server over a small database, in this process."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeAlias

import httpx
import pytest
from tableturn.agent import SQLAgent
from tableturn.serve import ServeSettings, create_app
from tableturn.serve.server import AgentOpener

from tests.agent import conftest as of_agents
from tests.support.scripted import ScriptedModel

Client: TypeAlias = httpx.AsyncClient
own_folders, sample, shop = of_agents.own_folders, of_agents.sample, of_agents.shop


def scripted(sql: str = "SELECT name FROM customers ORDER BY id", **more: Any) -> ScriptedModel:
    """A model that writes one query, whatever is asked."""
    return ScriptedModel(script=lambda prompt: f"```sql\n{sql}\n```", **more)


@asynccontextmanager
async def serving(
    agent: SQLAgent | AgentOpener, settings: ServeSettings | None = None, **more: Any
) -> AsyncGenerator[Client]:
    """A client of a server over an agent, in process."""
    app = create_app(agent, settings=settings, **more)
    transport = httpx.ASGITransport(app=app, client=("127.0.0.1", 5000), raise_app_exceptions=False)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1:8000") as client,
    ):
        yield client


@pytest.fixture
def agent_over(tmp_path: Path) -> Iterator[Callable[..., SQLAgent]]:
    """Opens agents that are closed when the test ends."""
    opened: list[SQLAgent] = []

    def open_agent(database: Path, **more: Any) -> SQLAgent:
        given: dict[str, Any] = {"model": scripted(), "examples": tmp_path / "examples", **more}
        agent = SQLAgent(database, **given)
        opened.append(agent)
        return agent

    yield open_agent
    for agent in opened:
        agent.close()


@pytest.fixture
async def client(shop: Path, agent_over: Callable[..., SQLAgent]) -> AsyncIterator[Client]:
    """A client of a server over the shop."""
    async with serving(agent_over(shop)) as client:
        yield client


async def events(client: Client, path: str, body: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    """The events of a stream, to its end."""
    import json

    headers = {"accept": "text/event-stream"}
    method = "GET" if body is None else "POST"
    found: list[dict[str, Any]] = []
    async with client.stream(method, path, json=body, headers=headers) as reply:
        assert reply.status_code == 200, await reply.aread()
        async for line in reply.aiter_lines():
            if line.startswith("data: "):
                found.append(json.loads(line.removeprefix("data: ")))
    return found
