"""Why a turn ended, for programs; what its SQL means; and states that this version did not write."""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from tableturn.agent import Answer, SQLAgent
from tableturn.agent.answers.render import render_answer_text
from tableturn.agent.records import AnswerRecord
from tableturn.agent.state import dump, load
from tableturn.tools.errors import ModelError, TableturnError

from tests.support.scripted import ScriptedModel, writes

NAMES = "SELECT name FROM customers"
SAME = "SELECT name FROM customers WHERE 1 = 1"
CITIES = "SELECT city FROM customers"
OPEN: dict[str, Any] = {"examples": "none", "gate": False}

STOPS: dict[str, tuple[ScriptedModel, dict[str, Any]]] = {
    "gate": (writes(NAMES), {}),
    "same_sql": (writes(NAMES), OPEN),
    "same_result": (writes(NAMES, SAME), OPEN),
    "cycle": (writes(NAMES, CITIES, NAMES), OPEN),
    "attempts": (writes(NAMES, CITIES), OPEN | {"max_attempts": 2}),
    "budget": (writes(NAMES, CITIES), OPEN | {"turn_calls": 2}),
    "declined": (writes(NAMES, intent="unanswerable"), {}),
    "asked": (writes(NAMES, intent="ambiguous"), {}),
    "error": (writes(ModelError("no route")), {}),
}


@pytest.mark.parametrize(("kind", "model", "settings"), [(kind, *how) for kind, how in STOPS.items()], ids=STOPS)
def test_why_a_turn_ended(shop: Path, kind: str, model: ScriptedModel, settings: dict[str, Any]) -> None:
    with SQLAgent(shop, model=model.model_copy(deep=True), settings={"examples": "none"} | settings) as agent:
        answer = agent.ask("Who are the customers?")
    assert answer.stop_kind == kind == json.loads(answer.to_json())["stop_kind"]


def test_a_locked_file_is_no_matter_for_the_model(shop: Path) -> None:
    os.utime(shop, (0, 0))  # written long ago: its names are not read again
    with closing(sqlite3.connect(shop, isolation_level=None, check_same_thread=False)) as writer:

        def write(_: str) -> str:
            writer.execute("BEGIN EXCLUSIVE")
            return f"```sql\n{NAMES}\n```"

        model = ScriptedModel(script=write)
        with SQLAgent(shop, model=model, settings={"examples": "none"}) as agent:
            agent.resources.database.execute("SELECT 1")
            answer = agent.ask("Who are the customers?")
    assert (answer.status, answer.stop_kind, len(model.prompts)) == ("failed", "error", 1)
    assert answer.text == "the database is locked by another program: try again later"


@pytest.mark.parametrize(
    ("reply", "kind", "status"),
    [(CITIES, "edited", "converged"), ("approve", "gate", "converged"), ("reject", "declined", "failed")],
)
def test_why_a_turn_that_was_to_be_approved_ended(shop: Path, reply: str, kind: str, status: str) -> None:
    with SQLAgent(shop, model=writes(NAMES), settings={"examples": "none", "approve": True}) as agent:
        chat = agent.conversation()
        pending = chat.ask("Who are the customers?")
        answer = chat.ask(reply)
    assert (pending.stop_kind, pending.explanation) == ("asked", "Name from customers.")
    assert (answer.stop_kind, answer.status) == (kind, status)


def test_the_json_form_ends_with_the_newer_keys_in_their_order(shop: Path) -> None:
    with SQLAgent(shop, model=writes(NAMES), settings={"examples": "none"}) as agent:
        answer = agent.ask("Who are the customers?")
    fields = json.loads(answer.to_json())
    newer = [
        "stop_kind",
        "notes",
        "answered",
        "explanation",
        "basis",
        "used_knowledge",
        "chart",
        "estimate",
        "headings",
        "confidence_reason",
        "trusted",
        "trust_reason",
        "formats",
        "ledger",
        "note_kinds",
    ]
    assert list(fields)[-len(newer) :] == newer
    assert (fields["answered"], fields["notes"]) == (True, [])
    assert fields["explanation"] == answer.explanation == "Name from customers."
    assert "\nMeaning: Name from customers.\n" in render_answer_text(answer)


