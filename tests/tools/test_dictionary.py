"""Data dictionaries: tables of a database that describe its tables and columns."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest
from tableturn import Database, SQLAgent
from tableturn.tools.annotations import Annotations
from tableturn.tools.database import Cell, Egress, Limits
from tableturn.tools.dictionary import read_data_dictionaries

from ..support.scripted import writes

TABLES = """
CREATE TABLE T10 (F1 INTEGER PRIMARY KEY, F2 TEXT, F3 REAL);
CREATE TABLE T20 (F1 INTEGER, F2 TEXT);
INSERT INTO T10 VALUES (1, 'a', 2.5), (2, 'b', 3.5);
INSERT INTO T20 VALUES (1, 'x'), (2, 'y');
"""
DICTIONARY = """
CREATE TABLE catalogue (tab TEXT, col TEXT, meaning TEXT, remark TEXT, position INTEGER);
INSERT INTO catalogue VALUES
  ('T10', NULL, 'Rentals of containers', '', 0),
  ('T10', 'F1', 'Number of the rental', 'key', 1),
  ('T10', 'F3', 'Rent for a day', 'in cents', 2),
  ('t20', 'f2', 'Kind of cleaning', '', 1),
  ('T99', 'F1', 'Of a table that is not here', '', 1),
  ('T20', 'F1', '', '', 1);
"""
LOG = """
CREATE TABLE changes (tab TEXT, col TEXT, what TEXT);
INSERT INTO changes VALUES ('T10', 'F1', 'set to 5 by ada'), ('T10', 'F1', 'set to 6 by bob'), ('T20', 'F2', 'a new x');
"""


def made(folder: Path, *scripts: str) -> str:
    path = folder / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for script in scripts:
            connection.executescript(script)
    return str(path)


def read(database: Database) -> Annotations:
    def rows(sql: str, most: int) -> Sequence[tuple[Cell, ...]]:
        return database.execute(sql, Limits(rows=most)).rows

    return read_data_dictionaries(database.schema(), rows)


def test_tables_and_columns_are_described(tmp_path: Path) -> None:
    with Database.open(made(tmp_path, TABLES, DICTIONARY)) as database:
        found = read(database)
    assert found.tables == {"T10": "Rentals of containers"}
    assert found.columns == {
        ("T10", "F1"): "Number of the rental; key",
        ("T10", "F3"): "Rent for a day; in cents",
        ("T20", "F2"): "Kind of cleaning",
    }


def test_values_of_columns_are_told_behind_them(tmp_path: Path) -> None:
    script = """
    CREATE TABLE about (kind TEXT, tab TEXT, col TEXT, code INTEGER, meaning TEXT);
    INSERT INTO about VALUES
      ('V', 'T20', 'F1', 2, 'at the depot'), ('T', 'T20', NULL, NULL, 'Jobs of cleaning'),
      ('C', 'T20', 'F1', NULL, 'Kind of cleaning'), ('V', 'T20', 'F1', 1, 'steam'),
      ('C', 'T10', 'F1', NULL, 'A number');
    """
    with Database.open(made(tmp_path, TABLES, script)) as database:
        found = read(database)
    assert found.tables == {"T20": "Jobs of cleaning"}
    assert found.columns == {("T20", "F1"): "Kind of cleaning; 2 = at the depot; 1 = steam", ("T10", "F1"): "A number"}


@pytest.mark.parametrize(
    "script",
    [
        LOG,
        "CREATE TABLE s (tab TEXT, kind TEXT); INSERT INTO s VALUES ('T10', 'big'), ('T20', 'small'), ('t10', '')",
        "CREATE TABLE few (tab TEXT, said TEXT); INSERT INTO few VALUES ('T10', 'two words'), ('T20', 'more words')",
        "CREATE TABLE loads (tab TEXT, at TEXT); INSERT INTO loads VALUES ('T10', '2024-06-30 02:10'), "
        "('T20', '2024-06-30 02:10'), ('T30', '2024-06-30 02:11')",
    ],
)
def test_what_only_names_tables_is_no_dictionary(tmp_path: Path, script: str) -> None:
    with Database.open(made(tmp_path, TABLES, script)) as database:
        assert read(database) == Annotations()


def test_what_may_not_be_read_is_neither_described_nor_read_of(tmp_path: Path) -> None:
    path = made(tmp_path, TABLES, DICTIONARY)
    with Database.open(path, deny=["t10"]) as database:
        assert not any("T10" in str(name) for name in (*read(database).tables, *read(database).columns))
    with Database.open(path, deny=["catalogue"]) as database:
        assert read(database) == Annotations()


@pytest.mark.parametrize("withheld", [False, True])
def test_prompts_show_descriptions_that_may_leave(tmp_path: Path, withheld: bool) -> None:
    model = writes("SELECT F3 FROM T10")
    egress = Egress.of({"columns": {"catalogue.meaning": "none"}}) if withheld else None
    with SQLAgent(made(tmp_path, TABLES, DICTIONARY), model=model, egress=egress) as agent:
        agent.ask("What is the rent for a day?")
    assert ("Rentals of containers" in model.prompts[-1]) is not withheld


def test_a_view_that_cannot_be_read_does_not_hide_a_dictionary(tmp_path: Path) -> None:
    broken = "CREATE VIEW a_view AS SELECT tab, abs(-9223372036854775808 + position - 2) AS n FROM catalogue;"
    with Database.open(made(tmp_path, TABLES, DICTIONARY, broken)) as database:
        assert read(database).tables == {"T10": "Rentals of containers"}
