"""The bench of what is declined, on two conversations with a league."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tableturn.evals.datasets.load import ExpectedOutcome
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
    (turn,) = stored.sample_questions(stored.read_dialogue_acts(root), "decline", 5)
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
    with pytest.raises(ModelError, match="1 requests got no reply"):
        run_bench("declines", BenchOptions(root, replies=replies))


def test_databases_take_turns(root: Path) -> None:
    dataset = stored.read_dialogue_acts(root)
    first, second = stored.sample_questions(dataset, "answer", 5)
    assert {first.database, second.database} == {"league"}
    assert stored.sample_questions(dataset, "answer", 1) == [first]


def dialogue(*turns: tuple[str, str, str, str, str]) -> dict[str, Any]:
    """User's text and act, system's text, act and query, turn by turn."""
    said: list[dict[str, Any]] = []
    for text, act, reply, label, query in turns:
        said.append({"isUser": True, "text": text, "type": act})
        said.append({"isUser": False, "text": reply, "label": label, "query": query})
    return {"db_name": "league", "turns": said}


def test_the_acts_of_dialogues_say_what_was_right(spider_root: Path) -> None:
    folder = spider_root / "cosql"
    folder.mkdir()
    records = [
        dialogue(
            ("How many players?", "INFORM_SQL", "5", "CONFIRM_SQL", "SELECT count(*) FROM player"),
            ("Who is best?", "AMBIGUOUS", "Do you mean the player with most goals?", "CLARIFY", ""),
            ("Yes, please.", "INFORM_SQL", "Ann", "CONFIRM_SQL", "SELECT name FROM player ORDER BY goals DESC LIMIT 1"),
            ("What do they eat?", "CANNOT_ANSWER", "Sorry, I do not know.", "SORRY", ""),
            ("Thanks!", "IMPROPER", "Bye", "GOOD_BYE", ""),
        ),
        dialogue(("Where?", "AMBIGUOUS", "Sorry?", "SORRY", "")),
    ]
    (folder / "dialogues_train.json").write_text(json.dumps(records))
    dataset = stored.read_dialogue_acts(spider_root)
    assert [(question.id, question.expects) for question in dataset.questions] == [
        ("0.1", ExpectedOutcome("answer")),
        ("0.2", ExpectedOutcome("ask_back")),
        ("0.3", ExpectedOutcome("decline")),
    ]
    assert dataset.questions[1].golds == ("SELECT name FROM player ORDER BY goals DESC LIMIT 1",)
    assert dataset.questions[2].golds == ()
