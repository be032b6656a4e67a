"""New people: what those with equal rights share, and that nobody waits for somebody else's opening."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.advice import RAISING_VARIABLE
from tableturn.agent.resources.factory import KeyedCache
from tableturn.serve import ServeSettings
from tableturn.tools.errors import SettingsError
from tableturn.tools.values import ValueIndex

from tests.serve.conftest import serving

RULES = """
[default]
deny = ["orders"]
[users.cy]
deny = ["customers.city"]
"""


def test_people_with_equal_rights_share_what_they_read(
    shop: Path, tmp_path: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    rules = tmp_path / "people.toml"
    rules.write_text(RULES)
    agent = agent_over(shop, permissions=rules, user="ada")
    ada, bo, cy = (agent.for_user(name).resources for name in ("ada", "bo", "cy"))
    assert ada.database.engine is bo.database.engine
    assert ada.database.schema() is not None
    assert (ada.schemas, ada.values) == (bo.schemas, bo.values)
    assert ada.rights != bo.rights, "who asks is told apart all the same"
    assert not ada.may_read(bo.rights)
    assert (cy.database.engine, cy.schemas, cy.values) != (bo.database.engine, bo.schemas, bo.values)
    assert {table.name for table in cy.database.schema().tables} != {t.name for t in bo.database.schema().tables}


async def test_nobody_waits_for_those_who_come_first(
    shop: Path, agent_over: Callable[..., SQLAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_over(shop)
    gate, for_user = threading.Event(), agent.for_user
    opened: list[Any] = []

    def slowly(identity: Any) -> SQLAgent:
        opened.append(identity)
        if identity.name != "ada":
            gate.wait(60)
        return for_user(identity)

    monkeypatch.setattr(agent, "for_user", slowly)
    async with serving(agent, ServeSettings(user_header="X-User")) as client:

        async def threads(name: str) -> int:
            return (await client.get("/threads", headers={"X-User": name})).status_code

        assert await threads("ada") == 200
        coming = [asyncio.create_task(threads(f"new{number % 40}")) for number in range(80)]
        try:
            async with asyncio.timeout(30):
                for _ in range(3):
                    assert await threads("ada") == 200
            assert not any(each.done() for each in coming)
        finally:
            gate.set()
        assert set(await asyncio.gather(*coming)) == {200}
        assert len(opened) == 41, "each once"


@pytest.mark.parametrize(
    "error",
    [IndexError("no word"), sqlite3.OperationalError("database is locked"), SettingsError("wrong")],
    ids=lambda error: type(error).__name__,
)
async def test_a_fault_while_preparing_poisons_nothing(
    error: Exception, shop: Path, agent_over: Callable[..., SQLAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(RAISING_VARIABLE)
    find, faults = ValueIndex.find, [error]

    def fail_once(self: ValueIndex, *arguments: Any, **more: Any) -> Any:
        if faults:
            raise faults.pop()
        return find(self, *arguments, **more)

    async with serving(agent_over(shop)) as client:

        async def failures() -> float:
            text = (await client.get("/metrics")).text
            counted = re.search(r'^tableturn_advice_failures_total\{part="values"\} (.+)$', text, re.MULTILINE)
            return float(counted[1]) if counted else 0.0

        before = await failures()
        monkeypatch.setattr(ValueIndex, "find", fail_once)
        for _ in range(3):
            reply = await client.post("/ask", json={"question": "Who are the customers?"})
            assert (reply.status_code, reply.json()["row_count"]) == (200, 3)
        assert not faults
        assert (await client.get("/schema")).status_code == 200
        assert await failures() == before + (not isinstance(error, SettingsError))


async def test_what_could_not_be_prepared_is_tried_again(
    shop: Path, agent_over: Callable[..., SQLAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    find, faults = ValueIndex.find, [IndexError("no word")]

    def fail_once(self: ValueIndex, *arguments: Any, **more: Any) -> Any:
        if faults:
            raise faults.pop()
        return find(self, *arguments, **more)

    monkeypatch.setattr(ValueIndex, "find", fail_once)
    async with serving(agent_over(shop)) as client:
        codes = [(await client.get("/schema")).status_code for _ in range(3)]
    assert codes == [500, 200, 200], "faults are raised here, as tests want them"


def test_an_entry_is_made_once_and_holds_up_no_other() -> None:
    cache, gate, begun = KeyedCache[str, int](2), threading.Event(), threading.Event()
    calls: list[str] = []

    def slow() -> int:
        calls.append("slow")
        begun.set()
        gate.wait(60)
        return 1

    results: list[int] = []
    waiting = [threading.Thread(target=lambda: results.append(cache.get("a", slow))) for _ in range(3)]
    for thread in waiting:
        thread.start()
    begun.wait(60)
    assert cache.get("b", lambda: 2) == 2
    gate.set()
    for thread in waiting:
        thread.join()
    assert (results, calls) == ([1, 1, 1], ["slow"])
    with pytest.raises(ZeroDivisionError):
        cache.get("c", lambda: 1 // 0)
    assert cache.get("c", lambda: 3) == 3, "what failed is tried again"
    assert cache.get("b", lambda: 4) == 2
    cache.get("d", lambda: 5)
    assert cache.get("c", lambda: 6) == 6, "the one used longest ago went"
