"""The server itself: how it starts, how much runs at once, how it ends."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from tableturn.agent import SQLAgent
from tableturn.serve import ServerLimits, ServeSettings, create_app
from tableturn.serve.checkpoints import StorageLocation
from tableturn.serve.launch import stop_turns_on_signal
from tableturn.serve.protocol import HeadTimeoutProtocol
from tableturn.serve.request_checks import TooMany
from tableturn.serve.server import SideQueryRunner, make_agent_opener, open_server
from tableturn.serve.store import Owner, StoreError, TurnRequest, TurnStore
from tableturn.tools.errors import TurnCancelled

from tests.serve.conftest import events, scripted, serving
from tests.support.command_line import tableturn
from tests.tools.database.servers import POSTGRES

NOBODY = "postgresql://root@127.0.0.1:1/nothing"


@pytest.mark.whole
@pytest.mark.skipif(bool(POSTGRES.unavailable()), reason="needs PostgreSQL")
async def test_workers_that_begin_at_once_set_up_one_after_another() -> None:
    name = f"serve_{uuid.uuid4().hex[:8]}"
    place = StorageLocation.of(POSTGRES.make_database(name), "shop.db")
    try:
        stores = await asyncio.gather(
            *(asyncio.to_thread(place.set_up) for _ in range(4)),
            *(asyncio.to_thread(TurnStore, place.url) for _ in range(4)),
        )
        opened = [store for store in stores if store is not None]
        assert [store.list_threads(Owner("nobody", "shop")) for store in opened] == [[]] * 4, "all four work"
        for store in opened:
            store.close()
    finally:
        POSTGRES.drop(name)


def test_a_place_that_cannot_be_reached_is_told_in_a_line() -> None:
    with pytest.raises(StoreError, match="--checkpoints") as told:
        StorageLocation.of(NOBODY, "shop.db").set_up()
    assert "\n" not in str(told.value)


@pytest.mark.parametrize("command", ["serve", "mcp"])
def test_so_do_the_commands(command: str, shop: Path) -> None:
    ran = tableturn(command, "--db", str(shop), "--model", "offline", "--checkpoints", NOBODY)
    assert ran.returncode != 0
    assert "Traceback" not in ran.stderr
    assert "--checkpoints" in ran.stderr


@pytest.mark.whole
def test_it_says_where_it_is_and_ends_when_told(shop: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tableturn", "serve", "--db", str(shop), "--model", "offline", "--port", "0"]
    command += ["--checkpoints", str(tmp_path / "serve.sqlite"), "--user-header", "X-User"]
    (rules := tmp_path / "people.toml").write_text("[users.ada]\n")  # and nothing for whoever is not named
    command += ["--permissions", str(rules)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        found = next(found for line in server.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
        assert httpx.get(f"{found[0]}/ready", timeout=60).status_code == 200, "who asks early waits"
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=60) in (0, -signal.SIGTERM)


async def test_a_turn_is_stopped_as_soon_as_it_has_begun(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with open_server(make_agent_opener(agent_over(shop)), None, ServeSettings()) as server:
        asker = server.make_default_asker()
        turn = await server.turns.begin(asker.agent, TurnRequest(asker.owner, "", "Who are the customers?"))
        await server.turns.cancel(asker.owner, turn.id)
        with pytest.raises(TurnCancelled):
            await turn.wait()
        assert turn.record.status == "stopped"


async def test_who_waits_is_told_when_the_server_stops(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with open_server(
        make_agent_opener(agent_over(shop, model=scripted(delay=60))), None, ServeSettings()
    ) as server:
        asker = server.make_default_asker()
        turn = await server.turns.begin(asker.agent, TurnRequest(asker.owner, "", "Who?"))
        elsewhere = Owner("ada", asker.owner.database)
        other = server.store.begin_turn(TurnRequest(elsewhere, "", "Who?"))
        following = asyncio.create_task(server.turns.wait_for_remote_turn(elsewhere, other.id))
        await server.turns.stop_turns_gracefully(0.1)
        assert isinstance(turn.error, TurnCancelled)
        assert server.store.get_turn(asker.owner, turn.id).status == "stopped"
        assert (await following).status == "running", "another worker's goes on"
        with pytest.raises(TurnCancelled):
            await server.turns.begin(asker.agent, TurnRequest(asker.owner, "", "Who?"))


async def test_turns_end_when_the_signal_comes_not_when_connections_are_closed() -> None:
    done, told = asyncio.Event(), list[int]()

    class Lifecycle:
        async def stop_turns_gracefully(self) -> None:
            done.set()

    before = signal.signal(signal.SIGTERM, lambda number, _: told.append(number))
    try:
        async with stop_turns_on_signal(Lifecycle()):  # pyright: ignore[reportArgumentType]
            os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.wait_for(done.wait(), 30)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert told == [signal.SIGTERM], "uvicorn is told too"


async def test_a_head_that_does_not_come_is_not_waited_for(
    shop: Path, agent_over: Callable[..., SQLAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tableturn.serve.protocol._HEAD_SECONDS", 0.2)
    config = uvicorn.Config(create_app(agent_over(shop)), http=HeadTimeoutProtocol, log_level="error")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setattr(server, "install_signal_handlers", lambda: None, raising=False)
        serving = asyncio.create_task(server.serve([listening]))
        port = listening.getsockname()[1]
        for begun in (b"", b"GET /health HTTP/1.1\r\nHost: 127", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET"):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(begun)
            got = await asyncio.wait_for(reader.read(), 60)
            assert got.count(b"200 OK") == begun.count(b"\r\n\r\n")
            writer.close()
        server.should_exit = True
        await serving


async def test_a_persons_turns_are_counted_from_when_they_begin(
    shop: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    agent = agent_over(shop, model=scripted(delay=0.3), user="ada")
    async with serving(agent, ServeSettings(user_header="X-User")) as client:
        ask = {"json": {"question": "Who?"}, "headers": {"X-User": "ada"}}
        replies = await asyncio.gather(*(client.post("/ask", **ask) for _ in range(12)))  # pyright: ignore[reportArgumentType]
        assert sorted(reply.status_code for reply in replies) == [200] * 4 + [429] * 8


async def test_queries_beside_turns_are_bounded() -> None:
    work, gate = SideQueryRunner(ServerLimits(queries_at_once=3, at_once_a_person=2)), threading.Event()
    ada, bo = Owner("ada", "shop"), Owner("bo", "shop")
    begun: list[str] = []

    def wait(who: str) -> Callable[[Any], None]:
        return lambda _: (begun.append(who), gate.wait(30), None)[2]

    asked = [asyncio.create_task(work.run(ada, wait("ada"))) for _ in range(40)]
    asked.append(asyncio.create_task(work.run(bo, wait("bo"))))
    while "bo" not in begun:
        await asyncio.sleep(0.01)
    assert sorted(begun) == ["ada", "ada", "bo"], "two of one person, and room for another"
    gate.set()
    done = await asyncio.gather(*asked, return_exceptions=True)
    assert sum(isinstance(each, TooMany) for each in done) == 8
    assert sum(each is None for each in done) == 33
    await asyncio.to_thread(work.close)


async def test_queries_of_people_hold_up_nothing_else(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    agent = agent_over(shop, settings={"query_seconds": 3})
    async with serving(agent, ServeSettings(limits=ServerLimits(queries_at_once=2))) as client:
        turn = (await client.post("/ask", json={"question": "Who?"})).headers["tableturn-turn"]
        runs = [asyncio.create_task(client.post(f"/turns/{turn}/run", json={"sql": endless})) for _ in range(8)]
        await asyncio.sleep(0)
        assert (await client.get("/ready")).status_code == 200
        assert (await client.get("/threads")).status_code == 200
        assert not any(run.done() for run in runs)
        for run in runs:
            run.cancel()


async def test_the_answer_tells_what_may_be_chosen(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    async with serving(agent_over(shop)) as client:
        thread = (await client.post("/threads", json={})).json()["id"]
        told = await events(client, f"/threads/{thread}/turns", {"question": "Who?", "approve": True})
        assert told[-1]["choices"][:2] == ["approve", "reject"]
        again = await events(client, f"/turns/{told[0]['turn']}/events")
        assert json.dumps(again[-1]) == json.dumps(told[-1])


@pytest.mark.parametrize("command", [["serve", "--port"], ["mcp", "--http"]])
def test_a_port_in_use_says_which_option_chooses_another(shop: Path, command: list[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        ran = tableturn(*command, port, "--db", str(shop), "--model", "offline")
    assert ran.returncode == 2
    assert f"port {port} is in use: choose another with {command[-1]}\n" in ran.stderr
