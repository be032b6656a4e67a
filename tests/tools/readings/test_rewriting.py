"""The queries of other readings: what each one gives."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest
from tableturn.tools.database import Database
from tableturn.tools.database.table import Cell
from tableturn.tools.readings import QuestionContext, rivals, short_cell

_ROWS = """
    CREATE TABLE clients(client_id INTEGER PRIMARY KEY, name TEXT, town TEXT, email TEXT, active INT, hired_on DATE);
    INSERT INTO clients VALUES (1, 'Ada', 'Rome', 'a@x.org', 1, '2020-01-01'), (2, 'Bo', NULL, '', 1, '2021-01-01'),
        (3, 'Cy', 'Oslo', '', 0, '2021-05-01'), (4, 'Di', 'Oslo', 'd@x.org', 1, '2022-01-01');
    CREATE TABLE sales(sale_id INTEGER PRIMARY KEY, client_id INT REFERENCES clients, net_price REAL, gross_price REAL,
        ordered_on DATE, paid_on DATE, status TEXT);
    INSERT INTO sales VALUES (1, 1, 10, 12, '2023-01-05', '2023-01-07', 'paid'),
        (2, 1, 20, 24, '2023-01-30', '2023-02-02', 'cancelled'), (3, 2, 30, 36, '2023-02-03', '2023-02-04', 'paid');
"""


@pytest.fixture(name="database", scope="module")
def _database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("rewriting") / "sales.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(_ROWS)
    with Database.open(path) as database:
        yield database


def read(database: Database, sql: str, question: str) -> dict[str, tuple[tuple[Cell, ...], ...]]:
    """What each reading gives, by its words."""
    found = rivals(sql, database.schema(), QuestionContext(question))
    return {one.words: tuple(database.execute(one.sql).rows) for one in found}


@pytest.mark.parametrize(
    ("question", "sql", "words", "rows"),
    [
        (
            "clients of another town than Oslo",
            "SELECT name FROM clients WHERE town <> 'Oslo'",
            "with clients whose town is missing",
            (("Ada",), ("Bo",)),
        ),
        (
            "clients outside of Oslo and Paris",
            "SELECT name FROM clients WHERE town NOT IN ('Oslo', 'Paris')",
            "with clients whose town is missing",
            (("Ada",), ("Bo",)),
        ),
        ("those without a mail", "SELECT name FROM clients WHERE email IS NULL", "with clients whose email is empty",
         (("Bo",), ("Cy",))),
        ("how many mails", "SELECT COUNT(email) FROM clients", "without rows whose email is empty", ((2,),)),
        ("the average number of clients", "SELECT COUNT(*) FROM clients", "inactive clients", None),
        ("the revenue", "SELECT SUM(net_price) FROM sales", "by gross price", ((72.0,),)),
        ("the revenue", "SELECT SUM(gross_price) FROM sales", "by net price", ((60.0,),)),
        ("in January", "SELECT COUNT(*) FROM sales WHERE ordered_on LIKE '2023-01%'", "by paid date", ((1,),)),
        ("in January", "SELECT COUNT(*) FROM sales WHERE paid_on LIKE '2023-01%'", "by ordered date", ((2,),)),
        ("how many sales", "SELECT COUNT(*) FROM sales", "without cancelled sales", ((2,),)),
        ("how many sales of Ada", "SELECT COUNT(*) FROM sales s JOIN clients p ON p.client_id = s.client_id"
         " WHERE p.name = 'Ada'", "without cancelled sales", ((1,),)),
    ],
)  # fmt: skip
def test_a_reading_gives(
    database: Database, question: str, sql: str, words: str, rows: tuple[tuple[Cell, ...], ...] | None
) -> None:
    assert read(database, sql, question).get(words) == rows


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM clients WHERE town <> name",
        "SELECT name FROM clients WHERE town NOT IN (SELECT town FROM clients WHERE town IS NOT NULL)",
        "SELECT name FROM clients WHERE town <> 'Oslo' OR town IS NULL",
        "SELECT name FROM clients WHERE town <> 'Oslo' AND town IS NOT NULL",
        "SELECT name FROM clients WHERE name <> 'Ada'",
    ],
)
def test_what_lacks_nothing_or_is_looked_at_already_is_left_alone(database: Database, sql: str) -> None:
    assert not [words for words in read(database, sql, "which clients?") if "missing" in words]


def test_the_columns_of_a_result_keep_their_names(database: Database) -> None:
    sql = "SELECT ordered_on FROM sales WHERE ordered_on LIKE '2023-01%'"
    (rival,) = (
        one for one in rivals(sql, database.schema(), QuestionContext("January")) if one.words == "by paid date"
    )
    table = database.execute(rival.sql)
    assert table.columns == ("ordered_on",)
    assert table.rows == (("2023-01-07",),)


@pytest.mark.parametrize(
    ("cell", "beside", "text"),
    [
        (None, 1, "nothing"),
        (True, None, "True"),
        ("a  b\nc", None, "a b c"),
        ("x" * 40, None, "x" * 40),
        ("x" * 41, None, f"{'x' * 39}…"),
        (7, None, "7"),
        (1_234, None, "1,234"),
        (1_000_000, None, "1.0 M"),
        (-2_500_000_000, None, "-2.5 bn"),
        (1_234_567, 7, "1.2 M"),
        (1_234_567, 1_234_568, "1,234,567"),
        (1_234_567, 1_234_567, "1.2 M"),
        (2.0, None, "2"),
        (1_000.6, None, "1,001"),
        (1.256, None, "1.26"),
        (0.12345, None, "0.123"),
    ],
)
def test_a_value_is_told_in_as_few_characters_as_tell_it_from_another(cell: Cell, beside: Cell, text: str) -> None:
    assert short_cell(cell, beside) == text
