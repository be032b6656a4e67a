"""Every door of the server fills a model's sentence; none stores or streams it filled, or sends its places."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent

from tests.serve.conftest import serving
from tests.support.scripted import ScriptedModel

QUERY = "SELECT city, count(*) AS customers FROM customers GROUP BY city"
SAY, FILLED = "Am meisten: {city@customers.max}, {customers.max}.", "Am meisten: Paris, 2."
ASKED: dict[str, Any] = {"question": "Wo wohnen die Kunden?"}
CHAT: dict[str, Any] = {"messages": [{"role": "user", "content": "Wo wohnen die Kunden?"}]}


def model(sql: str = QUERY, say: str = SAY) -> ScriptedModel:
    return ScriptedModel(script=lambda _: f"{sql}\nSay: {say}\nSure: 90")


async def test_people_get_it_filled_and_it_is_stored_with_its_places(
    shop: Path, tmp_path: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    store = tmp_path / "store.db"
    async with serving(agent_over(shop, model=model()), store=f"sqlite:///{store}") as client:
        assert (await client.post("/ask", json=ASKED)).json()["text"] == FILLED
        thread = (await client.post("/threads", json={})).json()["id"]
        turn = (await client.post(f"/threads/{thread}/turns", json=ASKED)).json()
        assert turn["answer"]["text"] == FILLED
        assert (await client.get(f"/turns/{turn['id']}")).json()["answer"]["text"] == FILLED
        streamed = await client.post(f"/threads/{thread}/turns", json=ASKED, headers={"accept": "text/event-stream"})
        ended = (await client.get(f"/turns/{turn['id']}/events")).text
        other = (await client.post(f"/turns/{turn['id']}/run", json={"sql": f"{QUERY} LIMIT 1"})).json()
    assert FILLED in streamed.text
    assert FILLED in ended
    assert "{city" not in streamed.text + ended
    assert not other["answer"]["text"].startswith("Am meisten")
    kept = "".join(part.read_bytes().decode("latin-1") for part in tmp_path.glob("store.db*"))
    assert SAY in kept
    assert FILLED not in kept


@pytest.mark.parametrize("stream", [True, False])
async def test_chat_front_ends_get_it_as_far_as_it_may_leave(
    shop: Path, agent_over: Callable[..., SQLAgent], stream: bool
) -> None:
    async with serving(agent_over(shop, model=model())) as client:
        said = (await client.post("/v1/chat/completions", json=CHAT | {"stream": stream})).text
    assert FILLED in said
    assert "{city" not in said
    secret = model("SELECT name FROM customers WHERE id = 1", "Es ist {name}.")
    rules = {"columns": {"customers.name": "none"}}
    async with serving(agent_over(shop, model=secret, egress=rules)) as client:
        said = (await client.post("/v1/chat/completions", json=CHAT | {"stream": stream})).text
        person = (await client.post("/ask", json=ASKED)).json()["text"]
    assert "Ada" not in said
    assert "Es ist" not in said
    assert person == "Es ist Ada."


@pytest.mark.parametrize(
    ("accepted", "setting", "filled"),
    [
        ("", "", "There are 1,234.5 customers."),
        ("de-DE,de;q=0.9,en;q=0.8", "", "There are 1.234,5 customers."),
        ("de-CH", "", "There are 1’234.5 customers."),
        ("de-DE", "en", "There are 1,234.5 customers."),
    ],
)
async def test_numbers_are_written_as_the_browser_has_them(
    shop: Path, agent_over: Callable[..., SQLAgent], accepted: str, setting: str, filled: str
) -> None:
    asked = {"question": "How many customers are there?"}
    scripted = model("SELECT 1234.5 AS n", "There are {n} customers.")
    async with serving(agent_over(shop, model=scripted, settings={"locale": setting})) as client:
        headers = {"accept-language": accepted} if accepted else {}
        answer = (await client.post("/ask", json=asked, headers=headers)).json()
        thread = (await client.post("/threads", json={})).json()["id"]
        turn = (await client.post(f"/threads/{thread}/turns", json=asked, headers=headers)).json()
        rerun = await client.post(f"/turns/{turn['id']}/run", json={"sql": turn["answer"]["sql"]})
    assert answer["text"] == turn["answer"]["text"] == rerun.json()["answer"]["text"] == filled
    assert answer["confidence_reason"] == ""
