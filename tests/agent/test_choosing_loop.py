"""Which attempt becomes the answer, and what is said of it, through the whole agent."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.agent import Answer, SQLAgent

from tests.support.scripted import writes


@pytest.fixture
def world(tmp_path: Path) -> Path:
    path = tmp_path / "world.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(
            """
            CREATE TABLE city (name TEXT, country TEXT, people INTEGER, founded INTEGER);
            INSERT INTO city VALUES ('New York', 'United States', 8, 1624), ('Rome', 'Italy', 3, 100);
            INSERT INTO city VALUES ('Boston', 'United States', 1, 1630), ('Milan', 'Italy', 1, 200);
            """
        )
    return path


def asked(path: Path, question: str, *statements: str, **settings: object) -> Answer:
    with SQLAgent(path, model=writes(*statements), settings={"examples": "none", "effort": "low", **settings}) as agent:
        return agent.ask(question)


@pytest.mark.parametrize("gate", [True, False])
@pytest.mark.parametrize(
    ("question", "draft", "mended"),
    [
        ("cities in the USA", "country = 'USA'", "country = 'United States'"),
        ("cities in the USA", 'country = "USA"', "country = 'United States'"),
        ("population of NYC", "name = 'NYC'", "name = 'New York'"),
        ("names of cities in the US", "country LIKE '%US%'", "country = 'United States'"),
        ("cities founded in 24", "founded = 24", "founded = 1624"),
    ],
)
def test_a_value_is_mended(world: Path, question: str, draft: str, mended: str, *, gate: bool) -> None:
    sql = "SELECT name FROM city WHERE "
    answer = asked(world, question, sql + draft, sql + mended, gate=gate)
    assert answer.sql == sql + mended
    assert answer.status == "converged"
    assert answer.row_count > 0


def test_a_value_that_is_there_is_not_changed(world: Path) -> None:
    draft = "SELECT name FROM city WHERE country = 'Italy' AND people > 9"
    answer = asked(world, "cities in Italy with more than 9", draft, draft.replace("Italy", "United States"))
    assert answer.sql == draft


def test_what_is_said_is_of_the_answer(world: Path) -> None:
    draft = "SELECT name FROM city WHERE people > 900"
    question = "name of cities with people above 900"
    answer = asked(world, question, draft, "SELECT count(*) FROM city", revise_on="doubt")
    assert (answer.sql, answer.row_count) == (draft, 0)
    assert answer.status == "capped", "what converged is not the answer"
    assert "attempt 1 is the answer, because the last one answered something else" in answer.stopped
    alone = asked(world, question, draft)
    assert answer.confidence < alone.confidence


def test_a_discarded_repetition_did_not_converge(world: Path) -> None:
    draft, worse = "SELECT DISTINCT country FROM city", "SELECT country FROM city"
    answer = asked(world, "List the distinct countries", draft, worse, gate=False)
    assert (answer.sql, answer.status) == (draft, "capped")
    assert "came back; attempt 1 is the answer" in answer.stopped


def test_texts_that_differ_by_a_blank_are_two(world: Path) -> None:
    one, two = "SELECT name FROM WHERE 'New York'", "SELECT name FROM WHERE 'New  York'"
    assert len(asked(world, "cities", one, two, max_attempts=3).attempts) == 3


def test_one_attempt_is_one(world: Path) -> None:
    assert asked(world, "cities", "SELECT nme FROM city", max_attempts=1).stopped.startswith("1 attempt was made")
