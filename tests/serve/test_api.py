"""The HTTP API: questions, conversations, decisions, feedback."""

from __future__ import annotations

import asyncio
import json
import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tableturn import __version__
from tableturn.agent import SQLAgent
from tableturn.agent.advice import RAISING_VARIABLE
from tableturn.agent.answers.answer import JSON_KEYS
from tableturn.agent.conversation import Conversation
from tableturn.serve import ServeSettings
from tableturn.serve.store import TurnStore
from tableturn.tools.errors import SettingsError

from tests.serve.conftest import Client, events, scripted, serving
from tests.support.command_line import tableturn
from tests.support.scripted import ScriptedModel


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


@pytest.mark.parametrize(
    ("broken", "method", "path", "kind"),
    [(Conversation, "aask", "/ask", "Internal"), (TurnStore, "add_thread", "/threads", "InternalError")],
)
async def test_what_nobody_foresaw_is_the_servers_fault(
    broken: type,
    method: str,
    path: str,
    kind: str,
    client: Client,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("a secret")

    monkeypatch.setattr(broken, method, fail)
    reply = await client.post(path, json={"question": "Who?"} if kind == "Internal" else {})
    [record] = [record for record in caplog.records if "internal error" in record.message]
    reference = record.message.removeprefix("internal error ")
    message = f"this is an error in tableturn, not in your question: find it in the server's log under {reference}"
    assert (reply.status_code, reply.json()) == (500, {"error": {"kind": kind, "message": message}})
    assert record.exc_info
    assert record.exc_info[0] is ZeroDivisionError


async def test_advice_that_fails_is_counted(
    client: Client, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    def counted(text: str) -> float:
        found = re.search(r'^tableturn_advice_failures_total\{part="basis"\} (.+)$', text, re.MULTILINE)
        return float(found[1]) if found else 0.0

    before = counted((await client.get("/metrics")).text)
    monkeypatch.delenv(RAISING_VARIABLE)
    monkeypatch.setattr("tableturn.agent.nodes.respond.build_query_basis", broken)
    reply = await client.post("/ask", json={"question": "Who?"})
    assert reply.status_code == 200
    assert any(note.startswith("basis failed") for note in reply.json()["notes"])
    assert "ZeroDivisionError" in caplog.text
    assert counted((await client.get("/metrics")).text) == before + 1


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


async def test_another_query_is_run_in_its_place(client: Client) -> None:
    thread = await thread_of(client)
    turn = (await client.post(f"/threads/{thread}/turns", json={"question": "Who?"})).json()["id"]
    reply = (await client.post(f"/turns/{turn}/run", json={"sql": "SELECT count(*) FROM orders"})).json()
    assert reply["answer"]["rows"] == [[4]]
    assert reply["thread"] == thread
    refused = await client.post(f"/turns/{turn}/run", json={"sql": "DROP TABLE orders"})
    assert refused.status_code == 422
    said = {"kind": "QueryRejected", "message": "I can only read data, so nothing was changed."}
    assert refused.json()["error"] == said
    german = {"accept-language": "de"}
    refused = await client.post(f"/turns/{turn}/run", json={"sql": "DROP TABLE orders"}, headers=german)
    assert refused.json()["error"]["message"] == "Ich kann nur lesen, also wurde nichts geändert."
    refused = await client.post(f"/turns/{turn}/run", json={"sql": 3})
    assert refused.json()["error"] == {"kind": "BadRequest", "message": "sql must be text, not 3"}


@pytest.mark.parametrize(
    ("kind", "path", "content", "says"),
    [
        ("application/json", "/ask", "{bad", "the body is not valid JSON"),
        ("text/plain", "/ask", "x", "the body must be JSON: send the header Content-Type: application/json"),
        ("application/json", "/lessons/zz", '{"text": "x"}', "id has a form or characters that are not allowed"),
    ],
)
async def test_what_is_wrong_with_a_request_is_told_by_its_name(
    client: Client, kind: str, path: str, content: str, says: str
) -> None:
    method = "POST" if path == "/ask" else "PATCH"
    refused = await client.request(method, path, content=content, headers={"content-type": kind})
    assert (refused.status_code, refused.json()["error"]["message"]) == (422, says)


async def test_a_body_that_is_not_utf_8_is_said(client: Client) -> None:
    refused = await client.post("/ask", content=b"\xff", headers={"content-type": "application/json"})
    assert (refused.status_code, refused.json()["error"]["message"]) == (400, "the body is not valid JSON in UTF-8")


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
    assert (await client.get(f"/turns/{turn}")).json()["feedback"].items() >= {"kind": "down", "text": "no"}.items()
    assert (await client.post(f"/turns/{turn}/feedback", json={"kind": "note", "number": 1})).status_code == 422
    assert (await say(kind="note", text="rule: Money is never rounded"))["entry"]["kind"] == "convention"
    assert (await client.get(f"/turns/{turn}")).json()["feedback"]["kind"] == "down", "a definition is no judgement"


async def test_an_answer_is_corrected_in_words(client: Client) -> None:
    thread = await thread_of(client)
    turn = (await client.post(f"/threads/{thread}/turns", json={"question": "Who are the customers?"})).json()["id"]
    right = {"kind": "correct", "text": "SELECT name FROM customers WHERE city = 'Paris';"}
    told = (await client.post(f"/turns/{turn}/feedback", json=right)).json()
    assert [row[0] for row in told["answer"]["rows"]] == ["Ada", "Cy"], "a query typed as words is the right one"
    told = (await client.post(f"/turns/{turn}/feedback", json={"kind": "correct", "text": "select only Paris"})).json()
    assert "answer" not in told, "which begins like a query and is words"
    await client.get(f"/turns/{told['turn']}/events")
    told = (await client.post(f"/turns/{turn}/feedback", json={"kind": "correct", "text": "only of Paris"})).json()
    assert told["question"] == "Who are the customers?"
    assert '"event": "answer"' in (await client.get(f"/turns/{told['turn']}/events")).text
    new = (await client.get(f"/turns/{told['turn']}")).json()
    assert (new["question"], new["wording"]) == ("Who are the customers? only of Paris", "Who are the customers?")
    assert (await client.get(f"/turns/{turn}")).json()["feedback"]["turn"] == new["id"]
    saved = (await client.post(f"/turns/{new['id']}/feedback", json={"kind": "approve"})).json()["saved"]
    assert (saved["question"], saved["new"]) == ("Who are the customers?", True)


async def test_a_follow_up_is_saved_under_words_that_stand_alone_and_are_told(
    shop: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    async with serving(agent_over(shop, model="offline")) as client:
        thread = await thread_of(client)
        for question in ("Show the names of the customers", "Only those in Paris"):
            turn = (await client.post(f"/threads/{thread}/turns", json={"question": question})).json()["id"]
            await client.get(f"/turns/{turn}/events")
        rephrased = (await client.get(f"/turns/{turn}")).json()["answer"]["rephrased"]
        for body in ({"kind": "approve"}, {"kind": "correct", "sql": "SELECT name FROM customers WHERE city = 'Lyon'"}):
            refused = await client.post(f"/turns/{turn}/feedback", json=body)
            assert refused.status_code == 422
            told = refused.json()["error"]["message"]
            assert repr(rephrased) in told, "nothing is saved under words unseen"
            assert ("call `correct` again with this query" in told) == (body["kind"] == "correct")
            assert (await client.get("/lessons")).json() == []
        saved = (await client.post(f"/turns/{turn}/feedback", json=body | {"question": rephrased})).json()["saved"]
        assert saved["question"] == rephrased != "Only those in Paris"


async def test_a_correction_is_saved_for_the_words_under_which_a_person_approved_the_answer(
    shop: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    right = "SELECT name FROM customers WHERE city = 'Lyon'"
    async with serving(agent_over(shop, model="offline")) as client:
        thread = await thread_of(client)
        for question in ("Show the names of the customers", "Only those in Paris"):
            turn = (await client.post(f"/threads/{thread}/turns", json={"question": question})).json()["id"]
            await client.get(f"/turns/{turn}/events")
        await client.post(f"/turns/{turn}/feedback", json={"kind": "approve", "question": "Parisians"})
        await client.post(f"/turns/{turn}/feedback", json={"kind": "approve"})
        saved = (await client.post(f"/turns/{turn}/feedback", json={"kind": "correct", "sql": right})).json()["saved"]
        assert (saved["question"], saved["replaced"]) == ("Parisians", 1)
        assert [each["meaning"] for each in (await client.get("/lessons")).json()] == [right]
        told = (await client.post(f"/turns/{turn}/feedback", json={"kind": "correct", "text": "of Lyon"})).json()
        assert told["question"] == "Parisians"
        await client.get(f"/turns/{told['turn']}/events")


async def test_what_was_marked_wrong_is_a_list_for_whoever_runs_the_server(
    shop: Path, agent_over: Callable[..., SQLAgent], tmp_path: Path
) -> None:
    place = tmp_path / "serve.sqlite"
    approved = ""
    async with serving(agent_over(shop), store=f"sqlite:///{place}") as client:
        for body in (
            {"kind": "down", "text": "too many"},
            {"kind": "correct", "text": "only of Paris"},
            {"kind": "correct", "text": "only of Lyon"},
            {"kind": "correct", "sql": "SELECT city FROM customers"},
            {"kind": "approve"},
        ):
            turn = (await client.post("/ask", json={"question": "Who are the customers?"})).headers["tableturn-turn"]
            told = await client.post(f"/turns/{turn}/feedback", json=body)
            assert told.status_code == 200
            if new := told.json().get("turn") if body.get("text") == "only of Lyon" else None:
                await client.get(f"/turns/{new}/events")
                approved = (await client.get(f"/turns/{new}")).json()["answer"]["sql"]
                await client.post(f"/turns/{new}/feedback", json={"kind": "approve"})
            await client.post(f"/turns/{turn}/feedback", json={"kind": "note", "text": "big = orders.total > 8"})
            if body.get("text") == "only of Paris":
                await client.post(f"/turns/{turn}/feedback", json={"kind": "down"})  # takes no words away
    done = await asyncio.to_thread(tableturn, "feedback", "--db", str(shop), "--checkpoints", str(place))
    wrong = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(one["said"], one["right"]) for one in wrong] == [
        ("too many", None),
        ("only of Paris", None),
        ("only of Lyon", approved),
        (None, "SELECT city FROM customers"),
    ]
    assert all(one["at"] and one["question"] == "Who are the customers?" and one["sql"] for one in wrong)


async def test_what_was_taught_is_listed_edited_and_undone(client: Client) -> None:
    turn = (await client.post("/ask", json={"question": "Who are the customers?"})).headers["tableturn-turn"]
    await client.post(f"/turns/{turn}/feedback", json={"kind": "approve"})
    await client.post(f"/turns/{turn}/feedback", json={"kind": "note", "text": "big means orders.total > 8"})
    answer, term = (await client.get("/lessons")).json()
    assert (answer["kind"], answer["name"]) == ("answer", "Who are the customers?")
    assert (term["kind"], term["name"], term["meaning"]) == ("term", "big", "orders.total > 8")
    assert answer["added"]
    assert term["added"]
    wrong = await client.patch(f"/lessons/{answer['id']}", json={"text": "SELECT nope FROM customers"})
    assert (wrong.status_code, wrong.json()["error"]["kind"]) == (422, "ExampleRefused")
    for lesson, text in ((answer, "SELECT city FROM customers"), (term, "SUM(orders.total)")):
        assert (await client.patch(f"/lessons/{lesson['id']}", json={"text": text})).status_code == 204
    changed, metric = (await client.get("/lessons")).json()
    assert (changed["name"], changed["meaning"]) == ("Who are the customers?", "SELECT city FROM customers")
    assert (metric["kind"], metric["name"]) == ("metric", "big")
    for which in ("1", "big"):
        assert (await client.delete(f"/lessons/{which}")).status_code == 422
        assert (await client.patch(f"/lessons/{which}", json={"text": "orders.total > 7"})).status_code == 422
    assert (await client.get("/lessons")).json() == [changed, metric], "only ids name one"
    await client.post(f"/turns/{turn}/feedback", json={"kind": "approve", "question": "Who buys?"})
    other = next(one for one in (await client.get("/lessons")).json() if one["name"] == "Who buys?")
    taken = await client.patch(f"/lessons/{other['id']}", json={"text": "Who are the  customers?"})
    named = f"another saved answer ({changed['id'][:8]}: {changed['meaning']})"
    assert (taken.status_code, named in taken.json()["error"]["message"]) == (422, True)
    assert len((await client.get("/lessons")).json()) == 3, "nothing is lost"
    for each in (changed, metric, other):
        assert (await client.delete(f"/lessons/{each['id']}")).status_code == 204
    assert (await client.get("/lessons")).json() == []
    assert (await client.delete(f"/lessons/{term['id']}")).status_code == 422


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


async def test_a_conversation_is_listed_once_it_has_a_turn(client: Client) -> None:
    thread = await thread_of(client)
    assert (await client.get("/threads")).json() == [], "its question was refused, or is on its way"
    await client.post(f"/threads/{thread}/turns", json={"question": "Who?"})
    assert [one["id"] for one in (await client.get("/threads")).json()] == [thread]


async def test_deleting(client: Client) -> None:
    thread = await thread_of(client)
    turn = (await client.post(f"/threads/{thread}/turns", json={"question": "Who?"})).json()["id"]
    assert (await client.delete(f"/threads/{thread}")).status_code == 204
    for path in (f"/threads/{thread}", f"/turns/{turn}", f"/turns/{turn}/rows"):
        assert (await client.get(path)).status_code == 404
    other = (await client.post("/ask", json={"question": "Who?"})).headers["tableturn-turn"]
    assert (await client.delete("/me")).status_code == 204
    assert (await client.get(f"/turns/{other}")).status_code == 404


async def test_replies_without_a_schema_of_their_own_keep_their_keys(client: Client) -> None:
    """OpenAPI says nothing of these."""
    me = (await client.get("/me")).json()
    assert set(me) == {
        "user",
        "database",
        "dialect",
        "model",
        "translator",
        "session",
        "labels",
        "marks",
        "sureness",
        "dollars_left",
    }
    assert set(me["sureness"]) == {"sure", "fairly_sure"}
    german = (await client.get("/me", headers={"Accept-Language": "xx, de-AT;q=0.9, en;q=0.8"})).json()["labels"]
    assert (me["labels"]["page_chart"], german["page_chart"]) == ("Chart", "Diagramm")
    assert german["rows"] == {"one": "{n} Zeile", "other": "{n} Zeilen"}
    schema = (await client.get("/schema")).json()
    table = schema["tables"][0]
    assert {"name", "tables", "foreign_keys", "dialect"} <= set(schema)
    assert {"name", "columns", "kind", "row_count", "comment", "definition"} <= set(table)
    column = {"name", "type", "kind", "primary_key", "not_null", "comment", "samples", "codes", "words"}
    assert column <= set(table["columns"][0])
    assert (await client.get("/health")).json() == {"status": "ok"}
    assert set((await client.get("/ready")).json()) >= {"status"}


async def test_the_schema_shows_samples_that_are_no_text(tmp_path: Path, agent_over: Callable[..., SQLAgent]) -> None:
    path = tmp_path / "pictures.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE pictures (data BLOB, price_eur REAL, height_mm REAL, height_cm REAL)")
        connection.execute("INSERT INTO pictures (data) VALUES (x'FF00')")
    async with serving(agent_over(path)) as client:
        (table,) = (await client.get("/schema")).json()["tables"]
    assert table["columns"][0]["samples"] == ["x'FF00'"]
    # A unit is no part of a question, unless it alone tells columns apart.
    assert [column["words"] for column in table["columns"]] == ["data", "price", "height mm", "height cm"]


async def test_asked_again_it_waits_for_approval_as_before(client: Client) -> None:
    thread = await thread_of(client)
    path = f"/threads/{thread}/turns"
    waiting = (await client.post(path, json={"question": "Who?", "approve": True})).json()
    assert waiting["answer"]["status"] == "needs_clarification"
    assert waiting["choices"][:2] == ["approve", "reject"]
    refused = await client.post(f"/turns/{waiting['id']}/again")
    assert refused.status_code == 409, "these words would be taken for the reply"
    decided = (await client.post(path, json={"question": {"action": "reject"}})).json()
    assert decided["choices"] == []
    again = (await client.post(f"/turns/{waiting['id']}/again")).json()
    assert again["answer"]["status"] == "needs_clarification", "as the turn had it"
    await client.post(path, json={"question": {"action": "reject"}})
    ran = (await client.post(f"/turns/{waiting['id']}/again", json={"approve": False})).json()
    assert ran["answer"]["row_count"] == 3


async def test_a_stopped_turn_is_asked_again_as_it_was(shop: Path, agent_over: Callable[..., SQLAgent]) -> None:
    model = scripted(delay=20)
    async with serving(agent_over(shop, model=model)) as client:
        thread = await thread_of(client)
        body = {"question": "Who?", "approve": True}
        asked = asyncio.create_task(client.post(f"/threads/{thread}/turns", json=body))
        while not (turns := (await client.get(f"/threads/{thread}")).json()["turns"]):
            await asyncio.sleep(0.01)
        await client.post(f"/turns/{turns[0]['id']}/stop")
        await asked
        model.delay = 0.0
        again = (await client.post(f"/turns/{turns[0]['id']}/again")).json()
        assert (again["answer"]["status"], again["answer"]["rows"]) == ("needs_clarification", [])


async def test_a_decision_asked_again_is_the_decision(client: Client) -> None:
    thread = await thread_of(client)
    path = f"/threads/{thread}/turns"
    edit = {"action": "edit", "sql": "SELECT count(*) FROM orders"}
    await client.post(path, json={"question": "Who?", "approve": True})
    decided = (await client.post(path, json={"question": edit})).json()
    assert decided["answer"]["rows"] == [[4]]
    refused = await client.post(f"/turns/{decided['id']}/again")
    assert (refused.status_code, refused.json()["error"]["kind"]) == (422, "NothingToDecide")


async def test_a_question_may_leave_a_query_that_waits(client: Client) -> None:
    turns = f"/threads/{await thread_of(client)}/turns"
    await client.post(turns, json={"question": "Who are the customers?"})
    for leave, ended in ((True, "converged"), (False, "failed")):
        waits = (await client.post(turns, json={"question": "And in Paris?", "approve": True})).json()
        assert waits["answer"]["status"] == "needs_clarification"
        next_one = (await client.post(turns, json={"question": "Who are all of them?", "leave": leave})).json()
        assert next_one["answer"]["status"] == ended, next_one["answer"]["text"]


@pytest.mark.parametrize("action", ["approve", "edit", "reject"])
async def test_a_decision_where_no_query_waits_is_no_question(
    action: str, shop: Path, agent_over: Callable[..., SQLAgent]
) -> None:
    model = ScriptedModel(script=lambda prompt: "QUESTION: Who is meant?\nCHOICES:\n- customers\n- orders")
    async with serving(agent_over(shop, model=model)) as client:
        thread = await thread_of(client)
        body = {"question": {"action": action, "sql": "SELECT count(*) FROM orders"}}
        reply = await client.post(f"/threads/{thread}/turns", json=body)
        assert (reply.status_code, reply.json()["error"]["kind"]) == (422, "NothingToDecide")
        assert model.prompts == []
        assert (await client.get(f"/threads/{thread}")).json()["turns"] == []


async def test_what_people_run_is_written_down(shop: Path, agent_over: Callable[..., SQLAgent], tmp_path: Path) -> None:
    trail = tmp_path / "trail.jsonl"
    agent = agent_over(shop, model=scripted("SELECT name FROM customers"), audit=trail, settings={"rows": 1})
    async with serving(agent) as client:
        turn = (await client.post("/ask", json={"question": "Who?"})).headers["tableturn-turn"]
        before = len(trail.read_text().splitlines())
        await client.post(f"/turns/{turn}/run", json={"sql": "SELECT count(*) FROM orders"})
        await client.post(f"/turns/{turn}/run", json={"sql": "DELETE FROM orders"})
        await client.post(f"/turns/{turn}/run", json={"sql": "SELECT nothing FROM orders"})
        await client.get(f"/turns/{turn}/rows")
        await client.get(f"/turns/{turn}/rows?offset=1")
        await client.get(f"/turns/{turn}/export")
        await client.get(f"/turns/{turn}/export?search=a")
        right = {"kind": "correct", "sql": "SELECT city FROM customers", "question": "Where are the customers?"}
        await client.post(f"/turns/{turn}/feedback", json=right)
    written = [json.loads(line) for line in trail.read_text().splitlines()[before:]]
    assert [(line["status"], line["sql"], line["rows"]) for line in written] == [
        ("run", "SELECT count(*) FROM orders", 1),
        ("error", None, 0),
        ("error", None, 0),
        ("read", "SELECT name FROM customers", 3),
        ("exported", "SELECT name FROM customers", 3),
        ("exported", "SELECT name FROM customers", 1),
        ("run", "SELECT city FROM customers", 1),
    ]
    assert written[1]["refused"] == written[1]["queries"] == ["DELETE FROM orders"]
    assert (written[2]["error"], written[2]["refused"]) == ("QueryFailed", [])
    assert {line["question"] for line in written} == {"Who?"}


@pytest.mark.parametrize(
    ("path", "says"),
    [
        ("/export?form=xlsx", "unknown parameter 'form': there are format, rows"),
        ("/chart?format=bmp", "unknown parameter 'format': there are "),
        ("?table=nosuch", "unknown parameter 'table': there are none here"),
    ],
)
async def test_a_parameter_that_a_route_does_not_take_is_refused(client: Client, path: str, says: str) -> None:
    turn = (await client.post("/ask", json={"question": "Who are the customers?"})).headers["tableturn-turn"]
    reply = await client.get(f"/turns/{turn}{path}")
    assert (reply.status_code, reply.json()["error"]["kind"]) == (400, "BadRequest")
    assert reply.json()["error"]["message"].startswith(says)


async def test_feedback_without_its_words_keeps_nothing(client: Client) -> None:
    turn = (await client.post("/ask", json={"question": "Who are the customers?"})).headers["tableturn-turn"]
    for body in ({"kind": "correct"}, {"kind": "correct", "sql": " "}, {"kind": "note", "text": " "}):
        reply = await client.post(f"/turns/{turn}/feedback", json=body)
        assert (reply.status_code, reply.json()["error"]["kind"]) == (422, "BadRequest")
    saved = (await client.post(f"/turns/{turn}/feedback", json={"kind": "approve"})).json()["saved"]
    assert saved["new"], "nothing was kept before"


async def test_a_correction_that_cannot_be_shown_is_not_kept(
    shop: Path, agent_over: Callable[..., SQLAgent], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = agent_over(shop)

    def fail(*_: object) -> None:
        raise RuntimeError

    answer = agent.ask("Who are the customers?")
    monkeypatch.setattr("tableturn.tools.knowledge.proposals.propose_entries_from_correction", fail)
    with pytest.raises(RuntimeError):
        agent.correct(answer, "SELECT city FROM customers", question="Who are the customers?")
    with pytest.raises(SettingsError):
        agent.correct(answer, " ")
    assert agent.approve(answer, question="Who are the customers?").replaced == 0


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/ask", {"question": "a\0b"}),
        ("/ask", {"question": "a", "notes": "\0"}),
        ("/threads", {"title": "\0"}),
        ("/threads/x/turns", {"question": {"action": "edit", "sql": "SELECT '\0'"}}),
        ("/turns/x/run", {"sql": "SELECT '\0'"}),
        ("/turns/x/feedback", {"kind": "down", "text": "\0"}),
    ],
)
async def test_no_text_has_a_nul(path: str, body: dict[str, Any], client: Client) -> None:
    reply = await client.post(path, json=body)
    assert (reply.status_code, reply.json()["error"]["kind"]) == (422, "BadRequest")
    assert "U+0000" in reply.json()["error"]["message"]


async def test_a_wrong_method_is_told_from_a_wrong_path(client: Client) -> None:
    wrong = await client.get("/ask")
    assert (wrong.status_code, wrong.json()["error"]["kind"]) == (405, "NotAllowed")
    nothing = await client.get("/nothing")
    assert (nothing.status_code, nothing.json()["error"]["message"]) == (404, "there is nothing at this address")
    assert (await client.get("/app.js")).status_code == 200


async def test_any_letter_is_found_in_any_case(tmp_path: Path, agent_over: Callable[..., SQLAgent]) -> None:
    path = tmp_path / "places.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE places (name TEXT, raw TEXT)")
        connection.execute("INSERT INTO places VALUES ('Ålborg', CAST(x'ff61' AS TEXT)), ('Lund', 'x')")
    async with serving(agent_over(path, model=scripted("SELECT name, raw FROM places"))) as client:
        turn = (await client.post("/ask", json={"question": "Which places?"})).headers["tableturn-turn"]
        page = (await client.get(f"/turns/{turn}/rows", params={"search": "ålb"})).json()
        assert [row[0] for row in page["rows"]] == ["Ålborg"]
        file = await client.get(f"/turns/{turn}/export")
        assert file.text.splitlines()[1:] == ["Ålborg,\ufffda", "Lund,x"], "read anew, as bytes"


