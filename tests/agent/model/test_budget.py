"""Calls, tokens and seconds of a turn are bounded under every reply, and the answer says which bound it met."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from tableturn.agent import Answer, SQLAgent
from tableturn.agent.model.turn_budget import (
    LEAST_SECONDS,
    TaskAllowance,
    TurnBudget,
    limit_to_remaining_seconds,
    use_task_allowance,
)

from tests.support.scripted import Reply, ScriptedModel, rephrased, task_of, writes

DRAFTS = [f"SELECT id + {number} FROM customers" for number in range(9)]
LOOP: dict[str, Any] = {"examples": "none", "gate": False, "max_attempts": 9}


def asked(shop: Path, model: ScriptedModel, **settings: Any) -> Answer:
    with SQLAgent(shop, model=model, settings={**LOOP, **settings}) as agent:
        return agent.ask("What are the ids of customers?")


@pytest.mark.parametrize("calls", [2, 3, 5])
def test_calls_end_the_loop_with_the_best_so_far(shop: Path, calls: int) -> None:
    model = writes(*DRAFTS)
    answer = asked(shop, model, turn_calls=calls)
    assert (len(model.prompts), answer.status, answer.row_count) == (calls, "capped", 3)
    assert any("turn_calls" in note for note in answer.notes)


@pytest.mark.parametrize("reply", ["I cannot help with that.", "", "SELECT nothing FROM nowhere", "DROP TABLE x"])
@pytest.mark.parametrize("preset", ["full", "craft", "revision"])
def test_no_reply_passes_the_budget_of_calls(shop: Path, reply: str, preset: str) -> None:
    model = ScriptedModel(script=lambda prompt: reply)
    with SQLAgent(shop, model=model, preset=preset, settings={"examples": "none", "turn_calls": 3}) as agent:
        agent.ask("Who?")
    assert len(model.prompts) <= 3


def test_candidates_share_what_is_left(shop: Path) -> None:
    model = writes(*DRAFTS)
    answer = asked(shop, model, candidates=5, candidate_reasoning=False, turn_calls=4)
    assert len(model.prompts) <= 4
    assert answer.row_count == 3


def test_a_turn_that_got_no_query_says_which_budget(shop: Path) -> None:
    answer = asked(shop, writes(*DRAFTS), turn_calls=1, rephrase="always")
    assert answer.status == "failed"
    assert "turn_calls" in answer.text


class CostlyModel(ScriptedModel):
    """Says that each request cost 400 tokens and each reply 100."""

    def _generate(self, *arguments: Any, run_manager: Any = None, **more: Any) -> ChatResult:
        result = super()._generate(*arguments, run_manager=run_manager, **more)
        usage = UsageMetadata(input_tokens=400, output_tokens=100, total_tokens=500)
        message = AIMessage(result.generations[0].text, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])


def test_tokens_end_the_loop_before_they_are_passed(shop: Path) -> None:
    model = CostlyModel(script=writes(*DRAFTS).script)
    answer = asked(shop, model, turn_tokens=2_000)
    assert answer.usage.prompt_tokens + answer.usage.completion_tokens == 1_500
    assert (answer.status, len(answer.attempts)) == ("capped", 3)
    assert any("turn_tokens" in note for note in answer.notes)


def test_a_late_reply_is_not_waited_for(shop: Path) -> None:
    answered, replied = threading.Event(), threading.Event()

    def slow(prompt: str) -> Reply:
        if task_of(prompt) == "rephrase":
            return rephrased("Give me the ids.")
        if "SELECT 1 AS n" not in prompt:
            return "```sql\nSELECT 1 AS n\n```"
        answered.wait(60)
        replied.set()
        return "```sql\nSELECT 2 AS n\n```"

    answer = asked(shop, ScriptedModel(script=slow), turn_seconds=1.5)
    assert not replied.is_set()
    answered.set()
    assert (answer.status, answer.rows) == ("capped", ((1,),))
    assert any("turn_seconds" in note for note in answer.notes)


async def test_nor_is_it_without_blocking(shop: Path) -> None:
    settings = {**LOOP, "turn_seconds": 0.8, "rephrase": "always"}
    model = ScriptedModel(script=lambda prompt: writes("SELECT 1 AS n").script(prompt), delay=0.5)
    with SQLAgent(shop, model=model, settings=settings) as agent:
        answer = await agent.aask("How many customers are there?")
    assert "turn_seconds" in answer.text


def test_each_turn_has_its_own(shop: Path) -> None:
    with SQLAgent(shop, model=writes("SELECT 1 AS n"), settings={"examples": "none", "turn_calls": 2}) as agent:
        chat = agent.conversation()
        assert [chat.ask(text).status for text in ("one", "two", "three")] == ["converged"] * 3


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


def test_a_query_that_does_not_end_takes_no_more_than_the_turn(shop: Path) -> None:
    answer = asked(shop, writes(ENDLESS), turn_seconds=0.4)
    assert answer.status == "failed"
    assert "turn_seconds" in answer.stopped


def test_a_query_gets_a_moment_where_time_is_up() -> None:
    late = TurnBudget(calls=1, tokens=1_000, until=time.monotonic() - 9)
    assert limit_to_remaining_seconds(5.0) == 5.0, "outside a turn nothing is shortened"
    with use_task_allowance(TaskAllowance(late)):
        assert limit_to_remaining_seconds(5.0) == LEAST_SECONDS
        assert limit_to_remaining_seconds(LEAST_SECONDS / 2) == LEAST_SECONDS / 2


def side_by_side_settings(**more: Any) -> dict[str, Any]:
    quiet = {"examples": "none", "rephrase": "never", "simplify": False, "candidate_reasoning": False}
    return {**quiet, "merge": False, "gate": True, **more}


def test_drafts_side_by_side_take_the_time_of_one(shop: Path) -> None:
    together = threading.Barrier(5)

    def script(prompt: str) -> Reply:
        together.wait(60)
        time.sleep(0.2)
        return f"```sql\n{DRAFTS[0]}\n```"

    settings = side_by_side_settings(candidates=5)
    started = time.monotonic()
    answer = asked(shop, ScriptedModel(script=script), **settings)
    took = time.monotonic() - started
    assert (answer.status, len(answer.attempts)) == ("converged", 5)
    assert 0 < answer.usage_by_node["candidate"].seconds <= took, "not the sum of the five"


def test_drafts_that_wait_for_a_thread_have_no_more_time(shop: Path) -> None:
    asked_for: list[str] = []

    def script(prompt: str) -> Reply:
        asked_for.append(prompt)
        time.sleep(0.4)
        return f"```sql\n{DRAFTS[0]}\n```"

    settings = side_by_side_settings(candidates=8, turn_seconds=1.0)
    with SQLAgent(shop, model=ScriptedModel(script=script), settings=settings) as agent:
        out = agent.graph.invoke(
            {"messages": [("human", "What are the ids of customers?")]},
            {"configurable": {"thread_id": "one"}, "max_concurrency": 1},
        )
    assert len(asked_for) < 8
    assert (out["answer"]["status"], out["answer"]["row_count"]) == ("capped", 3)


@pytest.mark.parametrize(("candidates", "tokens"), [(2, 900), (5, 900), (5, 1_500), (16, 1_500)])
def test_as_many_drafts_are_written_as_the_tokens_allow(shop: Path, candidates: int, tokens: int) -> None:
    settings = side_by_side_settings(candidates=candidates, turn_tokens=tokens)
    answer = asked(shop, writes(DRAFTS[0]), **settings)
    assert answer.answered
    assert answer.row_count == 3
    assert len(answer.attempts) < candidates
    assert any("fewer queries were written" in note for note in answer.notes)
    assert answer.usage.prompt_tokens + answer.usage.completion_tokens <= tokens


def test_an_explanation_leaves_the_call_for_the_revision(shop: Path) -> None:
    model = writes(*DRAFTS)
    answer = asked(shop, model, feedback_explanation=True, turn_calls=2)
    assert [task_of(prompt) for prompt in model.prompts] == ["sql", "sql"]
    assert len(answer.attempts) == 2
    assert any("not explained" in note for note in answer.notes)
