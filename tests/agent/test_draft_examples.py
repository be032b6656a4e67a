"""Examples chosen anew by the draft's SQL skeleton, before a revision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent
from tableturn.tools.sql import sql_skeleton

from tests.support.scripted import ScriptedModel, task_of, writes

WRONG = "SELECT name FROM customers WHERE id NOT IN (SELECT nobody FROM orders)"
RIGHT = "SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders WHERE customer_id < 3)"
ONE_REVISION = {"revise_on": "doubt", "max_attempts": 2, "effort": "low"}


def turn(shop: Path, model: ScriptedModel, **settings: Any) -> list[tuple[str, Any]]:
    """The nodes of a turn with their updates."""
    with SQLAgent(shop, model=model, settings=ONE_REVISION | settings) as agent:
        events = list(agent.conversation().stream("How many customers are there?"))
    return [(event.name, event.data) for event in events if event.kind == "node"]


def test_examples_are_chosen_again_before_a_revision_and_no_model_is_asked(shop: Path) -> None:
    model = writes(WRONG, RIGHT)
    seen = turn(shop, model, examples="draft")
    assert [name for name, _ in seen] == [
        "rephrase", "link", "retrieve", "generate", "execute", "critique",
        "retrieve", "revise", "execute", "critique", "respond",
    ]  # fmt: skip
    assert [task_of(prompt) for prompt in model.prompts] == ["sql", "sql"]


def test_the_drafts_own_form_comes_first(shop: Path) -> None:
    model = writes(WRONG, RIGHT)
    first, second = [
        data["turn"]["examples"] for name, data in turn(shop, model, examples="draft") if name == "retrieve"
    ]
    assert sql_skeleton(first[0]["sql"]) != sql_skeleton(WRONG) == sql_skeleton(second[0]["sql"])
    assert len(first) == len(second) == 8
    draft, revision = [prompt.split("<examples>")[1] for prompt in model.prompts if "<examples>" in prompt]
    assert draft.split("SQL: ")[1].startswith(first[0]["sql"])
    assert revision.split("SQL: ")[1].startswith(second[0]["sql"])


@pytest.mark.parametrize("preset", ["full", "credit", "craft", "track", "revision"])
def test_presets_choose_once(shop: Path, preset: str) -> None:
    seen = turn(shop, writes("SELECT nothing FROM nowhere", RIGHT), preset=preset)
    assert [name for name, _ in seen].count("retrieve") == 1
