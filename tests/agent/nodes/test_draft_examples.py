"""Examples chosen anew by the draft's SQL skeleton, before a revision."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent
from tableturn.tools.sql import make_sql_skeleton

from tests.support.scripted import ScriptedModel, task_of, writes

WRONG = "SELECT name FROM customers WHERE id NOT IN (SELECT nobody FROM orders)"
RIGHT = "SELECT name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders WHERE customer_id < 3)"
ONE_REVISION = {"max_attempts": 2, "effort": "low"}


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
    assert make_sql_skeleton(first[0]["sql"]) != make_sql_skeleton(WRONG) == make_sql_skeleton(second[0]["sql"])
    assert len(first) == len(second) == 8
    draft, revision = [prompt.split("<examples>")[1] for prompt in model.prompts if "<examples>" in prompt]
    assert draft.split("SQL: ")[1].startswith(first[0]["sql"])
    assert revision.split("SQL: ")[1].startswith(second[0]["sql"])


@pytest.mark.parametrize("preset", ["full", "credit", "craft", "track", "revision"])
def test_presets_choose_once(shop: Path, preset: str) -> None:
    seen = turn(shop, writes("SELECT nothing FROM nowhere", RIGHT), preset=preset)
    assert [name for name, _ in seen].count("retrieve") == 1


def test_sql_crafts_second_request_shows_what_was_chosen_by_the_first_query(shop: Path) -> None:
    model = writes(WRONG, RIGHT)
    settings = {"preset": "craft", "reason": "off", "examples": "draft", "k_question_skeleton": 2}
    _, chosen = [data["turn"]["examples"] for name, data in turn(shop, model, **settings) if name == "retrieve"]
    assert chosen
    assert all(f"SQL: {example['sql']}" in model.prompts[-1] for example in chosen)
    model = writes(WRONG, RIGHT)
    turn(shop, model, preset="craft", reason="off")
    assert "Related queries" in model.prompts[0]
    assert "Related queries" not in model.prompts[-1], "the paper's loop shows what came back, and no examples"


def test_credits_sentence_on_the_regular_form_goes_with_the_setting(shop: Path) -> None:
    for regular in (True, False):
        model = writes(RIGHT)
        turn(shop, model, preset="credit", rephrase="never", regular_examples=regular)
        assert ("use no aliases" in model.prompts[0]) is regular
        assert "everything on one line" in model.prompts[0]


def test_credit_rephrases_after_all_earlier_turns(shop: Path) -> None:
    model = writes("SELECT count(*) FROM customers")
    with SQLAgent(shop, model=model, settings={"preset": "credit"}) as agent:
        talk = agent.conversation()
        asked = [f"How many customers have id {number}?" for number in range(8)]
        for question in asked:
            talk.ask(question)
    rephrasing = next(prompt for prompt in reversed(model.prompts) if task_of(prompt) == "rephrase")
    assert all(question in rephrasing for question in asked)


def test_the_revision_chain_tells_of_the_rows_by_feedback_alone(shop: Path) -> None:
    model = writes(WRONG, RIGHT)
    turn(shop, model, preset="revision", simplify=False)
    first = model.prompts[0].split("\n<schema>\n")[1].split("</schema>")[0]
    assert "CREATE TABLE" in first
    assert not {"rows", "e.g."} & set(first.replace(",", " ").split())
