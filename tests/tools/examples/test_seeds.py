"""The shipped examples: they run, they vary, and no benchmark has them."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tableturn.tools.database.rendering.compact import parse_compact_schema
from tableturn.tools.examples import (
    Example,
    ExampleQuery,
    ExampleStore,
    load_dialogues,
    load_programs,
    make_default_store,
    make_selector,
    open_seeded_store,
    seed_examples,
)
from tableturn.tools.examples.example import Index
from tableturn.tools.examples.seeds import SeedProgram, load_seed_schemas
from tableturn.tools.examples.store import ENOUGH_SHARED
from tableturn.tools.sql import make_sql_skeleton


@pytest.fixture(scope="module")
def databases() -> dict[str, sqlite3.Connection]:
    made: dict[str, sqlite3.Connection] = {}
    for name, text in load_seed_schemas().items():
        made[name] = sqlite3.connect(":memory:")
        for table in parse_compact_schema(text).tables:
            made[name].execute(f"CREATE TABLE {table.name} ({', '.join(column.name for column in table.columns)})")
    return made


@pytest.mark.parametrize("seed", seed_examples(), ids=lambda seed: seed.question)
def test_every_seed_runs_on_its_schema(seed: Example, databases: dict[str, sqlite3.Connection]) -> None:
    databases[seed.database].execute(seed.sql).fetchall()
    assert seed.simplified
    assert seed.shared


def test_seeds_stand_beside_the_keys_that_are_found_for_them() -> None:
    with make_default_store() as store, ExampleStore.open() as anew:
        anew.add(seed_examples())
        keys: list[tuple[Index, str]] = [
            ("question", "Which is the oldest?"),
            ("skeleton", "which is the oldest _"),
            ("sql", "SELECT"),
        ]
        for index, key in keys:
            found, expected = (
                [(hit.id, hit.skeleton, hit.similarity) for hit in each.near(index, key, 1_000)]
                for each in (store, anew)
            )
            assert found == expected, "write the keys that `store.make_record` finds to seed_examples.jsonl"


def test_the_seeds_show_many_forms() -> None:
    seeds = seed_examples()
    assert len(seeds) >= 60
    assert len({make_sql_skeleton(seed.sql) for seed in seeds}) >= 60
    for part in (
        *("JOIN", "LEFT JOIN", "GROUP BY", "HAVING", "ORDER BY", "LIMIT", "DISTINCT", "INTERSECT", "UNION", "EXCEPT"),
        *("NOT IN (SELECT", "IS NULL", "LIKE", "BETWEEN", "OVER (", "strftime", "CASE WHEN", " OR ", "count(DISTINCT"),
    ):
        assert any(part in seed.sql for seed in seeds), part


def test_one_row_is_taken_only_where_one_is_asked_for() -> None:
    taken = [seed.question for seed in seed_examples() if seed.sql.endswith("LIMIT 1")]
    assert [question for question in taken if not {"one", "first"} & {*question.split()}] == []


def test_dialogues_build_on_their_turns() -> None:
    dialogues = load_dialogues()
    assert len(dialogues) >= 10
    for dialogue in dialogues:
        assert len(dialogue.turns) >= 2
        assert dialogue.schema == load_seed_schemas()[dialogue.database]
        assert all(turn.rephrased.startswith("Give me ") for turn in dialogue.turns)


def test_the_default_store_holds_the_seeds_and_can_be_added_to() -> None:
    with make_default_store() as store, make_default_store() as other:
        assert store.count() == len(seed_examples())
        store.remove([next(store.list()).id])
        assert store.count() == other.count() - 1


def test_the_seeds_stand_in_while_few_examples_are_shared_and_are_not_written(tmp_path: Path) -> None:
    """A store in which one answer was approved must not leave every other question without examples."""
    own = Example("How many boats?", "SELECT count(*) FROM boat", "regatta", shared=False, owner="regatta@1")
    with open_seeded_store(tmp_path) as store:
        store.add([own])
        chosen = make_selector("skeleton", store).select(ExampleQuery("How many boats?", database="regatta@1"))
        assert own in [replace(example, added=None) for example in chosen]
        assert len(chosen) == 8
        assert len(list(store.visible("regatta@1"))) == len(seed_examples()) + 1
        assert [hit.example.question for hit in store.list()] == [own.question]
        assert store.count() == store.stats().examples == 1
        assert store.add([seed_examples()[0]]).added == 1, "a stand-in is not there"
        assert len(store.nearest("question", seed_examples()[0].question, 2)) == 1, "nor is one shown twice"
        assert len(make_selector("voted", store, m=1).select(ExampleQuery("Who?"))) == 18
        many = [replace(own, question=f"What is {n}?", shared=True) for n in range(ENOUGH_SHARED)]
        store.add(many)
        assert len(list(store.visible(""))) == ENOUGH_SHARED + 1
    with ExampleStore.open(tmp_path) as store:
        assert store.count() == ENOUGH_SHARED + 2


def test_every_seed_has_its_regular_form() -> None:
    forms = [seed.rephrased for seed in seed_examples()]
    assert all(form.startswith(("Give me ", "Give me, ")) and form.endswith(".") for form in forms)
    assert len(set(forms)) == len(forms)


_PROGRAM_DATA = """
INSERT INTO pet VALUES (1, 1, 'Rex', 'dog', '2019-01-01', 31.5), (2, 1, 'Moss', 'cat', NULL, 4), (3, 2, 'Bruno', 'dog',
    '2020-02-02', 31.5), (4, 2, 'Nib', 'rat', '2021-03-03', NULL);
INSERT INTO branch VALUES (1, 'Millbrook', '2001-01-01'), (2, 'Harrow', '2005-05-05');
INSERT INTO product VALUES (1, 'Croissant', 'Pastry', 2, 0), (2, 'Bagel', 'Bread', 1, 0), (3, 'Scone', 'Cake', 2, 1);
INSERT INTO sale VALUES (1, 1, 1, '2023-04-01', 3), (2, 2, 1, '2022-04-01', 1), (3, 1, 2, '2022-05-01', 2),
    (4, 2, 1, '2022-06-01', 2), (5, 1, 1, '2023-07-01', 1);
INSERT INTO teacher VALUES (1, 'Lin', 'cello', 30), (2, 'Ode', 'harp', 40);
INSERT INTO lesson VALUES (1, 1, 1, '2024-01-01', 30), (2, 1, 2, '2024-01-02', 30), (3, 1, 3, '2024-01-03', 30),
    (4, 2, 1, '2024-01-04', 30), (5, 2, 1, '2024-01-05', 30), (6, 2, 2, '2024-01-06', 30);
"""


@pytest.mark.parametrize("program", load_programs(), ids=lambda program: program.question)
def test_code_and_sql_of_a_program_agree(program: SeedProgram) -> None:
    """The code is ours: it runs here as it stands."""
    tables = parse_compact_schema(load_seed_schemas()[program.database]).tables
    with closing(sqlite3.connect(":memory:")) as connection:
        for table in tables:
            connection.execute(f"CREATE TABLE {table.name} ({', '.join(column.name for column in table.columns)})")
        for statement in _PROGRAM_DATA.split(";"):
            if any(f"INTO {table.name} " in statement for table in tables):
                connection.execute(statement)
        frames = {table.name: pd.read_sql_query(f"SELECT * FROM {table.name}", connection) for table in tables}
        names: dict[str, Any] = {"db_dict": frames, "pd": pd}
        exec(compile(program.code, program.question, "exec"), names)
        rows = sorted(tuple(row) for row in names["result"].to_numpy().tolist())
        assert rows == sorted(connection.execute(program.sql).fetchall()) != []


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
