"""What a turn spends beyond one request: where no query runs, for a weak model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tableturn.agent import SQLAgent
from tableturn.agent.model.track_record import ModelRunRecord, ModelScore, append_run_record, read_model_track_record

from tests.support.scripted import ScriptedModel, rephrased, task_of

SETTINGS: dict[str, Any] = {"candidate_reasoning": False, "merge": False}
COUNT = "SELECT count(*) FROM orders"


def answers(*replies: str) -> ScriptedModel:
    """Replies to requests for SQL in turn, the last one again and again."""
    left = list(replies)

    def script(prompt: str) -> str:
        if task_of(prompt) == "rephrase":
            return rephrased("Give me the number of orders.")
        return left.pop(0) if len(left) > 1 else left[0]

    return ScriptedModel(script=script)


def reply(sql: str, sure: int) -> str:
    return f"```sql\n{sql}\n```\nSure: {sure}"


def asked(shop: Path, model: ScriptedModel, **settings: Any) -> Any:
    with SQLAgent(shop, model=model, settings={"record": "off", **SETTINGS, **settings}) as agent:
        return agent.ask("How many orders are there?")


def test_a_sure_reply_takes_one_request(shop: Path) -> None:
    model = answers(reply(COUNT, 90))
    assert asked(shop, model).usage.llm_calls == 1


def test_a_reply_that_is_unsure_is_no_reason_for_more(shop: Path) -> None:
    assert asked(shop, answers(reply(COUNT, 30))).usage.llm_calls == 1


def test_a_query_that_failed_and_came_back_is_the_last_word(shop: Path) -> None:
    answer = asked(shop, answers(reply("SELECT x FROM orders", 90)))
    assert (answer.status, answer.usage.llm_calls) == ("failed", 2)


@pytest.mark.parametrize("settings", [{"effort": "low"}, {"max_attempts": 1}, {"preset": "craft", "reason": "off"}])
def test_low_effort_leaves_it_at_that(shop: Path, settings: dict[str, Any]) -> None:
    answer = asked(shop, answers(reply("SELECT x FROM orders", 30)), **settings)
    assert not [note for note in answer.notes if "more were written" in note]


def test_where_no_query_ran_more_are_written(shop: Path) -> None:
    wrong = [reply(f"SELECT x{number} FROM orders", 90) for number in range(3)]
    answer = asked(shop, answers(*wrong, reply(COUNT, 90)))
    assert (answer.status, answer.sql, answer.usage.llm_calls) == ("converged", COUNT, 5)
    assert "no query worked, so 2 more were written" in answer.notes


def test_the_budget_of_calls_is_kept(shop: Path) -> None:
    wrong = [reply(f"SELECT x{number} FROM orders", 90) for number in range(3)]
    assert asked(shop, answers(*wrong, reply(COUNT, 90)), turn_calls=4).usage.llm_calls == 3


def test_high_effort_asks_first_and_writes_three(shop: Path) -> None:
    model = answers(reply(COUNT, 90))
    assert asked(shop, model, effort="high").usage.llm_calls == 4
    assert [task_of(prompt) for prompt in model.prompts] == ["rephrase", "sql", "sql", "sql"]


def kept(path: Path, right: int, n: int, model: str = "ScriptedModel", *, gold: bool = True) -> None:
    found = (right, None) if gold else (None, right)
    append_run_record(ModelRunRecord(model, "shop", n, *found, n, 1_000, "2026-01-01T00:00:00+00:00"), path)


def test_a_model_that_is_known_to_be_weak_is_asked_twice(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "models.jsonl"
    settings = {**SETTINGS, "record": str(path)}

    def calls() -> int:
        with SQLAgent(shop, model=answers(reply(COUNT, 90)), settings=settings) as agent:
            return agent.ask("How many orders are there?").usage.llm_calls

    assert calls() == 1, "there is no record"
    kept(path, 8, 10)
    assert calls() == 1, "too little is known"
    kept(path, 3, 10)
    assert calls() == 2
    settings["effort"] = "low"
    assert calls() == 1


@pytest.mark.parametrize(
    ("right", "n", "weak"),
    [
        (0, 0, False),
        (0, 1, False),
        (1, 2, False),
        (7, 10, False),
        (6, 10, True),
        (86, 102, True),
        (88, 102, False),
        (8_800, 10_200, True),
        (9_300, 10_200, False),
    ],
)
def test_a_model_is_weak_where_its_record_rules_out_that_it_is_strong(right: int, n: int, *, weak: bool) -> None:
    assert ModelScore(right, n).is_weak is weak


def test_a_record_counts_verdicts_before_gold_and_no_approvals(tmp_path: Path) -> None:
    path = tmp_path / "models.jsonl"
    append_run_record(ModelRunRecord("m", "a", 40, 20, 36, 40, 1_000, "2026-01-01T00:00:00+00:00"), path)
    for _ in range(30):
        kept(path, 1, 1, "m", gold=False)
    found = read_model_track_record("m", "", path).others
    assert (found.right, found.n, found.is_weak) == (36, 40, False)
    path.write_text(json.dumps({"model": "m"}) + "\n{}\n", encoding="utf-8")
    assert read_model_track_record("m", "", path).others.n == 0, "a damaged record says nothing"
