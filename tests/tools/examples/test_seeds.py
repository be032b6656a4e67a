"""The shipped examples: they run, they vary, and no benchmark has them."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from tableturn.tools.examples import Example, default_store, seed_dialogues, seed_examples, seed_schemas
from tableturn.tools.examples.compact_schema import read_compact
from tableturn.tools.sql import sql_skeleton


@pytest.fixture(scope="module")
def databases() -> dict[str, sqlite3.Connection]:
    made: dict[str, sqlite3.Connection] = {}
    for name, text in seed_schemas().items():
        made[name] = sqlite3.connect(":memory:")
        for table in read_compact(text).tables:
            made[name].execute(f"CREATE TABLE {table.name} ({', '.join(column.name for column in table.columns)})")
    return made


@pytest.mark.parametrize("seed", seed_examples(), ids=lambda seed: seed.question)
def test_every_seed_runs_on_its_schema(seed: Example, databases: dict[str, sqlite3.Connection]) -> None:
    databases[seed.database].execute(seed.sql).fetchall()
    assert seed.simplified
    assert seed.shared


def test_the_seeds_show_many_forms() -> None:
    seeds = seed_examples()
    assert len(seeds) >= 60
    assert len({sql_skeleton(seed.sql) for seed in seeds}) >= 60
    for part in (
        *("JOIN", "LEFT JOIN", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "DISTINCT", "INTERSECT", "UNION", "EXCEPT"),
        *("NOT IN (SELECT", "IS NULL", "LIKE", "BETWEEN", "OVER (", "strftime", "CASE WHEN", " OR ", "count(DISTINCT"),
    ):
        assert any(part in seed.sql for seed in seeds), part


def test_dialogues_build_on_their_turns() -> None:
    dialogues = seed_dialogues()
    assert len(dialogues) >= 10
    for dialogue in dialogues:
        assert len(dialogue.turns) >= 2
        assert dialogue.schema == seed_schemas()[dialogue.database]
        assert all(turn.rephrased.startswith("Give me ") for turn in dialogue.turns)


def test_the_default_store_holds_the_seeds_and_can_be_added_to() -> None:
    with default_store() as store, default_store() as other:
        assert store.count() == len(seed_examples())
        store.remove([next(store.list()).id])
        assert store.count() == other.count() - 1


@pytest.mark.data
@pytest.mark.parametrize("name", ["spider/train_spider.json", "spider/train_others.json", "spider/dev.json"])
def test_no_seed_is_from_a_benchmark(data_dir: Path, name: str) -> None:
    published = json.loads((data_dir / name).read_text(encoding="utf-8"))
    questions = {" ".join(item["question"].lower().split()) for item in published}
    queries = {"".join(item["query"].lower().split()) for item in published}
    tables = {seed.database for seed in seed_examples()} & {item["db_id"] for item in published}
    for seed in seed_examples():
        assert seed.question.lower() not in questions
        assert "".join(seed.sql.lower().split()) not in queries or len(seed.sql) < 60
    assert not tables
