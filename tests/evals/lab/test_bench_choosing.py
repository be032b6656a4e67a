"""The benchmarks of choosing, on a league of three questions and six made-up systems."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tableturn.evals.lab.bench.drafts import MUTATIONS, mutate
from tableturn.evals.lab.bench.gold import PARTIAL
from tableturn.evals.lab.bench.registry import BenchOptions, run_bench
from tableturn.evals.lab.bench.replays import SYSTEMS

from ..conftest import QUESTIONS, TABLES, make_database

WRONG = "SELECT title FROM club"


@pytest.fixture
def root(spider_root: Path) -> Path:
    """The tiny benchmark, with a database that the figures leave out, and predictions.

    The first two systems are right; each of the others is right on the second question only.
    """
    folder = spider_root / "spider"
    make_database(folder / "database" / PARTIAL[0] / f"{PARTIAL[0]}.sqlite")
    pairs = [*QUESTIONS[:3], ("Any?", WRONG)]
    databases = ["league", "league", "league", PARTIAL[0]]
    records = [
        {"db_id": name, "question": question, "query": sql}
        for name, (question, sql) in zip(databases, pairs, strict=True)
    ]
    (folder / "dev.json").write_text(json.dumps(records))
    (folder / "tables.json").write_text(json.dumps([TABLES, TABLES | {"db_id": PARTIAL[0]}]))
    golds = [sql for _, sql in pairs]
    predictions = spider_root / "predictions" / "spider_dev"
    predictions.mkdir(parents=True)
    for place, name in enumerate(SYSTEMS):
        lines = golds if place < 2 else [f"{WRONG} WHERE id = {place}", golds[1], "SELECT nme FROM club", WRONG]
        (predictions / f"{name}.sql").write_text("\n".join(lines) + "\n")
    return spider_root


def test_selection(root: Path) -> None:
    figures = run_bench("selection", BenchOptions(data=root))
    assert figures == {"n": 3, "best_single": 1.0, "majority": 1.0, "ours": 1.0, "oracle": 1.0, "lost": {}}


def test_never_worse(root: Path) -> None:
    figures = run_bench("never-worse", BenchOptions(data=root))
    after = figures["after"]
    assert isinstance(after, dict)
    assert set(after) == {"broken", "empty", "prose", "other_question", "next_best", *MUTATIONS}
    assert {name: ex for name, ex in after.items() if ex < 1} == {}
    assert figures["changed"] == dict.fromkeys(MUTATIONS, 0) | {
        "without_limit": 1,
        "turned_order": 1,
        "without_distinct": 1,
    }


def test_gate(root: Path) -> None:
    figures = run_bench("gate", BenchOptions(data=root))
    assert (figures["one_call_share"], figures["ex_gated"]) == (1.0, 1.0)


@pytest.mark.parametrize(
    ("mutation", "after"),
    [
        ("without_column", "SELECT DISTINCT a FROM t WHERE a > 3 AND NOT b = 4 ORDER BY d DESC LIMIT 3"),
        ("without_condition", "SELECT DISTINCT a, b FROM t WHERE a > 3 ORDER BY d DESC LIMIT 3"),
        ("without_distinct", "SELECT a, b FROM t WHERE a > 3 AND NOT b = 4 ORDER BY d DESC LIMIT 3"),
        ("without_limit", "SELECT DISTINCT a, b FROM t WHERE a > 3 AND NOT b = 4"),
        ("without_negation", "SELECT DISTINCT a, b FROM t WHERE a > 3 AND b = 4 ORDER BY d DESC LIMIT 3"),
        ("turned_comparisons", "SELECT DISTINCT a, b FROM t WHERE a < 3 AND NOT b <> 4 ORDER BY d DESC LIMIT 3"),
        ("turned_order", "SELECT DISTINCT a, b FROM t WHERE a > 3 AND NOT b = 4 ORDER BY d ASC LIMIT 3"),
    ],
)
def test_mutations(mutation: str, after: str) -> None:
    sql = "SELECT DISTINCT a, b FROM t WHERE a > 3 AND NOT b = 4 ORDER BY d DESC LIMIT 3"
    assert mutate(sql, mutation) in (after, after.replace(" ASC", ""))


@pytest.mark.parametrize(
    ("sql", "mutation", "after"),
    [
        ("SELECT a FROM t GROUP BY a HAVING count(*) > 1", "without_having", "SELECT a FROM t GROUP BY a"),
        ("SELECT a FROM t EXCEPT SELECT a FROM s", "without_negation", "SELECT a FROM t"),
        ("SELECT a FROM t WHERE b = 1", "without_condition", "SELECT a FROM t"),
        ("SELECT FROM WHERE", "without_condition", "SELECT FROM WHERE"),
        ("SELECT  a FROM t", "without_column", "SELECT  a FROM t"),
    ],
)
def test_other_mutations(sql: str, mutation: str, after: str) -> None:
    assert mutate(sql, mutation) == after
