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
            INSERT INTO city VALUES ('Romes', 'Italy', 1, 9);
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
        ("population of New Yorck", "name = 'New Yorck'", "name = 'New York'"),
        ("names of cities in the US", "country LIKE '%US%'", "country = 'United States'"),
        ("people of rome", "name = 'rome'", "name = 'Rome'"),
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
    draft = "SELECT name FROM city WHERE country = 'USA'"
    answer = asked(world, "name of cities in the USA", draft, "SELECT count(*) FROM city", max_attempts=2)
    assert (answer.sql, answer.row_count) == (draft, 0)
    assert answer.status == "capped", "what converged is not the answer"
    assert answer.confidence_reason == "the other query gives a different result"
    assert answer.text == "No rows match: no row of city has 'USA' in country (it has 'United States')."
    assert "query 1 is the answer, because the last one does not look for 'United States'" in answer.stopped


def test_a_value_that_is_not_there_is_an_answer(world: Path) -> None:
    answer = asked(world, "cities in Peru", "SELECT name FROM city WHERE country = 'Peru'")
    assert (answer.status, answer.row_count, answer.usage.llm_calls) == ("converged", 0, 1)


def test_a_near_value_is_told_to_the_model_once(world: Path) -> None:
    draft = "SELECT name FROM city WHERE country = 'USA'"
    answer = asked(world, "cities in the USA", draft, draft)
    assert (answer.sql, answer.status, answer.usage.llm_calls) == (draft, "converged", 2), "it is the model's last word"
    assert "United States" in answer.attempts[0].feedback


@pytest.mark.parametrize(
    "draft",
    [
        "SELECT count(*) FROM city WHERE country = 'USA'",
        "SELECT count(*), sum(people) FROM city WHERE country LIKE 'USA'",
        "SELECT sum(CASE WHEN country = 'USA' THEN 1 ELSE 0 END) FROM city",
    ],
)
def test_a_count_of_nothing_goes_back_with_the_value_that_is_there(world: Path, draft: str) -> None:
    answer = asked(world, "how many cities in the USA", draft, "SELECT count(*) FROM city")
    assert answer.usage.llm_calls == 2
    assert "United States" in answer.attempts[0].feedback


@pytest.mark.parametrize(
    "write",
    [
        *("DELETE FROM city", "DELETE FROM nowhere", "TRUNCATE TABLE city", "SET x = 1", "CALL tidy()", "VACUUM"),
        *("RENAME TABLE city TO c", "INSTALL httpfs", "EXPORT DATABASE 'x'", "SELECT name INTO OUTFILE 'x' FROM city"),
    ],
)
def test_a_write_ends_at_once_in_a_persons_words(world: Path, write: str) -> None:
    answer = asked(world, "empty the cities", write, effort="auto")
    assert (answer.status, answer.usage.llm_calls) == ("unanswerable", 1)
    assert answer.text == "I can only read data, so nothing was changed."


def test_a_limit_is_revised_once(world: Path) -> None:
    wide = "SELECT hex(zeroblob({})) AS x FROM city"
    statements = [wide.format(number) for number in (700_000, 800_000, 900_000)]
    answer = asked(world, "cities", *statements, effort="auto", cell_bytes=100_000, max_attempts=5)
    assert (answer.status, len(answer.attempts), answer.usage.llm_calls) == ("failed", 2, 2)


def test_a_discarded_repetition_did_not_converge(world: Path) -> None:
    draft, worse = "SELECT DISTINCT country FROM city", "SELECT country FROM city"
    answer = asked(world, "List the distinct countries", draft, worse, gate=False)
    assert (answer.sql, answer.status) == (draft, "capped")
    assert "the same SQL; query 1 is the answer" in answer.stopped


def test_texts_that_differ_by_a_blank_are_two(world: Path) -> None:
    one, two = "SELECT name FROM WHERE 'New York'", "SELECT name FROM WHERE 'New  York'"
    assert len(asked(world, "cities", one, two, max_attempts=3).attempts) == 3


def test_one_attempt_is_one(world: Path) -> None:
    assert asked(world, "cities", "SELECT nme FROM city", max_attempts=1).stopped.startswith("1 query was tried")
