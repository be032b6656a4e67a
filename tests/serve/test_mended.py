"""What is refused whole, before anything is kept or used up, and what is ended or deleted whole."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tableturn.agent import SQLAgent
from tableturn.serve import ServerLimits, ServeSettings
from tableturn.serve.request_checks import TooMany
from tableturn.serve.running_turns import RunningTurn
from tableturn.serve.server import SideQueryRunner, make_agent_opener, open_server
from tableturn.serve.store import Owner, TurnRequest, TurnStore
from tableturn.tools.database import Cancellation

from tests.serve.conftest import Client


@pytest.mark.parametrize("content", [r'"a\ud800"', r'[{"type": "text", "text": "a\ud800"}]'])
@pytest.mark.parametrize("last", [True, False])
async def test_half_a_surrogate_pair_is_refused(client: Client, content: str, last: bool) -> None:
    messages = [f'{{"role": "user", "content": {content}}}', '{"role": "user", "content": "Who?"}']
    body = f'{{"model": "tableturn", "messages": [{", ".join(messages[::-1] if last else messages)}]}}'
    reply = await client.post("/v1/chat/completions", content=body, headers={"content-type": "application/json"})
    assert reply.status_code == 422, reply.text


async def test_an_edit_without_a_query_leaves_the_query_waiting(client: Client) -> None:
    thread = (await client.post("/threads", json={})).json()["id"]
    path = f"/threads/{thread}/turns"
    await client.post(path, json={"question": "Who are the customers?", "approve": True})
    assert (await client.post(path, json={"question": {"action": "edit"}})).status_code == 422
    approved = (await client.post(path, json={"question": {"action": "approve"}})).json()
    assert approved["status"] == "answered", approved
    assert approved["answer"]["sql"], approved


async def test_a_number_past_the_events_still_tells_the_end() -> None:
    nothing = cast(Any, None)
    turn = RunningTurn(cast(Any, SimpleNamespace(id="t")), nothing, nothing, events=[{"event": "step"}])
    labels, fields = SimpleNamespace(locale="en"), dict[str, Any](attempts=[])
    turn.answer = cast(Any, SimpleNamespace(to_dict=fields.copy, choices=(), basis=None, answered=False, labels=labels))
    turn.finish()
    assert [event async for event in turn.watch(999)] == [
        (2, {"event": "answer", "turn": "t", "answer": {"attempts": []}, "choices": [], "page": None, "dates": {}})
    ]


def test_any_number_of_threads_is_deleted(tmp_path: Path) -> None:
    owner = Owner("zoe", "shop")
    store = TurnStore(f"sqlite:///{tmp_path}/store.sqlite")
    store.add_thread(owner)
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as connection, connection:
        columns = [row[1] for row in connection.execute("PRAGMA table_info(tableturn_threads)")]
        others = ", ".join("lower(hex(randomblob(16)))" if name == "id" else name for name in columns)
        connection.execute(
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)"
            f" INSERT INTO tableturn_threads ({', '.join(columns)}) SELECT {others} FROM n, tableturn_threads"
        )
    assert len(store.delete_unused_threads("shop", -1)) == 40_001
    store.add_thread(owner)
    assert len(store.delete_threads(owner)) == 1
    assert store.list_threads(owner) == []
    store.close()


async def test_who_gives_up_ends_the_query_and_keeps_their_share_until_then() -> None:
    work = SideQueryRunner(ServerLimits(at_once_a_person=1))
    owner, begun, seen = Owner("ada", "shop"), threading.Event(), threading.Event()

    def slow(cancellation: Cancellation) -> None:
        begun.set()
        while not cancellation.cancelled:
            time.sleep(0.01)
        seen.set()

    asked = asyncio.create_task(work.run(owner, slow))
    await asyncio.to_thread(begun.wait)
    asked.cancel()
    assert await work.run(owner, lambda _: seen.is_set()), "after the first has ended"
    work.close()


async def test_a_refused_or_cancelled_question_of_another_door_stores_no_conversation(
    shop: Path, tmp_path: Path, agent_over: Callable[..., SQLAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    file, settings = tmp_path / "store.sqlite", ServeSettings(limits=ServerLimits(at_once=0))
    async with open_server(make_agent_opener(agent_over(shop)), f"sqlite:///{file}", settings) as server:
        asker, waits = server.make_default_asker(), asyncio.Event()
        asked = TurnRequest(asker.owner, "", "Who are the customers?")
        with pytest.raises(TooMany):
            await asker.begin_thread("chat", asked)

        async def wait(_: object) -> None:
            waits.set()
            await asyncio.Event().wait()

        monkeypatch.setattr(server.sign_in, "prepare_indexes", wait)
        beginning = asyncio.create_task(asker.begin_thread("chat", asked))
        await waits.wait()
        beginning.cancel()
        with pytest.raises(asyncio.CancelledError):
            await beginning
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT count(*) FROM tableturn_threads").fetchone() == (0,)
