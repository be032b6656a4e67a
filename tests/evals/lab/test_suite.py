from __future__ import annotations

import random
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.evals.datasets import Dataset
from tableturn.evals.lab.suite import build_suite
from tableturn.evals.lab.suite.build import choose_shape, collect_column_constants, generate
from tableturn.evals.lab.suite.mutants import generate_query_mutants
from tableturn.evals.metrics.judging import OfficialJudge, StrictJudge
from tableturn.tools.database import Database
from tableturn.tools.database.schema import Schema
from tableturn.tools.errors import SettingsError

from ..conftest import DDL, make_database

GOLDS = [
    "SELECT name FROM player WHERE goals > 3",
    "SELECT town , count(*) FROM club GROUP BY town HAVING count(*) > 1",
    "SELECT T1.title FROM club AS T1 JOIN player AS T2 ON T1.id = T2.club_id WHERE T2.name = 'Ann' AND T2.goals >= 5",
    "SELECT name FROM player ORDER BY goals DESC LIMIT 1",
    "SELECT town FROM club WHERE title LIKE '%ers' INTERSECT SELECT town FROM club WHERE title = 'Albion'",
]


@pytest.fixture
def schema(league: Dataset) -> Schema:
    with Database.open(league.find_file("league")) as database:
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
        ("SELECT max(goals) FROM player", {"SELECT MIN(goals) FROM player"}),
        ("SELECT DISTINCT town FROM club", {"SELECT town FROM club", 'SELECT DISTINCT "title" FROM club'}),
        ("SELECT nonsense FROM", set[str]()),
    ],
)
def test_mutants(schema: Schema, gold: str, expected: set[str]) -> None:
    assert set(generate_query_mutants(gold, schema)) == expected


def test_joins_stay_joined(schema: Schema) -> None:
    gold = "SELECT T2.name FROM club AS T1 JOIN player AS T2 ON T1.id = T2.club_id WHERE T1.town = 'Bath'"
    assert all("T1.id = T2.club_id" in mutant for mutant in generate_query_mutants(gold, schema))


def test_constants_and_their_neighbours(schema: Schema) -> None:
    found = collect_column_constants([*GOLDS, 'SELECT name FROM player WHERE name = "Zoe"'], schema)
    assert {2, 3, 4, 5, 6} <= set(found["goals"])
    assert {"Ann", "Zoe", "Zoex"} <= set(found["name"])
    assert {"ers", "xers"} <= set(found["title"])


@pytest.mark.parametrize("seed", range(5))
def test_generated_databases_respect_foreign_keys(schema: Schema, seed: int) -> None:
    ddl = [statement for statement in DDL.split(";") if "CREATE" in statement]
    made = [
        generate(ddl, schema, collect_column_constants(GOLDS, schema), choose_shape(generator), generator)
        for generator in (random.Random(seed), random.Random(seed))
    ]
    assert list(made[0].iterdump()) == list(made[1].iterdump())
    assert made[0].execute("SELECT count(*) FROM player").fetchone()[0] > 0
    assert made[0].execute("PRAGMA foreign_key_check").fetchall() == []
    for connection in made:
        connection.close()


def test_a_suite_tells_what_the_original_does_not(league: Dataset, tmp_path: Path) -> None:
    original = league.find_file("league")
    before = original.read_bytes()
    found = build_suite(original, [*GOLDS, "SELECT nothing FROM club"], tmp_path / "suites")
    assert found.golds == len(GOLDS)
    assert found.killed / found.mutants >= 0.95, found.survivors
    files = sorted(path.name for path in (tmp_path / "suites" / "league").glob("*.sqlite"))
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
        build_suite(league.find_file("league"), GOLDS, out)
        files = sorted((out / "league").glob("*.sqlite"))
        connections = [sqlite3.connect(path) for path in files]
        dumps.append([list(connection.iterdump()) for connection in connections])
        for connection in connections:
            connection.close()
    assert dumps[0] == dumps[1]


