"""Frames made from frames."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.agent.offline.frames import (
    Column,
    Condition,
    Frame,
    Term,
    build,
    complement,
    counted,
    holder,
    narrowed,
    per_group,
    read_sql,
    respelled,
)
from tableturn.tools.database import Database
from tableturn.tools.errors import NotUnderstood
from tableturn.tools.values import ValueIndex

KEY = Column("animal", "animal_id")


@pytest.fixture(scope="module")
def zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path: Path = tmp_path_factory.mktemp("zoo") / "zoo.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript("""
            CREATE TABLE animal(animal_id INTEGER PRIMARY KEY, name TEXT, kind TEXT, age INTEGER);
            INSERT INTO animal VALUES (1, 'Rex', 'wolf', 3), (2, 'Tia', 'lynx', 7), (3, 'Ugo', 'wolf', 9);
        """)
    with Database.open(path) as database:
        yield database


def _frame(zoo: Database, sql: str) -> Frame:
    frame = read_sql(sql, zoo.schema())
    assert frame is not None
    return frame


def _rows(zoo: Database, frame: Frame) -> list[tuple[object, ...]]:
    return [tuple(row) for row in zoo.execute(build(frame, zoo.schema()).sql("sqlite")).rows]


@pytest.mark.parametrize(
    ("sql", "number"),
    [
        ("SELECT name FROM animal WHERE kind = 'wolf'", 2),
        ("SELECT DISTINCT kind FROM animal", 2),
        ("SELECT kind, COUNT(*) FROM animal GROUP BY kind", 2),
        ("SELECT kind FROM animal GROUP BY kind HAVING COUNT(*) > 1", 1),
        ("SELECT name FROM animal ORDER BY age DESC LIMIT 2", 2),
    ],
)
def test_counted(zoo: Database, sql: str, number: int) -> None:
    assert _rows(zoo, counted(_frame(zoo, sql), KEY)) == [(number,)]


def test_what_no_key_tells_apart_is_not_counted(zoo: Database) -> None:
    with pytest.raises(NotUnderstood, match="animal"):
        counted(_frame(zoo, "SELECT name FROM animal LIMIT 2"), None)


@pytest.mark.parametrize(
    ("sql", "left_out"),
    [
        ("SELECT name FROM animal WHERE kind = 'wolf'", ["Tia"]),
        ("SELECT name FROM animal WHERE kind <> 'wolf'", ["Rex", "Ugo"]),
        ("SELECT name FROM animal ORDER BY age DESC LIMIT 1", ["Rex", "Tia"]),
        ("SELECT name FROM animal WHERE NOT animal_id IN (SELECT animal_id FROM animal WHERE age > 8)", ["Ugo"]),
    ],
)
def test_complement(zoo: Database, sql: str, left_out: list[str]) -> None:
    assert sorted(_rows(zoo, complement(_frame(zoo, sql), KEY))) == [(name,) for name in left_out]


def test_narrowed_adds_replaces_and_reaches_inside(zoo: Database) -> None:
    kind, age = (Term(Column("animal", name)) for name in ("kind", "age"))
    wolves = _frame(zoo, "SELECT name FROM animal WHERE kind = 'wolf'")
    inside = _frame(
        zoo, "SELECT name FROM animal WHERE animal_id IN (SELECT animal_id FROM animal WHERE kind = 'wolf')"
    )
    lynx = (Condition(kind, "=", "lynx"),)
    old = (Condition(age, ">", 5),)

    assert _rows(zoo, narrowed(wolves, [old])) == [("Ugo",)]
    assert _rows(zoo, narrowed(wolves, [lynx])) == [("Tia",)]
    assert _rows(zoo, narrowed(inside, [lynx])) == [("Tia",)]
    assert narrowed(narrowed(wolves, [old]), [(Condition(age, "<", 9),)]).where[1:] == (old, (Condition(age, "<", 9),))
    assert narrowed(narrowed(wolves, [old]), [(Condition(age, "<", 9),)], swap=True).where[1:] == (
        (Condition(age, "<", 9),),
    )


def test_texts_are_respelled_as_their_columns_hold_them(zoo: Database, tmp_path: Path) -> None:
    values = ValueIndex.open(zoo, cache=tmp_path)
    misspelt = _frame(zoo, "SELECT age FROM animal WHERE name = 'Rexx' AND kind = 'wolf'")
    assert _rows(zoo, respelled(misspelt, values)) == [(3,)]


def test_the_row_that_holds_the_highest_value(zoo: Database) -> None:
    frame = read_sql("SELECT max(age) FROM animal WHERE kind = 'wolf'", zoo.schema())
    assert frame is not None
    held = holder(frame, [Term(Column("animal", "name"))])
    assert zoo.execute(build(held, zoo.schema()).sql("sqlite")).rows == (("Ugo",),)


@pytest.mark.parametrize(
    ("sql", "computes", "rows"),
    [
        ("SELECT max(age) FROM animal", [], {("wolf", 9), ("lynx", 7)}),
        ("SELECT name FROM animal LIMIT 1", [], {("wolf", 2), ("lynx", 1)}),
        ("SELECT max(age) FROM animal", [Term(Column("animal", "age"), "min")], {("wolf", 3), ("lynx", 7)}),
    ],
)
def test_what_is_computed_of_each_group(
    zoo: Database, sql: str, computes: list[Term], rows: set[tuple[str, int]]
) -> None:
    frame, kind = read_sql(sql, zoo.schema()), Column("animal", "kind")
    assert frame is not None
    grouped = per_group(frame, [kind], [Term(kind)], computes)
    assert set(zoo.execute(build(grouped, zoo.schema()).sql("sqlite")).rows) == rows
