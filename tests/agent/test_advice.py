"""What only advises a turn never ends it: each part fails in turn, and the answers come without it."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
from langgraph.errors import GraphInterrupt
from tableturn.agent import Answer, SQLAgent
from tableturn.agent.advice import RAISING_VARIABLE, Part, call_with_fallback
from tableturn.agent.conversation import Conversation
from tableturn.agent.model.turn_budget import BudgetReached
from tableturn.tools.errors import DatabaseUnavailable, KnowledgeError, QueryTimeout, SettingsError, TurnCancelled

from tests.support.scripted import writes

ENTRIES: dict[Part, str] = {
    "linking": "tableturn.tools.linking.SchemaLinker.__init__",
    "values": "tableturn.agent.nodes.link.select_likely_values",
    "knowledge": "tableturn.tools.knowledge.Knowledge.find",
    "examples": "tableturn.tools.examples.choose_examples",
    "plain questions": "tableturn.agent.nodes.rephrase.stem_english_word",
    "follow-up": "tableturn.agent.nodes.link.choose_base_turn",
    "checks": "tableturn.agent.evidence.feedback.check",
    "readings": "tableturn.agent.evidence.readings.make_tie_reading",
    "ledger": "tableturn.agent.evidence.ledger.build_query_ledger",
    "confidence": "tableturn.agent.evidence.confidence.gather_answer_evidence",
    "basis": "tableturn.agent.nodes.respond.build_query_basis",
    "headings": "tableturn.agent.answers.phrasing.headings",
    "phrasing": "tableturn.agent.answers.phrasing.phrase_result",
    "charts": "tableturn.agent.answers.answer.choose",
}
"""What each part calls first: it is made to fail."""

ASKED = ("Show the names", "Draw a bar chart of how many of them there are per city")
LOOK = "tableturn.tools.values.ValueIndex.find"
SQL = "SELECT city, count(*) AS n FROM customers GROUP BY city"


def _fail(*_: object, **__: object) -> Any:
    raise IndexError("no word is left")


def _ask(conversation: Conversation, question: str) -> Answer:
    return conversation.ask(question)


def _aask(conversation: Conversation, question: str) -> Answer:
    return asyncio.run(conversation.aask(question))


def _stream(conversation: Conversation, question: str) -> Answer:
    answer = [event.answer for event in conversation.stream(question)][-1]
    assert answer is not None
    return answer


@pytest.fixture
def agent(shop: Path) -> Iterator[SQLAgent]:
    shop.with_suffix(".knowledge.yaml").write_text("terms: {city: where a customer lives}\n")
    with SQLAgent(shop, model=writes(SQL), settings={"base_sql": True, "base_choice": "relevance"}) as agent:
        yield agent


@pytest.mark.whole
@pytest.mark.parametrize("part", get_args(Part))
@pytest.mark.parametrize("take", [_ask, _aask, _stream])
def test_a_part_that_fails_is_left_out(
    part: Part,
    take: Callable[[Conversation, str], Answer],
    agent: SQLAgent,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.delenv(RAISING_VARIABLE)
    monkeypatch.setattr(ENTRIES[part], _fail)
    conversation = agent.conversation()
    with caplog.at_level(logging.ERROR, logger="tableturn.agent.advice"):
        answers = [take(conversation, question) for question in ASKED]
        told = [answer.to_dict() for answer in answers]
    assert [answer["rows"] for answer in told] == [(("Lyon", 1), ("Paris", 2))] * 2
    assert all(answer["text"] for answer in told)
    notes = [note for answer in told for note in answer["notes"]]
    assert any(note.startswith(f"{part} failed") for note in notes)
    assert not [note for note in notes if " failed and" in note and not note.startswith(part)]
    assert {record.getMessage().split(" failed")[0] for record in caplog.records} == {part}
    assert all(record.exc_info and record.exc_info[0] is IndexError for record in caplog.records)


@pytest.mark.parametrize("error", [TypeError("wrong"), ValueError("wrong"), PermissionError("not yours")])
@pytest.mark.parametrize(
    ("entry", "part"),
    [
        ("tableturn.agent.resources.examples_and_knowledge.KnowledgeSource.layers", "knowledge"),
        ("tableturn.agent.resources.examples_and_knowledge.KnowledgeSource.path", "knowledge"),
        ("tableturn.agent.answers.phrasing.phrase_result", "phrasing"),
    ],
)
def test_loading_and_wording_that_fail_end_no_turn(
    entry: str, part: str, error: Exception, agent: SQLAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Any:
        raise error

    monkeypatch.delenv(RAISING_VARIABLE)
    monkeypatch.setattr(entry, fail)
    conversation = agent.conversation()
    for question in ASKED:
        told = conversation.ask(question).to_dict()
        assert told["rows"] == (("Lyon", 1), ("Paris", 2))
        assert any(note.startswith(f"{part} failed") for note in told["notes"])
        if part == "phrasing":
            assert told["text"] == "2 rows."
    if part == "knowledge":
        with pytest.raises(type(error)):
            agent.note("city: where a customer pays taxes")


def test_a_knowledge_file_that_is_wrong_is_told(agent: SQLAgent, shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RAISING_VARIABLE)
    shop.with_suffix(".knowledge.yaml").write_text("terms: [")
    with pytest.raises(KnowledgeError):
        agent.ask(ASKED[0])


def test_tests_see_what_fails(agent: SQLAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LOOK, _fail)
    with pytest.raises(IndexError):
        agent.ask(ASKED[0])


@pytest.mark.parametrize(
    "error",
    [
        TurnCancelled("cancelled"),
        BudgetReached("spent"),
        SettingsError("wrong"),
        KnowledgeError("wrong"),
        GraphInterrupt(),
        KeyboardInterrupt(),
        asyncio.CancelledError(),
    ],
)
def test_what_ends_a_turn_on_purpose_passes(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(RAISING_VARIABLE)

    def end() -> None:
        raise error

    with pytest.raises(type(error)):
        call_with_fallback("values", end, None)


@pytest.mark.parametrize(
    "error", [DatabaseUnavailable("locked"), QueryTimeout("slow"), sqlite3.OperationalError("database is locked")]
)
def test_a_database_that_fails_under_advice_costs_that_part(
    error: Exception, agent: SQLAgent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Any:
        raise error

    monkeypatch.delenv(RAISING_VARIABLE)
    monkeypatch.setattr(LOOK, fail)
    answer = agent.ask(ASKED[0])
    assert answer.answered
    assert any(note.startswith("values failed") for note in answer.notes)


def test_a_turn_cancelled_under_advice_is_cancelled(agent: SQLAgent, monkeypatch: pytest.MonkeyPatch) -> None:
    conversation = agent.conversation()

    def cancel(*_: object) -> Any:
        conversation.cancel()
        raise QueryTimeout("the query was cancelled")

    monkeypatch.delenv(RAISING_VARIABLE)
    monkeypatch.setattr(LOOK, cancel)
    with pytest.raises(TurnCancelled):
        conversation.ask(ASKED[0])
    assert conversation.last() is None
