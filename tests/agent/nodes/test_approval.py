"""A person approves, edits or rejects each query before it runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.nodes.execute import parse_approval_reply

from tests.support.scripted import writes

PARIS = "SELECT name FROM customers WHERE city = 'Paris'"
LYON = "SELECT name FROM customers WHERE city = 'Lyon'"
SETTINGS: dict[str, Any] = {"examples": "none", "approve": True}


def test_nothing_runs_before_it_is_approved(shop: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS), settings=SETTINGS) as agent:
        chat = agent.conversation()
        waiting = chat.ask("Who lives in Paris?")
        assert (waiting.status, waiting.sql, waiting.attempts) == ("needs_clarification", PARIS, ())
        assert waiting.choices == ("approve", "reject")
        answer = chat.ask("approve")
        assert (answer.status, answer.rows) == ("converged", (("Ada",), ("Cy",)))
        assert answer.usage.llm_calls == 1, "resuming asks no model again"


@pytest.mark.parametrize("said", [LYON, {"action": "edit", "sql": LYON}])
def test_an_edited_query_runs_instead(shop: Path, said: str | Mapping[str, str]) -> None:
    with SQLAgent(shop, model=writes(PARIS), settings=SETTINGS) as agent:
        chat = agent.conversation()
        chat.ask("Who lives in Lyon?")
        answer = chat.ask(said)
    assert (answer.sql, answer.rows, len(answer.attempts)) == (LYON, (("Bo",),), 1)


@pytest.mark.parametrize("said", ["reject", "That is not what I meant", {"action": "reject", "reason": "wrong table"}])
def test_a_rejected_query_does_not_run(shop: Path, said: str | Mapping[str, str]) -> None:
    with SQLAgent(shop, model=writes(PARIS), settings=SETTINGS) as agent:
        chat = agent.conversation()
        chat.ask("Who lives in Paris?")
        answer = chat.ask(said)
        assert (answer.status, answer.rows, answer.attempts) == ("failed", (), ())
        assert "not approved" in answer.text
        assert chat.ask("Who lives in Paris?").status == "needs_clarification", "the next turn is a new question"


def test_rejecting_a_revision_keeps_what_ran(shop: Path) -> None:
    settings = SETTINGS | {"gate": False}
    with SQLAgent(shop, model=writes(PARIS, LYON), settings=settings) as agent:
        chat = agent.conversation()
        chat.ask("Who lives in Paris?")
        assert chat.ask("yes").sql == LYON, "the revision waits in its turn"
        answer = chat.ask("no")
    assert (answer.status, answer.sql) == ("capped", PARIS)
    assert any("not approved" in note for note in answer.notes)


def test_settings_of_one_run_hold_until_its_turn_is_over(shop: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS), settings={"examples": "none"}) as agent:
        chat = agent.conversation()
        assert chat.ask("Who lives in Paris?", settings={"approve": True}).status == "needs_clarification"
        assert chat.ask("reject").status == "failed", "the reply comes without the settings that led to the question"
        assert chat.ask("Who lives in Paris?").status == "converged"


async def test_async_waits_too(shop: Path) -> None:
    with SQLAgent(shop, model=writes(PARIS), settings=SETTINGS) as agent:
        chat = agent.conversation()
        assert (await chat.aask("Who lives in Paris?")).sql == PARIS
        assert (await chat.aask({"action": "approve"})).rows == (("Ada",), ("Cy",))


def test_an_edit_is_as_read_only_as_a_draft(shop: Path) -> None:
    before = shop.read_bytes()
    with SQLAgent(shop, model=writes(PARIS), settings=SETTINGS | {"max_attempts": 1}) as agent:
        chat = agent.conversation()
        chat.ask("Who lives in Paris?")
        answer = chat.ask({"action": "edit", "sql": "DELETE FROM customers"})
    assert answer.status == "failed"
    assert shop.read_bytes() == before


@pytest.mark.parametrize(
    ("said", "action"),
    [("Yes", "approve"), ("ok.", "approve"), ("1", "approve"), ("2", "reject"), ("", "reject"), ({}, "reject"),
     ({"action": "drop"}, "reject"), (None, "reject"), ({"sql": PARIS}, "approve"), ({"sql": LYON}, "edit")],
)  # fmt: skip
def test_only_consent_is_consent(said: object, action: str) -> None:
    assert parse_approval_reply(said, PARIS, can_save=False).action == action


@pytest.mark.parametrize("can_save", [True, False])
def test_a_number_stands_for_a_choice_that_was_offered(can_save: bool) -> None:
    third = parse_approval_reply("3", PARIS, can_save)
    assert (third.action, third.save) == (("approve", True) if can_save else ("reject", False))
    assert parse_approval_reply("4", PARIS, can_save).action == "reject"
