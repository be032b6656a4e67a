"""Frames made from frames."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tableturn.agent.offline.frame import Column, Operand, Predicate, QueryFrame, add_conditions, count_rows
from tableturn.agent.offline.sql import convert_frame_to_sql, read_sql
from tableturn.tools.database import Database
from tableturn.tools.errors import NotUnderstood

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


def _frame(zoo: Database, sql: str) -> QueryFrame:
    frame = read_sql(sql, zoo.schema())
    assert frame is not None
    return frame


def _rows(zoo: Database, frame: QueryFrame) -> list[tuple[object, ...]]:
    return [tuple(row) for row in zoo.execute(convert_frame_to_sql(frame, zoo.schema())).rows]


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
    assert _rows(zoo, count_rows(_frame(zoo, sql), KEY)) == [(number,)]


def test_what_no_key_tells_apart_is_not_counted(zoo: Database) -> None:
    with pytest.raises(NotUnderstood, match="animal"):
        count_rows(_frame(zoo, "SELECT name FROM animal LIMIT 2"), None)


def test_narrowed_adds_and_replaces(zoo: Database) -> None:
    kind, age = (Operand(Column("animal", name)) for name in ("kind", "age"))
    wolves = _frame(zoo, "SELECT name FROM animal WHERE kind = 'wolf'")
    lynx = (Predicate(kind, "=", "lynx"),)
    old = (Predicate(age, ">", 5),)

    assert _rows(zoo, add_conditions(wolves, [old])) == [("Ugo",)]
    assert _rows(zoo, add_conditions(wolves, [lynx])) == [("Tia",)]
    assert add_conditions(add_conditions(wolves, [old]), [(Predicate(age, "<", 9),)]).where[1:] == (
        old,
        (Predicate(age, "<", 9),),
    )
    assert add_conditions(add_conditions(wolves, [old]), [(Predicate(age, "<", 9),)], swap=True).where[1:] == (
        (Predicate(age, "<", 9),),
    )
