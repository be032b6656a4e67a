"""What was deleted is gone: from the store, from the checkpoints, from the file; also what ran meanwhile."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.outputs import ChatResult
from tableturn.agent import SQLAgent
from tableturn.serve import ServerLimits, ServeSettings
from tableturn.serve.checkpoints import StorageLocation
from tableturn.serve.store import Busy, NotThere, Owner, TurnStore
from tableturn.serve.store import TurnRequest as Question

from tests.serve.conftest import Client, events, scripted, serving
from tests.support.scripted import ScriptedModel


class TurnRequest(ScriptedModel):
    """Says that it was asked before it answers."""

    asked: bool = False

    async def _agenerate(self, *arguments: Any, **more: Any) -> ChatResult:
        self.asked = True
        return await super()._agenerate(*arguments, **more)


@asynccontextmanager
async def kept(shop: Path, folder: Path, model: Any) -> AsyncGenerator[tuple[Client, Path]]:
    """A client of a server whose conversations are in a file, and that file."""
    place = StorageLocation.of(str(folder / "serve.sqlite"), str(shop))

    @asynccontextmanager
    async def opened() -> AsyncGenerator[SQLAgent]:
        async with place.open_checkpointer() as checkpointer:
            with SQLAgent(shop, model=model, checkpointer=checkpointer) as agent:
                yield agent

    async with serving(opened, store=place.url) as client:
        yield client, Path(place.location)


async def running(client: Client, thread: str) -> str:
    while not (turns := (await client.get(f"/threads/{thread}")).json()["turns"]):
        await asyncio.sleep(0.01)
    return turns[0]["id"]


def count(file: Path, table: str) -> int:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@pytest.mark.parametrize("what", ["thread", "person"])
@pytest.mark.parametrize("watched", [False, True])
async def test_a_turn_that_runs_is_ended_and_leaves_nothing(
    what: str, watched: bool, shop: Path, tmp_path: Path
) -> None:
    async with kept(shop, tmp_path, scripted(delay=20)) as (client, file):
        thread = (await client.post("/threads", json={})).json()["id"]
        path, body = f"/threads/{thread}/turns", {"question": "Who is it that must not be kept?"}
        asked = asyncio.create_task(events(client, path, body) if watched else client.post(path, json=body))
        await running(client, thread)
        deleted = await client.delete("/me" if what == "person" else f"/threads/{thread}")
        assert deleted.status_code == 204
        told: Any = await asked
        assert (told[-1]["kind"] if watched else told.json()["error"]["kind"]) == "TurnCancelled"
        for table in ("checkpoints", "writes", "tableturn_turns", "tableturn_threads"):
            assert count(file, table) == 0, table


async def test_the_words_leave_the_file_too(shop: Path, tmp_path: Path) -> None:
    async with kept(shop, tmp_path, scripted()) as (client, file):
        thread = (await client.post("/threads", json={})).json()["id"]
        for _ in range(3):
            await client.post(f"/threads/{thread}/turns", json={"question": "What of unmistakable-word?"})
        assert (await client.delete(f"/threads/{thread}")).status_code == 204
        for part in file.parent.glob("serve.sqlite*"):
            assert b"unmistakable-word" not in part.read_bytes(), part.name


def test_a_worker_that_was_silent_writes_nothing_back(tmp_path: Path) -> None:
    """It was taken for gone, its turn for lost, and the thread was deleted: then it answers."""
    owner = Owner("ada", "shop")
    store = TurnStore(f"sqlite:///{tmp_path}/store.sqlite")
    thread = store.add_thread(owner).id
    turn = store.begin_turn(Question(owner, thread, "Who?"))
    with pytest.raises(Busy):
        store.delete_threads(owner, thread)
    assert store.get_thread(owner, thread).id == thread, "refused as a whole"
    store.end_turn(turn, "lost")
    kept = store.get_turn(owner, turn.id)
    store.delete_threads(owner, thread)
    with pytest.raises(NotThere):
        store.end_turn(turn, "answered")
    with pytest.raises(NotThere):
        store.add_answer(owner, kept, None)  # pyright: ignore[reportArgumentType] - it does not come to that
    store.close()


async def test_what_was_spent_stays_spent(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    limits = ServerLimits(dollars_a_day=0.00001, dollars_a_million=(1.0, 1.0))
    async with serving(agent_over(shop), ServeSettings(limits=limits)) as client:
        assert (await client.post("/ask", json={"question": "Who?"})).status_code == 200
        assert (await client.post("/ask", json={"question": "Who?"})).status_code == 429
        assert (await client.delete("/me")).status_code == 204
        assert (await client.post("/ask", json={"question": "Who?"})).status_code == 429


async def test_a_stopped_turn_has_cost_what_was_asked(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    limits = ServerLimits(dollars_a_day=0.00001, dollars_a_million=(1.0, 1.0))
    model = TurnRequest(script=lambda prompt: "", delay=20)
    async with serving(agent_over(shop, model=model), ServeSettings(limits=limits)) as client:
        thread = (await client.post("/threads", json={})).json()["id"]
        asked = asyncio.create_task(client.post(f"/threads/{thread}/turns", json={"question": "Who?"}))
        turn = await running(client, thread)
        while not model.asked:
            await asyncio.sleep(0.01)
        await client.post(f"/turns/{turn}/stop")
        assert (await asked).status_code == 409
        assert 'tableturn_tokens_total{kind="prompt"} 0.0' not in (await client.get("/metrics")).text
        assert (await client.post("/ask", json={"question": "Who?"})).status_code == 429


def test_spending_is_of_all_workers(tmp_path: Path) -> None:
    from tableturn.agent.records import Usage

    url = f"sqlite:///{tmp_path}/store.sqlite"
    one, two = TurnStore(url), TurnStore(url)
    for store, person in ((one, "ada"), (two, "ben"), (one, "ada")):
        store.add_token_usage(Usage(1, 100, 10), person)
        store.record_heartbeat()
    two.add_token_usage(Usage(1, 1, 1), "ben")
    assert one.count_tokens_today() == (300, 30)
    assert (one.count_tokens_today("ada"), two.count_tokens_today("ben")) == ((200, 20), (101, 11))
    assert two.count_tokens_today() == (301, 31), "its own, before it is written"
    one.close()
    two.close()


def test_a_place_of_an_earlier_version_gets_what_it_lacks(tmp_path: Path) -> None:
    url, owner = f"sqlite:///{tmp_path}/store.sqlite", Owner("ada", "shop")
    TurnStore(url).close()
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as connection, connection:
        for column in ("decision", "approve", "rights"):
            connection.execute(f"ALTER TABLE tableturn_turns DROP COLUMN {column}")
    store = TurnStore(url)
    turn = store.begin_turn(Question(owner, "", "Who?", approve=True))
    assert store.get_turn(owner, turn.id).approve
    store.close()
