"""A file locked for long, a full disk, a turn whose end could not be written, a count that cannot be."""

from __future__ import annotations

import asyncio
import resource
import sqlite3
import threading
import time
import uuid
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from langchain_core.outputs import ChatResult
from sqlalchemy import BigInteger, create_engine, inspect
from tableturn.agent import SQLAgent
from tableturn.agent.records import Usage
from tableturn.serve import ServerLimits
from tableturn.serve.checkpoints import StorageLocation
from tableturn.serve.metrics import Metrics
from tableturn.serve.running_turns import RunningTurns
from tableturn.serve.server import Server
from tableturn.serve.store import Owner, StoreError, TurnRequest, TurnStore

from tests.serve.conftest import Client, scripted, serving
from tests.support.scripted import ScriptedModel
from tests.tools.database.servers import POSTGRES

WORD = "unmistakable-word"


class Held(ScriptedModel):
    """Says that it was asked, and answers once it may."""

    asked: asyncio.Event
    may: asyncio.Event

    async def _agenerate(self, *arguments: Any, **more: Any) -> ChatResult:
        self.asked.set()
        await self.may.wait()
        return await super()._agenerate(*arguments, **more)


def held() -> Held:
    return Held(script=lambda _: "```sql\nSELECT name FROM customers\n```", asked=asyncio.Event(), may=asyncio.Event())


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Locks are given up on soon, and hearts beat fast."""
    for module in ("checkpoints", "store"):
        monkeypatch.setattr(f"tableturn.serve.{module}._BUSY_SECONDS", 0.5)
    monkeypatch.setattr("tableturn.serve.running_turns._BEAT_SECONDS", 0.05)


@asynccontextmanager
async def kept(shop: Path, folder: Path, model: Any) -> AsyncGenerator[tuple[Client, Path, Server]]:
    """A client of a server whose conversations are in a file, that file, and what the requests share."""
    place = StorageLocation.of(str(folder / "serve.sqlite"), str(shop))

    @asynccontextmanager
    async def opened() -> AsyncGenerator[SQLAgent]:
        async with place.open_checkpointer() as checkpointer:
            with SQLAgent(shop, model=model, checkpointer=checkpointer) as agent:
                yield agent

    async with serving(opened, store=place.url) as client:
        app: Any = client._transport.app  # pyright: ignore
        yield client, Path(place.location), await app.state.lifecycle.get_server()


@contextmanager
def locked(file: Path) -> Generator[None]:
    """Somebody else writes for long, as a backup or VACUUM does."""
    with closing(sqlite3.connect(file, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("CREATE TABLE backup (x)")
        yield
        other.execute("COMMIT")


async def status(client: Client, thread: str) -> str:
    return (await client.get(f"/threads/{thread}")).json()["turns"][0]["status"]


async def over(client: Client, thread: str) -> str:
    """How a thread's first turn ended, once it has."""
    async with asyncio.timeout(60):
        while (how := await status(client, thread)) == "running":
            await asyncio.sleep(0.01)
    return how


async def thread_of(client: Client) -> str:
    return (await client.post("/threads", json={"title": WORD})).json()["id"]


async def ask(client: Client, thread: str) -> Any:
    return await client.post(f"/threads/{thread}/turns", json={"question": f"Who is {WORD}?"})


async def test_a_long_lock_breaks_nothing(shop: Path, tmp_path: Path) -> None:
    model = held()
    async with kept(shop, tmp_path, model) as (client, file, server):
        thread = await thread_of(client)
        asked = asyncio.create_task(ask(client, thread))
        await model.asked.wait()
        with locked(file):
            model.may.set()
            reply = await asked
            assert (reply.status_code, reply.json()["error"]["kind"]) == (503, "StoreError")
            assert (await client.get("/ready")).status_code == 503
        await over(client, thread)
        for _ in range(2):
            model.asked.clear()
            model.may.clear()
            asked = asyncio.create_task(ask(client, thread))
            await model.asked.wait()
            server.store.record_heartbeat()  # the file is written to between what a turn reads and what it writes
            model.may.set()
            assert (await asked).status_code == 200, (await asked).text
        assert (await client.get("/ready")).status_code == 200
        assert (await client.delete(f"/threads/{thread}")).status_code == 204
        for part in file.parent.glob("serve.sqlite*"):
            assert WORD.encode() not in part.read_bytes(), part.name


async def test_what_was_deleted_leaves_the_log_once_nobody_reads_it(shop: Path, tmp_path: Path) -> None:
    async with kept(shop, tmp_path, scripted()) as (client, file, _):
        thread = await thread_of(client)
        with closing(sqlite3.connect(file, isolation_level=None)) as other:
            other.execute("BEGIN")
            other.execute("SELECT count(*) FROM tableturn_threads").fetchall()
            assert (await client.delete(f"/threads/{thread}")).status_code == 204
            assert any(WORD.encode() in part.read_bytes() for part in file.parent.glob("serve.sqlite*"))
        async with asyncio.timeout(60):
            while any(WORD.encode() in part.read_bytes() for part in file.parent.glob("serve.sqlite*")):
                await asyncio.sleep(0.01)


async def test_ready_says_no_when_the_disk_is_full(shop: Path, tmp_path: Path) -> None:
    async with kept(shop, tmp_path, scripted()) as (client, file, _):
        assert (await client.get("/ready")).status_code == 200
        log = file.with_name(f"{file.name}-wal")
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (log.stat().st_size, hard))
        try:
            reply = await client.get("/ready")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert (reply.status_code, reply.json()["error"]["kind"]) == (503, "StoreError")
        assert (await client.get("/ready")).status_code == 200