def test_a_folder_that_is_there_stays_as_it_is(league: Dataset, tmp_path: Path) -> None:
    original = league.find_file("league")
    mine = tmp_path / "out" / "league" / "league_backup.sqlite"
    make_database(mine)
    held = {path: path.read_bytes() for path in (original, mine)}
    for out in (tmp_path / "out", original.parent.parent):
        with pytest.raises(SettingsError, match="already exists"):
            build_suite(original, GOLDS, out)
    assert {path: path.read_bytes() for path in held} == held
    assert list(mine.parent.iterdir()) == [mine]
    assert list(original.parent.iterdir()) == [original]


def test_golds_that_write_do_nothing(league: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    hostile = [
        "DELETE FROM player",
        "VACUUM INTO 'copy.db'",
        "ATTACH 'other.db' AS other",
        "CREATE TABLE made (a)",
        "PRAGMA user_version = 5",
        "SELECT load_extension('x')",
    ]
    before = sorted(tmp_path.iterdir())
    found = build_suite(league.find_file("league"), [*hostile, GOLDS[0]], tmp_path / "out")
    assert found.golds == 1
    assert sorted(tmp_path.iterdir()) == sorted([*before, tmp_path / "out"])
    written = sqlite3.connect(tmp_path / "out" / "league" / "league.sqlite")
    assert written.execute("SELECT count(*) FROM player").fetchone() == (5,)
    assert written.execute("SELECT count(*) FROM sqlite_master WHERE name = 'made'").fetchone() == (0,)
    written.close()


_INTRICATE = """
CREATE TABLE emp (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, boss INT NOT NULL REFERENCES emp (id));
CREATE TABLE link (a INT, b INT, PRIMARY KEY (a, b), FOREIGN KEY (a, b) REFERENCES pairs (a, b)) WITHOUT ROWID;
CREATE TABLE pairs (a INT, b INT, PRIMARY KEY (a, b));
CREATE TABLE c1 (id INTEGER PRIMARY KEY, o INT NOT NULL REFERENCES c2 (id));
CREATE TABLE c2 (id INTEGER PRIMARY KEY, o INT REFERENCES c1 (id));
CREATE TABLE seen (n INT);
CREATE TRIGGER counted AFTER INSERT ON emp BEGIN INSERT INTO seen VALUES (new.id); END;
CREATE VIRTUAL TABLE note USING fts5 (body);
CREATE VIRTUAL TABLE names USING fts5 (name, content = 'emp');
INSERT INTO emp VALUES (1, 'Ann', 1), (2, 'Bea', 1), (3, 'Cleo', 2);
INSERT INTO pairs VALUES (1, 2), (2, 3);
INSERT INTO link VALUES (1, 2);
INSERT INTO c2 VALUES (1, NULL), (2, 1);
INSERT INTO c1 VALUES (1, 2), (2, 1);
INSERT INTO note VALUES ('hello world'), ('hello'), ('good night');
INSERT INTO names (names) VALUES ('rebuild');
"""


def test_intricate_schemas(tmp_path: Path) -> None:
    """References in a circle, to the table itself, by two columns; full-text tables; triggers."""
    original = make_database(tmp_path / "intricate.sqlite", _INTRICATE)
    golds = [
        "SELECT e.name FROM emp e JOIN emp b ON e.boss = b.id WHERE b.name = 'Ann'",
        "SELECT p.a FROM pairs p JOIN link l ON p.a = l.a AND p.b = l.b WHERE p.b > 2",
        "SELECT c1.id FROM c1 JOIN c2 ON c1.o = c2.id WHERE c2.o > 1",
        "SELECT body FROM note WHERE body MATCH 'hello' ORDER BY body LIMIT 1",
        "SELECT name FROM names WHERE name MATCH 'Ann'",
    ]
    found = build_suite(original, golds, tmp_path / "out")
    assert found.golds == len(golds)
    assert found.databases > 1
    for path in (tmp_path / "out" / "intricate").glob("intricate_*.sqlite"):
        connection = sqlite3.connect(path)
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        filled = {
            name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in ("c1", "c2", "emp")
        }
        assert all(filled.values()), filled
        assert connection.execute("SELECT count(*) FROM note WHERE note MATCH 'hello OR amber'").fetchone()
        connection.close()
