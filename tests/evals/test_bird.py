from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.evals.datasets import Dataset, load_dataset
from tableturn.evals.metrics.judging import BirdJudge, make_official_judge

from .conftest import make_database

GOLD = "SELECT name, goals FROM player WHERE goals > 3"


@pytest.fixture
def bird(tmp_path: Path) -> Dataset:
    make_database(tmp_path / "bird" / "dev_databases" / "league" / "league.sqlite")
    record = {"question_id": 1, "db_id": "league", "question": "Q", "evidence": "", "SQL": GOLD, "difficulty": "simple"}
    (tmp_path / "bird" / "dev.json").write_text(json.dumps([record]))
    return load_dataset("bird", "dev", tmp_path)


@pytest.mark.parametrize(
    ("sql", "right"),
    [
        (GOLD, True),
        (f"{GOLD} ORDER BY name DESC", True),
        (f"{GOLD} UNION ALL {GOLD}", True),
        ("SELECT goals, name FROM player WHERE goals > 3", False),
        ("SELECT nothing FROM player", False),
        (f"{GOLD}; SELECT 1", False),
        ("", False),
    ],
)
def test_execution_by_sets_of_rows(bird: Dataset, sql: str, right: bool) -> None:
    with make_official_judge(bird) as judge:
        assert isinstance(judge, BirdJudge)
        verdict = judge.judge(bird.questions[0], sql)
    assert verdict.ex is right
    assert verdict.hardness == "simple"
    assert bool(verdict.error) is not verdict.valid
