"""Conversations that outlive the process: in an SQLite file, and in PostgreSQL for several workers."""

from __future__ import annotations

import os
import sqlite3
import uuid
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.conversation_store import ConversationStore
from tableturn.serve import ServeSettings
from tableturn.serve.checkpoints import StorageLocation
from tableturn.serve.server import Server, open_server
from tableturn.serve.store import StoreError, TurnRequest
from tableturn.tools.errors import SettingsError

from tests.serve.conftest import scripted
from tests.support.command_line import tableturn
from tests.support.scripted import ScriptedModel
from tests.tools.database.servers import POSTGRES


@asynccontextmanager
async def worker(shop: Path, place: StorageLocation, model: ScriptedModel) -> AsyncGenerator[Server]:
    @asynccontextmanager
    async def opened() -> AsyncGenerator[SQLAgent]:
        async with place.open_checkpointer() as checkpointer:
            with SQLAgent(shop, model=model, checkpointer=checkpointer) as agent:
                yield agent

    async with open_server(opened, place.url, ServeSettings()) as server:
        yield server


async def ask(server: Server, thread: str, question: str) -> str:
    asker = server.make_default_asker()
    turn = await server.turns.begin(asker.agent, TurnRequest(asker.owner, thread, question))
    await turn.wait()
    assert turn.answer is not None, turn.error
    return turn.id


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_another_worker_goes_on(kind: str, shop: Path, tmp_path: Path) -> None:
    if kind == "sqlite":
        place = StorageLocation.of(str(tmp_path / "conversations.sqlite"), str(shop))
    elif problem := POSTGRES.unavailable():
        pytest.skip(problem)
    else:
        place = StorageLocation.of(POSTGRES.make_database(f"serve_{uuid.uuid4().hex[:8]}"), str(shop))
    model = scripted()
    async with worker(shop, place, model) as one, worker(shop, place, model) as two:
        owner = one.make_default_asker().owner
        thread = one.store.add_thread(owner).id
        first = await ask(one, thread, "Who are the customers?")
        await ask(two, thread, "And in Paris?")
        assert "SELECT name FROM customers" in model.prompts[-1], "the other worker knows the turn before"
        assert two.store.get_turn(owner, first).answer is not None
    async with worker(shop, place, model) as three:
        assert [turn.question for turn in three.store.list_turns(owner, thread)] == [
            "Who are the customers?",
            "And in Paris?",
        ]
        three.store.delete_threads(owner, thread)
        await three.delete_checkpoints((thread,))
        assert three.agent.conversation(thread).thread not in [t.id for t in three.store.list_threads(owner)]
    if kind == "sqlite":
        assert os.stat(place.location).st_mode & 0o777 == 0o600


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_answers_with_characters_of_no_text_can_be_searched(kind: str, shop: Path, tmp_path: Path) -> None:
    if kind == "sqlite":
        place = StorageLocation.of(str(tmp_path / "conversations.sqlite"), str(shop))
    elif problem := POSTGRES.unavailable():
        pytest.skip(problem)
    else:
        place = StorageLocation.of(POSTGRES.make_database(f"serve_{uuid.uuid4().hex[:8]}"), str(shop))
    with closing(sqlite3.connect(shop)) as customers, customers:
        customers.execute("UPDATE customers SET name = 'A' || char(0) || '\\u0000B' WHERE name = 'Ada'")
    async with worker(shop, place, scripted()) as server:
        asker = server.make_default_asker()
        thread = server.store.add_thread(asker.owner, "theirs").id
        await ask(server, thread, "Who are the customers?")
        for search, hits in (("who are", 1), ("name: a", 1), ("nobody", 0)):
            assert len(server.store.list_threads(asker.owner, search=search, may_see=asker.may_see)) == hits, search


async def test_failures_of_the_place_are_told_as_ours(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tableturn.serve.checkpoints._BUSY_SECONDS", 0.0)
    place = StorageLocation.of(str(tmp_path / "conversations.sqlite"), str(shop))
    async with place.open_checkpointer() as saver:
        with closing(sqlite3.connect(place.location, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(StoreError, match="locked"):
                await saver.adelete_thread("one")
        await saver.adelete_thread("one")


def test_a_file_that_is_something_else_is_left_alone(shop: Path) -> None:
    before = shop.read_bytes()
    with pytest.raises(SettingsError, match="something other than conversations"):
        StorageLocation.of(str(shop), "other.db")
    assert shop.read_bytes() == before
    with pytest.raises(SettingsError, match="postgresql://"):
        StorageLocation.of("redis://x", "other.db")


@pytest.mark.parametrize("first", ["terminal", "server"])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
async def test_one_place_keeps_the_conversations_of_both_doors(
    kind: str, first: str, shop: Path, tmp_path: Path
) -> None:
    path = str(tmp_path / "conversations.sqlite")
    if kind == "postgresql":
        if problem := POSTGRES.unavailable():
            pytest.skip(problem)
        path = POSTGRES.make_database(f"serve_{uuid.uuid4().hex[:8]}")

    def chat(question: str) -> str:
        options = ("--db", str(shop), "--model", "offline", "--thread", "mine", "--checkpoints", path)
        done = tableturn("chat", *options, given=f"{question}\n/threads\n")
        assert done.returncode == 0, done.stderr
        return done.stdout + done.stderr

    async def serve() -> None:
        async with worker(shop, StorageLocation.of(path, str(shop)), scripted()) as server:
            owner = server.make_default_asker().owner
            await ask(server, server.store.add_thread(owner, "theirs").id, "Who are the customers?")
            assert {thread.title for thread in server.store.list_threads(owner)} == {"theirs"}

    if first == "terminal":
        chat("Show the customers in Paris")
    await serve()
    await serve()
    chat("Show the customers in Paris")
    told = chat("How many are there?")
    assert "Customers: 2." in told, "those in Paris: it was gone on with"
    assert "  mine  (last used" in told
    if kind == "postgresql":  # of a file the same process may have the lock twice
        store = ConversationStore.of(path)
        with store.lock("mine", "here"), pytest.raises(SettingsError, match="another chat"), store.lock("mine", "here"):
            pass
