"""The bench of what is declined, on two conversations with a league."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.evals.datasets import load_dataset
from tableturn.evals.lab.bench import stored
from tableturn.evals.lab.bench.registry import BenchOptions, run_bench
from tableturn.tools.errors import ModelError

from tests.support.openai_server import Behaviour, OpenAIServer, says

from ..conftest import QUESTIONS

WEATHER = "How warm is it in those towns?"


@pytest.fixture
def root(spider_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    turns: list[dict[str, object]] = []
    for question, sql in QUESTIONS[2:]:
        turns.append({"isUser": True, "text": question, "type": "INFORM_SQL"})
        turns.append({"isUser": False, "text": "Here.", "query": sql, "label": "CONFIRM_SQL"})
    turns.append({"isUser": True, "text": WEATHER, "type": "CANNOT_ANSWER"})
    turns.append({"isUser": False, "text": "Sorry.", "query": "", "label": "SORRY"})
    elsewhere = {"db_name": "not_here", "turns": turns}
    (spider_root / "cosql").mkdir()
    (spider_root / "cosql" / "dialogues_train.json").write_text(
        json.dumps([{"db_name": "league", "turns": turns}, elsewhere])
    )
    return spider_root


def careful(body: dict[str, object]) -> Behaviour:
    prompt = json.dumps(body)
    return says("Cannot answer: no temperatures." if WEATHER in prompt else "```sql\nSELECT 1\n```\nSure: 90")


def test_each_turn_is_asked_after_gold_and_what_is_stored_needs_nobody(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replies = tmp_path / "replies.jsonl"
    (turn,) = stored.draw_questions(load_dataset("cosql-acts", "train", root), "decline", 5)
    labels = tmp_path / "labels.jsonl"
    labels.write_text(json.dumps({"question": turn.id, "verdict": "unanswerable", "why": "no temperatures"}))
    monkeypatch.setattr(stored, "LABELS", labels)
    with OpenAIServer(careful) as server:
        asked = run_bench("declines", BenchOptions(root, replies=replies, model="openai:m", base_url=server.base_url))
        (warm,) = [prompt for prompt in server.prompts if WEATHER in prompt]
    assert asked == {
        "unanswerable": {"n": 1, "declined": 1.0},
        "answerable": {"n": 2, "declined": 0.0},
        "unanswerable_verified": {"n": 1, "declined": 1.0},
        "unanswerable_doubted": {"n": 0, "declined": None},
    }
    assert QUESTIONS[2][1] in warm
    assert run_bench("declines", BenchOptions(root, replies=replies)) == asked
    replies.write_text(replies.read_text().partition("\n")[2])
    with pytest.raises(ModelError, match="not stored"):
        run_bench("declines", BenchOptions(root, replies=replies))


def test_databases_take_turns(root: Path) -> None:
    dataset = load_dataset("cosql-acts", "train", root)
    first, second = stored.draw_questions(dataset, "answer", 5)
    assert {first.database, second.database} == {"league"}
    assert stored.draw_questions(dataset, "answer", 1) == [first]
