"""Several drafts side by side: the vote, the merge, and what one that fails costs."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from langchain_core.language_models import BaseChatModel
from tableturn.agent import Answer, SQLAgent
from tableturn.agent.nodes.drafts import vary_draft_settings
from tableturn.agent.settings import Settings

from tests.support.scripted import Reply, ScriptedModel, rephrased, task_of

GOOD = "SELECT name FROM customers WHERE city = 'Paris'"
SAME = "SELECT name FROM customers WHERE city IN ('Paris')"
OTHER = "SELECT city FROM customers"
BROKEN = "SELECT nme FROM customers"


def drafting(*drafts: Reply, merged: Reply = GOOD) -> ScriptedModel:
    """Gives each draft once, in whatever order the drafts are asked for."""
    left, lock = list(drafts), threading.Lock()

    def script(prompt: str) -> Reply:
        if task_of(prompt) == "rephrase":
            return rephrased("Give me the names of customers who live in Paris.")
        if "settle a disagreement" in prompt:
            reply = merged
        else:
            with lock:
                reply = left.pop(0) if len(left) > 1 else left[0]
        return reply if isinstance(reply, Exception) else f"```sql\n{reply}\n```"

    return ScriptedModel(script=script)


def asked(shop: Path, model: BaseChatModel, **settings: Any) -> Answer:
    fields = {"examples": "none", "candidates": 3, "candidate_reasoning": False, "merge": False, **settings}
    with SQLAgent(shop, model=model, settings=fields) as agent:
        return agent.ask("Give the names of customers who live in Paris.")


def test_the_majority_answers_in_one_round(shop: Path) -> None:
    answer = asked(shop, drafting(OTHER, GOOD, SAME))
    assert (answer.status, answer.rows) == ("converged", (("Ada",), ("Cy",)))
    assert len(answer.attempts) == 3
    assert answer.usage.llm_calls == 3
    assert answer.usage_by_node["candidate"].llm_calls == 3


@pytest.mark.parametrize("lost", [BROKEN, "I cannot help with that.", ConnectionError("no route")])
def test_a_lost_draft_costs_nothing_but_itself(shop: Path, lost: Reply) -> None:
    answer = asked(shop, drafting(lost, GOOD, SAME))
    assert (answer.status, answer.rows) == ("converged", (("Ada",), ("Cy",)))


def test_where_every_draft_is_lost_the_turn_says_why(shop: Path) -> None:
    answer = asked(shop, drafting(ConnectionError("no route")))
    assert answer.status == "failed"
    assert "no route" in answer.text


def test_where_every_draft_fails_the_loop_mends_one(shop: Path) -> None:
    answer = asked(shop, drafting(BROKEN, BROKEN, BROKEN, GOOD))
    assert (answer.status, answer.sql) == ("converged", GOOD)
    assert len(answer.attempts) == 4


def test_the_two_strongest_results_are_merged(shop: Path) -> None:
    model = drafting(GOOD, SAME, OTHER, merged=SAME)
    answer = asked(shop, model, merge=True)
    assert "from 2 drafts" in model.prompts[-1]
    assert "from 1 draft:" in model.prompts[-1]
    assert (answer.sql, answer.usage.llm_calls) == (SAME, 4)


def test_drafts_that_agree_are_not_merged(shop: Path) -> None:
    assert asked(shop, drafting(GOOD, SAME, GOOD), merge=True).usage.llm_calls == 3


@pytest.mark.parametrize("merged", [BROKEN, "no idea", ConnectionError("no route"), "DROP TABLE customers"])
def test_a_bad_merge_never_replaces_the_vote(shop: Path, merged: Reply) -> None:
    answer = asked(shop, drafting(GOOD, SAME, OTHER, merged=merged), merge=True, max_attempts=2)
    assert answer.rows == (("Ada",), ("Cy",))
    assert answer.answered


def test_the_next_turn_starts_without_the_drafts(shop: Path) -> None:
    settings = {"examples": "none", "candidates": 2, "candidate_reasoning": False, "merge": False}
    with SQLAgent(shop, model=drafting(GOOD), settings=settings) as agent:
        chat = agent.conversation()
        assert [len(chat.ask(text).attempts) for text in ("one", "two")] == [2, 2]


async def test_async_gives_the_same(shop: Path) -> None:
    settings = {"examples": "none", "candidates": 3, "candidate_reasoning": False, "merge": False}
    with SQLAgent(shop, model=drafting(OTHER, GOOD, SAME), settings=settings) as agent:
        assert (await agent.aask("Give the names of customers who live in Paris.")).rows == (("Ada",), ("Cy",))


def test_drafts_differ_in_examples_temperature_and_reasoning() -> None:
    settings = Settings(candidates=3, candidate_reasoning=True)
    drafts = [vary_draft_settings(settings, number) for number in range(3)]
    assert drafts[0] == settings
    assert len({draft.examples for draft in drafts}) == 3
    assert [draft.temperature for draft in drafts] == [0.0, 0.7, 0.7]
    assert [draft.reason for draft in drafts] == ["off", "off", "pot"]
    assert vary_draft_settings(Settings(examples="none"), 1).examples == "none"