def test_no_sql_means_no_explanation(shop: Path) -> None:
    with SQLAgent(shop, model=writes(NAMES, intent="small_talk"), settings={"examples": "none"}) as agent:
        answer = agent.ask("Thanks!")
    assert (answer.sql, answer.explanation, answer.answered) == (None, "", False)


def test_sql_that_cannot_be_explained_is_answered_all_the_same(shop: Path) -> None:
    deep = f"SELECT {'(' * 90}1{')' * 90} AS n"
    with SQLAgent(shop, model=writes(deep), settings={"examples": "none", "max_attempts": 1}) as agent:
        assert agent.ask("One?").rows == ((1,),)


def test_a_damaged_turn_is_an_error_of_one_line(shop: Path) -> None:
    with SQLAgent(shop, model=writes(NAMES), settings={"examples": "none"}) as agent:
        config: Any = {"configurable": {"thread_id": "edited"}}
        agent.graph.update_state(config, {"messages": [("human", "Who?")]}, as_node="__start__")
        agent.graph.update_state(config, {"turn": {"question": ["Who?"]}, "next": "link"}, as_node="rephrase")
        with pytest.raises(TableturnError, match="damaged Turn"):
            agent.graph.invoke(None, config)


def test_a_conversation_of_an_earlier_version_goes_on(shop: Path) -> None:
    """It has past turns and an answer, and no turn at hand in the form of this version."""
    with SQLAgent(shop, model=writes(NAMES), settings={"examples": "none"}) as agent:
        chat = agent.conversation("old")
        record = dump(agent.ask("Who are the customers?").record)
        old = {key: value for key, value in record.items() if key not in ("stop_kind", "explanation")}
        past = {"question": "How many?", "rephrased": "Give me the number.", "sql": "SELECT 1", "result": "n: 1."}
        config: Any = {"configurable": {"thread_id": "old"}}
        agent.graph.update_state(config, {"turns": [past], "answer": old}, as_node="respond")
        before = chat.last()
        answer = chat.ask("And their names?")
    assert before is not None
    assert (before.stop_kind, before.explanation) == (None, "")
    assert answer.status == "converged"
    assert load(AnswerRecord, old).text == before.text


def test_notes_are_given_once_and_start_empty_with_each_turn(shop: Path) -> None:
    def script(prompt: str) -> str:
        return "I cannot." if '"intent"' in prompt else f"```sql\n{NAMES}\n```"

    settings = {"examples": "none", "rephrase": "always"}
    with SQLAgent(shop, model=ScriptedModel(script=script), settings=settings) as agent:
        chat = agent.conversation()
        first, second = chat.ask("Who?"), chat.ask("Who?")
    assert len([note for note in first.notes if "used as asked" in note]) == 1
    assert first.notes == second.notes


def test_sql_edited_in_a_checkpoint_is_told_from_the_agents(shop: Path) -> None:
    with SQLAgent(shop, model=writes(NAMES), settings={"examples": "none"}) as agent:
        config: Any = {"configurable": {"thread_id": "studio"}}
        agent.graph.invoke({"messages": [HumanMessage("Who?")]}, config, interrupt_before=["execute"])
        agent.graph.update_state(config, {"sql": CITIES})
        output = agent.graph.invoke(None, config)
    answer = Answer(load(AnswerRecord, output["answer"]))
    assert (answer.sql, answer.stop_kind) == (CITIES, "edited")


def test_edited_sql_that_fails_is_answered_as_such_and_not_revised(shop: Path) -> None:
    with SQLAgent(shop, model=writes(NAMES), settings={"examples": "none"}) as agent:
        config: Any = {"configurable": {"thread_id": "studio"}}
        agent.graph.invoke({"messages": [HumanMessage("Who?")]}, config, interrupt_before=["execute"])
        agent.graph.update_state(config, {"sql": "SELECT surname FROM customers"})
        output = agent.graph.invoke(None, config)
    answer = Answer(load(AnswerRecord, output["answer"]))
    assert (answer.status, answer.stop_kind, len(answer.attempts)) == ("failed", "edited", 1)
    assert answer.sql == "SELECT surname FROM customers"
    assert "no such column: surname" in answer.text
