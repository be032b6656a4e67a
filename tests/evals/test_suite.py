from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.evals.datasets import Dataset
from tableturn.evals.metrics import OfficialJudge, StrictJudge
from tableturn.evals.suite import build_suite
from tableturn.evals.suite.constants import column_constants
from tableturn.evals.suite.generate import generate, random_shape
from tableturn.evals.suite.mutants import mutants
from tableturn.tools.database import Database
from tableturn.tools.database.schema import Schema

from .conftest import DDL

GOLDS = [
    "SELECT name FROM player WHERE goals > 3",
    "SELECT town , count(*) FROM club GROUP BY town HAVING count(*) > 1",
    "SELECT T1.title FROM club AS T1 JOIN player AS T2 ON T1.id = T2.club_id WHERE T2.name = 'Ann' AND T2.goals >= 5",
    "SELECT name FROM player ORDER BY goals DESC LIMIT 1",
    "SELECT town FROM club WHERE title LIKE '%ers' INTERSECT SELECT town FROM club WHERE title = 'Albion'",
]


@pytest.fixture
def schema(league: Dataset) -> Schema:
    with Database.open(league.database("league")) as database:
        return database.schema()


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        (
            "SELECT name FROM player WHERE goals > 3",
            {
                "SELECT name FROM player WHERE goals >= 3",
                "SELECT name FROM player WHERE goals < 3",
                "SELECT name FROM player WHERE goals > 4",
                "SELECT name FROM player WHERE goals > 2",
                "SELECT name FROM player",
            },
        ),
        (
            "SELECT max(goals) FROM player",
            {"SELECT MIN(goals) FROM player"},
        ),
        (
            "SELECT DISTINCT town FROM club",
            {"SELECT town FROM club", 'SELECT DISTINCT "title" FROM club'},
        ),
        ("SELECT nonsense FROM", set[str]()),
    ],
)
def test_mutants(schema: Schema, gold: str, expected: set[str]) -> None:
    assert set(mutants(gold, schema)) == expected


def test_joins_stay_joined(schema: Schema) -> None:
    gold = "SELECT T2.name FROM club AS T1 JOIN player AS T2 ON T1.id = T2.club_id WHERE T1.town = 'Bath'"
    assert all("T1.id = T2.club_id" in mutant for mutant in mutants(gold, schema))


def test_constants_and_their_neighbours(schema: Schema) -> None:
    found = column_constants([*GOLDS, 'SELECT name FROM player WHERE name = "Zoe"'], schema)
    assert {2, 3, 4, 5, 6} <= set(found["goals"])
    assert {"Ann", "Zoe", "Zoex"} <= set(found["name"])
    assert {"ers", "xers"} <= set(found["title"])


@pytest.mark.parametrize("seed", range(5))
def test_generated_databases_respect_foreign_keys(schema: Schema, seed: int) -> None:
    ddl = [statement for statement in DDL.split(";") if "CREATE" in statement]
    made = [
        generate(ddl, schema, column_constants(GOLDS, schema), random_shape(generator), generator)
        for generator in (random.Random(seed), random.Random(seed))
    ]
    assert list(made[0].iterdump()) == list(made[1].iterdump())
    assert made[0].execute("SELECT count(*) FROM player").fetchone()[0] > 0
    assert made[0].execute("PRAGMA foreign_key_check").fetchall() == []
    for connection in made:
        connection.close()


def test_a_suite_tells_what_the_original_does_not(league: Dataset, tmp_path: Path) -> None:
    original = league.database("league")
    before = original.read_bytes()
    found = build_suite(original, [*GOLDS, "SELECT nothing FROM club"], tmp_path / "suites")
    assert found.golds == len(GOLDS)
    assert found.killed / found.mutants >= 0.95, found.survivors
    files = sorted(path.name for path in (tmp_path / "suites" / "league").iterdir())
    assert files[0] == "league.sqlite"
    assert len(files) == found.databases > 1
    assert original.read_bytes() == before

    question = replace(league.questions[0], golds=(GOLDS[0],))
    nearly = "SELECT name FROM player WHERE goals > 4"
    for judging in (OfficialJudge, StrictJudge):
        with judging(league) as judge:
            assert judge.judge(question, nearly).ex is True
        with judging(league.on(tmp_path / "suites")) as judge:
            assert judge.judge(question, nearly).ex is False
            assert judge.judge(question, GOLDS[0]).ex is True


def test_the_same_seed_builds_the_same_suite(league: Dataset, tmp_path: Path) -> None:
    dumps: list[list[list[str]]] = []
    for out in (tmp_path / "a", tmp_path / "b"):
        build_suite(league.database("league"), GOLDS, out)
        files = sorted((out / "league").iterdir())
        connections = [sqlite3.connect(path) for path in files]
        dumps.append([list(connection.iterdump()) for connection in connections])
        for connection in connections:
            connection.close()
    assert dumps[0] == dumps[1]
