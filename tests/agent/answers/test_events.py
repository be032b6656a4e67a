"""What a streamed turn tells while it runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.agent import SQLAgent
from tableturn.agent.answers.events import Event
from tableturn.prompts.find_sql import find_partial_sql
from tableturn.tools.errors import ModelError

from tests.support.openai_server import Behaviour, OpenAIServer, raw, says
from tests.support.scripted import ScriptedModel, instead_of_sql, writes

QUERY = "SELECT name\nFROM customers\nORDER BY name"
REPLY = f"Question: Give me the customers' names.\nSure: 95\n```sql\n{QUERY}\n```\nThat lists them."
LOOKING_INSIDE = ("progress", "node")


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")


def told(events: Sequence[Event]) -> list[str]:
    kinds = [event.kind for event in events if event.kind not in LOOKING_INSIDE]
    return [kind for kind, before in zip(kinds, ["", *kinds], strict=False) if kind != before]


def test_a_query_is_told_as_it_is_written(shop: Path) -> None:
    with (
        OpenAIServer([says(REPLY)]) as server,
        SQLAgent(shop, model="openai:m", base_url=server.base_url, settings={"examples": "none"}) as agent,
    ):
        events = list(agent.stream("Who are they?"))
    assert told(events) == ["reading", "linked", "sql_delta", "sql", "rows", "answer"]
    answer = events[-1].answer
    assert answer is not None
    assert "".join(event.data["text"] for event in events if event.kind == "sql_delta") == QUERY
    rows = next(event for event in events if event.kind == "rows")
    assert rows.to_dict() == {
        "event": "rows", "sql": QUERY, "columns": ["name"], "row_count": len(answer.rows), "error": None
    }  # fmt: skip
    assert events[-1].to_dict()["answer"]["sql"] == QUERY
    assert answer.usage.prompt_tokens == 100, "as the server counted, also piece by piece"


COUNTED = "SELECT COUNT(*) FROM orders JOIN customers ON customers.id = orders.customer_id"


def _lose_orders(shop: Path) -> SQLAgent:
    with closing(sqlite3.connect(shop)) as connection, connection:
        connection.execute("INSERT INTO orders (id, customer_id) VALUES (901, 99), (902, 99), (903, 99)")
    return SQLAgent(shop, model=writes(COUNTED), settings={"examples": "none", "readings": "off"})


async def test_an_answer_is_told_before_its_rows_are_counted_and_again_after(shop: Path) -> None:
    with _lose_orders(shop) as agent:
        blocking = list(agent.stream("How many orders?"))
        awaited = [event async for event in agent.astream("How many orders?")]
        alone = agent.ask("How many orders?")
    for events in (blocking, awaited):
        assert told(events)[-3:] == ["rows", "early_answer", "answer"]
        (early,) = (event for event in events if event.kind == "early_answer")
        first, last = early.data["answer"], events[-1].to_dict()["answer"]
        assert events[-1].to_dict().keys() == early.to_dict().keys(), "the same of both answers"
        assert early.answer is None, "who takes the first answer that comes takes the last one"
        assert (first["ledger"], first["confidence_reason"]) == (None, "")
        assert last["text"] == alone.text
        assert last["text"].startswith(f"{first['text']} 3 more have no match in customers")
        assert last["confidence"] == alone.confidence < first["confidence"]
        assert {key for key in first if first[key] != last[key]} <= {
            *("text", "confidence", "confidence_reason", "ledger", "basis")
        }


def test_no_answer_is_told_early_where_that_would_break_a_promise(shop: Path, tmp_path: Path) -> None:
    """An audit trail's line stands before the answer is given; a turn may ask back instead."""
    _lose_orders(shop).close()
    with SQLAgent(shop, model=writes(COUNTED), settings={"examples": "none"}, audit=tmp_path / "trail") as agent:
        assert "early_answer" not in told(list(agent.stream("How many orders?")))
    with SQLAgent(shop, model=writes(COUNTED), settings={"examples": "none", "ledger": "off"}) as agent:
        assert "early_answer" not in told(list(agent.stream("How many orders?")))


async def test_the_same_without_blocking(shop: Path) -> None:
    with (
        OpenAIServer([says(REPLY)]) as server,
        SQLAgent(shop, model="openai:m", base_url=server.base_url, settings={"examples": "none"}) as agent,
    ):
        events = [event async for event in agent.astream("Who are they?")]
    assert told(events) == ["reading", "linked", "sql_delta", "sql", "rows", "answer"]


def test_a_server_that_sends_its_reply_in_one_piece_is_asked_so(shop: Path) -> None:
    def answer(body: dict[str, object]) -> Behaviour:
        return raw("{}") if body.get("stream") else says(REPLY)

    with (
        OpenAIServer(answer) as server,
        SQLAgent(shop, model="openai:m", base_url=server.base_url, settings={"examples": "none"}) as agent,
    ):
        first, second = (list(agent.stream("Who are they?"))[-1].answer for _ in range(2))
    assert first is not None
    assert second is not None
    assert (first.sql, first.usage.llm_calls) == (QUERY, 2)
    assert (second.sql, second.usage.llm_calls) == (QUERY, 1)


def test_what_is_asked_back_is_told(shop: Path) -> None:
    with SQLAgent(
        shop,
        model=ScriptedModel(script=lambda _: instead_of_sql("ambiguous", "Which ones?")),
        settings={"examples": "none"},
    ) as agent:
        events = list(agent.stream("Who?"))
    assert told(events)[-2:] == ["clarify", "answer"]
    assert next(event.data["question"] for event in events if event.kind == "clarify") == "Which ones?"


def test_a_query_that_fails_is_told_with_its_error(shop: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT x FROM customers"), settings={"examples": "none"}) as agent:
        events = list(agent.stream("Who?"))
    assert "no such column" in next(event.data["error"] for event in events if event.kind == "rows")


@given(st.integers(0, len(REPLY)), st.integers(0, len(REPLY)))
def test_what_is_told_of_a_longer_reply_goes_on_from_what_was_told_of_a_shorter(one: int, other: int) -> None:
    shorter, longer = sorted((one, other))
    assert find_partial_sql(REPLY[:longer]).startswith(find_partial_sql(REPLY[:shorter]))


def test_a_model_of_the_wrong_type_is_refused_when_the_agent_is_built(shop: Path) -> None:
    with pytest.raises(ModelError, match="not int"):
        SQLAgent(shop, model=42)  # pyright: ignore[reportArgumentType]


def test_a_web_page_in_the_place_of_a_reply_is_named(shop: Path) -> None:
    page = "<!DOCTYPE html><html><title>Sign in</title></html>"
    with (
        OpenAIServer([raw(page)]) as server,
        SQLAgent(shop, model="openai:m", base_url=server.base_url, settings={"examples": "none"}) as agent,
    ):
        answer = agent.ask("Who?")
    assert answer.status == "failed"
    assert "the web page 'Sign in'" in answer.text
    assert "base URL" in answer.text
