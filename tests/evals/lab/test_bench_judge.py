"""The benches of judging and of disputed golds, on a league of four questions."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tableturn.evals.datasets import load_dataset
from tableturn.evals.lab.bench import stored
from tableturn.evals.lab.bench.registry import BenchOptions, run_bench
from tableturn.tools.errors import ModelError, SettingsError
from tableturn.tools.record_files import read_records

from tests.support.openai_server import Behaviour, OpenAIServer, says

from ..conftest import QUESTIONS

REPEATED = "SELECT town FROM club"


@pytest.fixture
def root(spider_root: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setattr(stored, "SPLITS", {"spider": "dev"})
    monkeypatch.setattr(stored, "MUTATED", (("spider", "train"),))
    folder = spider_root / "spider"
    (folder / "train_spider.json").write_text((folder / "dev.json").read_text())
    (spider_root / "strong_model").mkdir()
    gold = QUESTIONS[2][1]
    ruling = {"dataset": "spider", "question": QUESTIONS[2][0], "gold": gold, "sql": REPEATED, "verdict": "right"}
    (spider_root / "strong_model" / "verdicts.jsonl").write_text(json.dumps(ruling))
    return spider_root


def knowing(body: dict[str, object]) -> Behaviour:
    """A judge that knows the golds and one answer by heart."""
    prompt = json.loads(json.dumps(body))["messages"][-1]["content"]
    queries = re.findall(r"<sql>\n(.*?)\n</sql>", prompt, re.DOTALL)
    known = {"SELECT club.town FROM club", "SELECT DISTINCT club.town FROM club", "SELECT count(*) FROM player"}
    known |= {"SELECT player.name FROM player ORDER BY player.goals DESC"}
    said = [{"verdict": "right" if sql in known else "wrong", "class": "", "why": "."} for sql in queries]
    return says(json.dumps(dict(zip(("first", "second"), said, strict=True))))


def test_a_judge_is_held_against_readers_and_mutants(root: Path, tmp_path: Path) -> None:
    replies = tmp_path / "replies.jsonl"
    with OpenAIServer(knowing) as server:
        asked = run_bench(
            "judge-agreement", BenchOptions(root, replies=replies, model="openai:judge", base_url=server.base_url)
        )
    assert asked["wrong_found"] == asked["right_kept"] == asked["kappa"] == 1.0
    mutants = asked["mutants"]
    assert isinstance(mutants, dict)
    assert asked["n"] == 1 + mutants["n"] > 2
    # What is stored needs nobody.
    assert run_bench("judge-agreement", BenchOptions(root, replies=replies)) == asked
    lines = replies.read_text().splitlines()
    replies.write_text("\n".join(lines[2:]))
    with pytest.raises(ModelError, match="requests got no reply"):
        run_bench("judge-agreement", BenchOptions(root, replies=replies))


def test_a_verdict_on_no_question_is_an_error(root: Path) -> None:
    path = root / "strong_model" / "verdicts.jsonl"
    path.write_text(json.dumps({"dataset": "spider", "question": "Why?", "sql": "SELECT 1", "verdict": "right"}))
    with pytest.raises(SettingsError, match="no question of spider dev is 'Why\\?'"):
        list(stored.read_verdict_cases(root))


def test_mutants_say_something_else_than_their_gold(root: Path) -> None:
    found = list(stored.make_mutant_cases(root))
    assert found
    assert all(entry.verdict == "wrong" and entry.case.sql != entry.case.gold for entry in found)
    assert [entry.case for entry in found] == [entry.case for entry in stored.make_mutant_cases(root)]


def test_disputes_count_what_is_listed_and_reviewed(root: Path) -> None:
    records = json.loads((root / "spider" / "dev.json").read_text())
    records[0]["query"] = "SELECT nothing FROM player"
    (root / "spider" / "dev.json").write_text(json.dumps(records))
    figures = {"golds": 4, "disputed": 1, "kinds": {"fails": 1}, "sample": 0, "sound_in_sample": 0}
    assert run_bench("disputes", BenchOptions(root)) == {"spider": figures}


def test_the_reviewed_sample_is_of_questions_that_there_are(data_dir: Path) -> None:
    reviewed: list[Any] = read_records(stored.REVIEWED)
    assert len(reviewed) == 50
    for name, split in stored.SPLITS.items():
        known = {question.id for question in load_dataset(name, split, data_dir).questions}
        assert {one["id"] for one in reviewed if (one["dataset"], one["split"]) == (name, split)} <= known