async def test_the_error_of_wider_rights_is_not_shown(
    shop: Path, agent_over: Callable[..., SQLAgent], tmp_path: Path
) -> None:
    rules = tmp_path / "people.toml"
    rules.write_text("[users.ada]\n")
    settings, ada = ServeSettings(user_header="X-User"), {"X-User": "ada"}
    store = f"sqlite:///{tmp_path}/store.sqlite"
    agent = agent_over(shop, permissions=rules, user="ada", model=scripted(delay=20))
    async with serving(agent, settings, store=store) as client:
        thread = (await client.post("/threads", json={}, headers=ada)).json()["id"]
        path, body = f"/threads/{thread}/turns", {"question": "Orders?"}
        asked = asyncio.create_task(client.post(path, json=body, headers=ada))
        while not (turns := (await client.get(f"/threads/{thread}", headers=ada)).json()["turns"]):
            await asyncio.sleep(0.01)
        turn = turns[0]["id"]
        await client.post(f"/turns/{turn}/stop", headers=ada)
        await asked
        assert (await client.get(f"/turns/{turn}", headers=ada)).json()["error"]["kind"] == "TurnCancelled"
    rules.write_text('[users.ada]\ndeny = ["orders"]\n')
    async with serving(agent_over(shop, permissions=rules, user="ada"), settings, store=store) as client:
        assert (await client.get(f"/turns/{turn}", headers=ada)).status_code == 404
        assert (await client.get(f"/threads/{thread}", headers=ada)).json()["turns"] == []
