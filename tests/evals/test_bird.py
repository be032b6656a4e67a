from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.evals.datasets import Dataset, load_dataset
from tableturn.evals.metrics import BirdJudge, as_json, official_judge
from tableturn.evals.metrics.judging import reward, soft_f1

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
    with official_judge(bird) as judge:
        assert isinstance(judge, BirdJudge)
        verdict = judge.judge(bird.questions[0], sql)
    assert verdict.ex is right
    assert verdict.hardness == "simple"
    assert bool(verdict.error) is not verdict.valid


@pytest.mark.parametrize(
    ("predicted", "gold", "score"),
    [
        ([], [], 1.0),
        ([(1, 2)], [(2, 1)], 1.0),
        ([(1,), (1,)], [(1,)], 1.0),
        ([(1,)], [], 0.0),
        ([], [(1,)], 0.0),
        # Half of the only row is right: one value matched, one only predicted, one only in the gold.
        ([(1, 9)], [(1, 2)], 0.5),
        ([(1,), (2,)], [(1,)], 2 / 3),
        ([(2,), (1,)], [(1,), (2,)], 0.0),
    ],
)
def test_soft_f1(predicted: list[tuple[int, ...]], gold: list[tuple[int, ...]], score: float) -> None:
    assert soft_f1([*predicted], [*gold]) == pytest.approx(score)


def test_rewards() -> None:
    assert [reward(ratio) for ratio in (3.0, 2.0, 1.5, 1.0, 0.6, 0.3, 0.1)] == [1.25, 1.25, 1.0, 1.0, 0.75, 0.5, 0.25]


def test_measures_are_averaged(bird: Dataset) -> None:
    with BirdJudge(bird, timings=5) as judge:
        verdicts = [judge.judge(bird.questions[0], sql) for sql in (GOLD, "SELECT 1, 2")]
    found = as_json(verdicts)
    assert found["ex"] == found["soft_f1"] == 0.5
    assert 0.5**0.5 / 2 <= found["r_ves"] <= 1.25**0.5 / 2  # type: ignore[operator]
