"""Frames: SQL to frame and back, and the sentence that asks for a frame."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.agent.offline.frame import (
    Column,
    Operand,
    Operator,
    Predicate,
    QueryFrame,
    Scalar,
    format_query_as_sentence,
    intersect,
)
from tableturn.agent.offline.sql import convert_frame_to_sql, list_query_tables, read_sql
from tableturn.tools.database import Database
from tableturn.tools.errors import NotUnderstood


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path: Path = tmp_path_factory.mktemp("zoo") / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript("""
            CREATE TABLE keeper(keeper_id INTEGER PRIMARY KEY, name TEXT, wage REAL);
            CREATE TABLE animal(animal_id INTEGER PRIMARY KEY, name TEXT, kind TEXT, age INTEGER,
                keeper_id INTEGER REFERENCES keeper(keeper_id));
            CREATE TABLE "lost order"(id INTEGER PRIMARY KEY, "from" TEXT);
            INSERT INTO keeper VALUES (1, 'Ann', 10), (2, 'Ben', 20);
            INSERT INTO animal VALUES (1, 'Rex', 'wolf', 3, 1), (2, 'Tia', 'lynx', 7, 1), (3, 'Ugo', 'wolf', 9, 2);
        """)
    with Database.open(path) as database:
        yield database


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM animal",
        "SELECT DISTINCT kind FROM animal WHERE age > 2 AND (kind = 'wolf' OR kind LIKE 'l%')",
        "SELECT keeper.name, COUNT(*) FROM keeper JOIN animal ON animal.keeper_id = keeper.keeper_id "
        "GROUP BY keeper.keeper_id HAVING COUNT(*) >= 2 ORDER BY COUNT(*) DESC LIMIT 3",
        "SELECT name FROM animal WHERE age BETWEEN 1 AND 5 AND NOT kind IS NULL",
        "SELECT name FROM keeper WHERE NOT keeper_id IN (SELECT keeper_id FROM animal WHERE age < 4)",
        "SELECT kind FROM animal WHERE age < 4 INTERSECT SELECT kind FROM animal WHERE age > 8",
        "SELECT name FROM animal WHERE (age > 1 AND kind = 'wolf') AND animal_id < 3",
        "SELECT AVG(wage) FROM keeper WHERE wage <= (SELECT MAX(wage) FROM keeper)",
    ],
)
def test_sql_survives_the_way_through_a_frame(zoo: Database, sql: str) -> None:
    frame = read_sql(sql, zoo.schema())
    assert frame is not None
    again = convert_frame_to_sql(frame, zoo.schema())

    assert read_sql(again, zoo.schema()) == frame
    assert zoo.execute(again).rows == zoo.execute(sql).rows


@pytest.mark.parametrize("sql", ["WITH t AS (SELECT 1) SELECT * FROM t", "SELECT 1 + age FROM animal", "not sql"])
def test_what_no_frame_can_say_is_left_alone(zoo: Database, sql: str) -> None:
    assert read_sql(sql, zoo.schema()) is None


def test_names_are_quoted_where_they_must_be(zoo: Database) -> None:
    frame = QueryFrame((Operand(Column("lost order", "from")),))
    assert convert_frame_to_sql(frame, zoo.schema()) == 'SELECT "from" FROM "lost order"'


def test_tables_that_no_key_connects_are_refused(zoo: Database) -> None:
    frame = QueryFrame((Operand(Column("keeper", "name")), Operand(Column("lost order", "from"))))
    with pytest.raises(NotUnderstood, match="lost order"):
        convert_frame_to_sql(frame, zoo.schema())


def test_a_sentence_that_asks_for_a_frame(zoo: Database) -> None:
    frame = read_sql("SELECT name FROM animal WHERE age > 2 ORDER BY age DESC", zoo.schema())
    assert frame is not None
    assert format_query_as_sentence(replace(frame, limit=2)) == (
        "Give me the name of animal where the age is more than 2, sorted by the age from highest, only the first 2."
    )


@pytest.mark.parametrize(
    ("one", "other", "excludes"),
    [
        (("=", "wolf"), ("=", "lynx"), True),
        (("=", "wolf"), ("=", "wolf"), False),
        ((">", 7), ("<", 3), True),
        (("<=", 3), (">=", 7), True),
        ((">", 3), ("<", 7), False),
        ((">", 7), (">", 3), False),
        (("<", "a"), (">", "b"), False),
    ],
)
def test_conditions_that_no_row_can_meet_together(
    one: tuple[Operator, Scalar], other: tuple[Operator, Scalar], excludes: bool
) -> None:
    age = Operand(Column("animal", "age"))

    assert Predicate(age, *one).excludes(Predicate(age, *other)) is excludes
    assert not Predicate(age, *one).excludes(Predicate(Operand(Column("animal", "kind")), *other))


@pytest.mark.parametrize(
    ("sql", "rows"),
    [
        ("SELECT keeper_id FROM animal WHERE kind = 'wolf' ORDER BY age", [(1,)]),
        ("SELECT count(*) FROM animal WHERE kind = 'wolf'", [(0,)]),
    ],
)
def test_what_meets_two_conditions_that_no_row_meets(zoo: Database, sql: str, rows: list[tuple[int]]) -> None:
    frame = read_sql(sql, zoo.schema())
    assert frame is not None
    other = Predicate(Operand(Column("animal", "kind")), "=", "lynx")

    both = intersect(frame, other, Column("animal", "animal_id"))
    assert [*zoo.execute(convert_frame_to_sql(both, zoo.schema())).rows] == rows


def test_a_frame_tells_what_it_joins_holds_and_ranks(zoo: Database) -> None:
    inner = "SELECT keeper.name FROM keeper JOIN animal ON animal.keeper_id = keeper.keeper_id WHERE kind = 'wolf'"
    frame = read_sql(f"SELECT wage FROM keeper WHERE name IN ({inner}) AND wage BETWEEN 5 AND 15 LIMIT 3", zoo.schema())
    assert frame is not None

    assert list_query_tables(frame, zoo.schema()) == {"keeper", "animal"}
    assert sorted(map(str, frame.list_literals())) == ["15", "3", "5", "wolf"]
    assert not frame.is_ranking_query()
    assert QueryFrame((Operand(Column("keeper", "wage"), "max"),)).is_ranking_query()


def test_a_frame_that_shows_only_what_it_fixes_repeats(zoo: Database) -> None:
    fixed = read_sql("SELECT name FROM animal WHERE name = 'Rex'", zoo.schema())
    told = read_sql("SELECT name, age FROM animal WHERE name = 'Rex'", zoo.schema())
    assert fixed is not None
    assert fixed.shows_only_fixed_columns()
    assert told is not None
    assert not told.shows_only_fixed_columns()


@pytest.mark.parametrize(
    "rest",
    ["LIMIT (SELECT 3)", "LIMIT 3 OFFSET (SELECT 1)", "LIMIT 1e1", "WHERE age < 1e999", "FETCH FIRST 2 ROWS ONLY"],
)
def test_numbers_that_no_frame_holds_make_a_query_unreadable(zoo: Database, rest: str) -> None:
    assert read_sql(f"SELECT name FROM animal {rest}", zoo.schema()) is None


def test_a_number_may_have_an_exponent(zoo: Database) -> None:
    frame = read_sql("SELECT name FROM animal WHERE age < 1e1", zoo.schema())
    assert frame is not None
    assert frame.where[0][0].value == 10
