"""The HTTP API: questions, conversations, rows, files, feedback."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tableturn import __version__
from tableturn.agent import SQLAgent
from tableturn.agent.answers.answer import JSON_KEYS
from tableturn.agent.sqlagent import Conversation

from tests.serve.conftest import Client, events, scripted, serving


async def thread_of(client: Client) -> str:
    return (await client.post("/threads", json={})).json()["id"]


async def test_its_description_has_the_version(client: Client) -> None:
    assert (await client.get("/openapi.json")).json()["info"]["version"] == __version__


async def test_ask_gives_what_the_command_gives(client: Client) -> None:
    reply = await client.post("/ask", json={"question": "Who are the customers?"})
    assert tuple(reply.json()) == JSON_KEYS
    assert reply.json()["rows"] == [["Ada"], ["Bo"], ["Cy"]]
    turn = (await client.get(f"/turns/{reply.headers['tableturn-turn']}")).json()
    assert turn["answer"] == reply.json()
    assert (await client.get("/threads")).json() == []


async def test_what_nobody_foresaw_is_the_servers_fault(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(Conversation, "aask", broken)
    reply = await client.post("/ask", json={"question": "Who?"})
    assert (reply.status_code, reply.json()["error"]["kind"]) == (500, "Internal")
    assert "secret" not in reply.text
    assert "internal error" in caplog.text


async def test_a_turn_tells_what_happens(client: Client) -> None:
    thread = await thread_of(client)
    told = await events(client, f"/threads/{thread}/turns", {"question": "Who are the customers?"})
    kinds = [event["event"] for event in told]
    assert kinds[0] == "begun"
    assert kinds[-1] == "answer"
    assert {"reading", "linked", "sql", "rows"} <= set(kinds)
    assert not {"node", "progress"} & set(kinds)
    again = await events(client, f"/turns/{told[0]['turn']}/events")
    assert again[-1] == told[-1]
    found = (await client.get(f"/threads/{thread}?rows=1")).json()
    assert found["title"] == "Who are the customers?"
    assert found["turns"][0]["answer"]["rows"] == [["Ada"]]


async def test_a_turn_as_json(client: Client) -> None:
    thread = await thread_of(client)
    reply = (await client.post(f"/threads/{thread}/turns", json={"question": "Who?"})).json()
    assert reply["status"] == "answered"
    assert reply["answer"]["row_count"] == 3


async def test_rows_are_sorted_and_searched_here(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    agent = agent_over(shop, model=scripted("SELECT id, name, city FROM customers"), settings={"rows": 1})
    async with serving(agent) as client:
        turn = (await client.post("/ask", json={"question": "All customers?"})).headers["tableturn-turn"]
        page = (await client.get(f"/turns/{turn}/rows", params={"sort": 1, "descending": True, "limit": 2})).json()
        assert page["total"] == 3, "the answer held one row, the query gives three"
        assert [row[1] for row in page["rows"]] == ["Cy", "Bo"]
        found = (await client.get(f"/turns/{turn}/rows", params={"search": "PARIS"})).json()
        assert [row[1] for row in found["rows"]] == ["Ada", "Cy"]
        assert (await client.get(f"/turns/{turn}/rows", params={"search": "%"})).json()["total"] == 0
        assert (await client.get(f"/turns/{turn}/rows", params={"sort": 3})).status_code == 422


async def test_export_writes_all_rows(client: Client) -> None:
    turn = (await client.post("/ask", json={"question": "All customers?"})).headers["tableturn-turn"]
    reply = await client.get(f"/turns/{turn}/export", params={"format": "csv"})
    assert "attachment" in reply.headers["content-disposition"]
    assert list(csv.reader(io.StringIO(reply.text)))[1:] == [["Ada"], ["Bo"], ["Cy"]]
    assert (await client.get(f"/turns/{turn}/export", params={"format": "exe"})).status_code == 422


async def test_another_query_is_run_in_its_place(client: Client) -> None:
    thread = await thread_of(client)
    turn = (await client.post(f"/threads/{thread}/turns", json={"question": "Who?"})).json()["id"]
    reply = (await client.post(f"/turns/{turn}/run", json={"sql": "SELECT count(*) FROM orders"})).json()
    assert reply["answer"]["rows"] == [[4]]
    assert reply["thread"] == thread
    refused = await client.post(f"/turns/{turn}/run", json={"sql": "DROP TABLE orders"})
    assert refused.status_code == 422
    assert refused.json()["error"]["kind"] == "QueryRejected"


async def test_feedback(client: Client) -> None:
    turn = (await client.post("/ask", json={"question": "Who are the customers?"})).headers["tableturn-turn"]

    async def say(**body: str) -> dict[str, Any]:
        reply = await client.post(f"/turns/{turn}/feedback", json=body)
        assert reply.status_code == 200, reply.text
        return reply.json()

    assert (await say(kind="approve", question="Who are the customers?"))["saved"]
    corrected = await say(kind="correct", sql="SELECT city FROM customers", question="Where are the customers?")
    assert corrected["answer"]["columns"] == ["city"]
    assert (await say(kind="down", text="no"))["kind"] == "down"
    assert (await client.get(f"/turns/{turn}")).json()["feedback"] == {"kind": "down", "text": "no"}


async def test_a_question_changes_no_setting(client: Client) -> None:
    for body in (
        {"question": "x", "settings": {"turn_calls": 10_000}},
        {"question": "x", "model": "openai:other"},
        {"question": "x", "user": "ada"},
        {"question": {"action": "approve", "settings": {}}},
        {"question": " "},
        {},
    ):
        assert (await client.post("/ask", json=body)).status_code == 422
    assert (await client.get("/threads")).json() == []


async def test_deleting(client: Client) -> None:
    thread = await thread_of(client)
    turn = (await client.post(f"/threads/{thread}/turns", json={"question": "Who?"})).json()["id"]
    assert (await client.delete(f"/threads/{thread}")).status_code == 204
    for path in (f"/threads/{thread}", f"/turns/{turn}", f"/turns/{turn}/rows"):
        assert (await client.get(path)).status_code == 404
    other = (await client.post("/ask", json={"question": "Who?"})).headers["tableturn-turn"]
    assert (await client.delete("/me")).status_code == 204
    assert (await client.get(f"/turns/{other}")).status_code == 404


async def test_the_schema_shows_samples_that_are_no_text(tmp_path: Path, agent_over: Callable[..., SQLAgent]) -> None:
    path = tmp_path / "pictures.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE pictures (data BLOB)")
        connection.execute("INSERT INTO pictures VALUES (x'FF00')")
    async with serving(agent_over(path)) as client:
        (table,) = (await client.get("/schema")).json()["tables"]
    assert table["columns"][0]["samples"] == ["x'FF00'"]
