"""Gold queries whose rows SQL determines, and databases carried over with what their rows keep to."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.evals.lab.bench.engines import find_determined_results
from tableturn.tools.database import Database

from tests.tools.database.carried import ENGINES, carry, explain_missing, read_tables

_TABLES = """
    CREATE TABLE visit (person TEXT REFERENCES person (id), day DATE, note INT, room INT REFERENCES room (id));
    CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT, age INTEGER);
    CREATE TABLE room (id INTEGER PRIMARY KEY);
    INSERT INTO person VALUES (1, 'Ada', 30), (2, 'Bo', 20), (3, 'Cy', 20);
    INSERT INTO room VALUES (1);
    INSERT INTO visit VALUES ('1', '2024-01-02', 5, 1), ('2', '2024-03-04', 'none', 9);
"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    made = tmp_path / "shop.sqlite"
    with closing(sqlite3.connect(made)) as connection:
        connection.executescript(_TABLES)
    return made


def test_only_queries_with_one_right_answer_count(path: Path) -> None:
    right = [
        "SELECT name FROM person ORDER BY age DESC LIMIT 1",
        "SELECT p.name, count(*) FROM person p JOIN visit v ON v.person = p.id GROUP BY p.id",
        "SELECT count(*) FROM person WHERE age = (SELECT max(age) FROM person)",
    ]
    open_ = [
        "SELECT name FROM person ORDER BY age LIMIT 1",
        "SELECT name FROM person LIMIT 2",
        "SELECT name, count(*) FROM person GROUP BY age",
        "SELECT name, max(age) FROM person",
        "SELECT name FROM person WHERE id = (SELECT id FROM person ORDER BY age LIMIT 1)",
        "SELECT nothing FROM person",
    ]
    with Database.open(path) as database:
        assert list(find_determined_results(database, [*right, *open_])) == right


def test_rows_that_are_not_told_apart_may_come_in_any_order(path: Path) -> None:
    sql = "SELECT name FROM person ORDER BY age"
    with Database.open(path) as database:
        expected = find_determined_results(database, [sql])[sql]

    def allows(*names: str) -> bool:
        return expected.allows(replace(expected.table, rows=tuple((name,) for name in names)))

    assert allows("Cy", "Bo", "Ada")
    assert not allows("Ada", "Bo", "Cy")
    assert not allows("Bo", "Bo", "Ada")


def test_types_and_keys_are_those_that_the_rows_keep_to(path: Path) -> None:
    tables = {table.name: table for table in read_tables(path)}
    visit = tables["visit"]
    assert list(tables)[-1] == "visit"
    assert list(visit.kinds.values()) == ["whole", "date", "text", "whole"]
    assert [(each.columns, each.table, each.kept) for each in visit.references] == [
        (("person",), "person", True),
        (("room",), "room", False),
    ]


@pytest.mark.parametrize("name", ENGINES)
def test_a_carried_database_has_the_same_rows(name: str, path: Path, tmp_path: Path) -> None:
    if missing := explain_missing(name):
        pytest.skip(missing)
    with Database.open(carry(path, name, tmp_path)) as database:
        assert database.execute("SELECT id, name, age FROM person ORDER BY id").rows == (
            *((1, "Ada", 30), (2, "Bo", 20)),
            (3, "Cy", 20),
        )
        assert database.execute("SELECT day, note FROM visit ORDER BY day").rows[0][0] == "2024-01-02"