async def test_whether_it_is_ready_is_said_before_a_lock_is_given_up_on(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("checkpoints", "store"):
        monkeypatch.setattr(f"tableturn.serve.{module}._BUSY_SECONDS", 60)
    monkeypatch.setattr("tableturn.serve.running_turns._BEAT_SECONDS", 3600)
    async with kept(shop, tmp_path, scripted()) as (client, file, _):
        with locked(file):
            async with asyncio.timeout(30):
                reply = await client.get("/ready")
            assert (reply.status_code, reply.json()["error"]["kind"]) == (503, "StoreError")
        async with asyncio.timeout(60):
            while (await client.get("/ready")).status_code != 200:
                pass


async def test_an_end_that_could_not_be_written_is_written_later(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = held()
    async with kept(shop, tmp_path, model) as (client, _, server):
        thread = await thread_of(client)
        end, full = server.store.end_turn, threading.Event()
        full.set()

        def ended(*arguments: Any, **more: Any) -> Any:
            if full.is_set():
                raise StoreError("conversations cannot be kept or read at the moment: disk is full")
            return end(*arguments, **more)

        monkeypatch.setattr(server.store, "end_turn", ended)
        model.may.set()
        assert (await ask(client, thread)).status_code == 503
        assert (await ask(client, thread)).status_code == 409, "it is not known yet how the one before ended"
        full.clear()
        assert await over(client, thread) == "answered", "kept after all"
        assert (await ask(client, thread)).status_code == 200
        assert (await client.delete("/me")).status_code == 204


async def test_a_turn_that_nobody_takes_is_lost(shop: Path, tmp_path: Path) -> None:
    model = held()
    async with kept(shop, tmp_path, model) as (client, _, server):
        thread, other = await thread_of(client), await thread_of(client)
        owner = server.make_default_asker().owner
        server.store.begin_turn(TurnRequest(owner, thread, "Who?"))
        asked = asyncio.create_task(ask(client, other))
        await model.asked.wait()
        assert await over(client, thread) == "lost"
        assert await status(client, other) == "running"
        model.may.set()
        assert (await asked).status_code == 200


def test_a_worker_that_was_held_up_itself_takes_no_other_for_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tableturn.serve.running_turns._SILENT_SECONDS", 0.5)
    monkeypatch.setattr("tableturn.serve.store.WORKER_SECONDS", 0.2)
    one, two = TurnStore(f"sqlite:///{tmp_path}/store.sqlite"), TurnStore(f"sqlite:///{tmp_path}/store.sqlite")
    mended, beats, seen = threading.Event(), list[float](), list[int]()
    beat, mend = one.record_heartbeat, one.mark_orphaned_turns_as_lost

    def held_up() -> None:
        beats.append(time.monotonic())
        if len(beats) == 2:
            time.sleep(0.6)
        beat()

    monkeypatch.setattr(one, "record_heartbeat", held_up)

    def look_for_lost_turns() -> None:
        mend()
        if len(beats) > 2:
            seen.append(len(beats))
            mended.set()

    monkeypatch.setattr(one, "mark_orphaned_turns_as_lost", look_for_lost_turns)
    turns = RunningTurns(one, ServerLimits(), Metrics())
    turns._heart.start()
    assert mended.wait(60)
    assert seen[0] > 3, "the others had time to be heard of"
    turns._stop_event.set()
    turns._heart.join()
    one.close()
    two.close()


@pytest.mark.parametrize("error", [StoreError("full"), OverflowError("too large"), RuntimeError("anything")])
def test_the_heart_goes_on(error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, again = TurnStore(f"sqlite:///{tmp_path}/store.sqlite"), threading.Event()
    calls: list[None] = []

    def beat() -> None:
        calls.append(None)
        if len(calls) < 3:
            raise error
        again.set()

    monkeypatch.setattr(store, "record_heartbeat", beat)
    turns = RunningTurns(store, ServerLimits(), Metrics())
    turns._heart.start()
    assert again.wait(60)
    turns._stop_event.set()
    turns._heart.join()
    store.close()


@pytest.mark.skipif(bool(POSTGRES.unavailable()), reason="needs PostgreSQL")
def test_counts_of_an_earlier_version_get_wider() -> None:
    name = f"serve_{uuid.uuid4().hex[:8]}"
    url = POSTGRES.make_database(name)
    place = StorageLocation.of(url, "shop.db")
    try:
        store, owner = TurnStore(place.url), Owner("ada", "shop")
        turn = store.begin_turn(TurnRequest(owner, "", "Who?"))
        store.add_token_usage(Usage(1, 100, 10))
        store.close()
        for table in ("tableturn_turns", "tableturn_spent"):
            for column in ("prompt_tokens", "completion_tokens"):
                POSTGRES.run(url, f"ALTER TABLE {table} ALTER COLUMN {column} TYPE integer")
        store = TurnStore(place.url)
        store.add_token_usage(Usage(1, 3_000_000_000, 3_000_000_000))
        store.record_heartbeat()
        assert store.count_tokens_today() == (3_000_000_100, 3_000_000_010)
        assert store.get_turn(owner, turn.id).question == "Who?"
        store.close()
        engine = create_engine(place.url)
        assert all(
            isinstance(column["type"], BigInteger)
            for table in ("tableturn_turns", "tableturn_spent")
            for column in inspect(engine).get_columns(table)
            if column["name"].endswith("_tokens")
        )
        engine.dispose()
    finally:
        POSTGRES.drop(name)
