import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, reject, settings
from tableturn.tools.errors import SQLParseError
from tableturn.tools.sql import regularize, same_sql
from tableturn.tools.sql.parse import join_split_operators

from .random_queries import queries
from .shop import SHOP, connect

IDIOMS = Path(__file__).with_name("idioms.sql").read_text().splitlines()


def _rows(sql: str) -> list[tuple[Any, ...]]:
    connection = connect()
    try:
        return connection.execute(sql).fetchall()
    finally:
        connection.close()


def _assert_result_kept(sql: str) -> None:
    regular = regularize(sql, SHOP)
    assert _rows(regular) == _rows(join_split_operators(sql).rstrip(";")), regular
    assert regularize(regular, SHOP) == regular


@pytest.mark.parametrize("sql", IDIOMS)
def test_every_idiom_keeps_its_result(sql: str) -> None:
    _assert_result_kept(sql)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(queries())
def test_random_queries_keep_their_result(sql: str) -> None:
    try:
        _rows(join_split_operators(sql).rstrip(";"))
    except sqlite3.OperationalError:
        reject()  # ambiguous, or an aggregate where none may be
    _assert_result_kept(sql)


@pytest.mark.parametrize(
    ("sql", "regular"),
    [
        ("select * from customer;", "SELECT * FROM customer"),
        ("select - - 1, 5 - - 1, - - - 1, - + - 1, 2-(-1)", "SELECT - -1, 5 - -1, - - -1, -+-1, 2 - (-1)"),
        (
            'select count ( * ) from CUSTOMER AS T1 where T1.country=="France"',
            "SELECT count(*) FROM customer WHERE customer.country = 'France'",
        ),
        (
            "SELECT T2.name FROM orders T1 INNER JOIN customer T2 ON T1.customer_id=T2.id WHERE total > = 5",
            "SELECT customer.name FROM orders JOIN customer ON orders.customer_id = customer.id"
            " WHERE orders.total >= 5",
        ),
        (
            "SELECT A.name FROM customer A JOIN customer B ON A.manager_id = B.id",
            "SELECT a.name FROM customer AS a JOIN customer AS b ON a.manager_id = b.id",
        ),
        ('SELECT "name", "Nobody" FROM customer', "SELECT customer.name, 'Nobody' FROM customer"),
        ("SELECT [birth year] FROM customer", 'SELECT customer."birth year" FROM customer'),
        ("SELECT name AS n FROM customer ORDER BY N ASC", "SELECT customer.name AS n FROM customer ORDER BY n"),
        (
            "SELECT upper(name) AS name FROM customer GROUP BY name ORDER BY name",
            "SELECT upper(customer.name) AS name FROM customer GROUP BY customer.name ORDER BY name",
        ),
        ("SELECT name FROM product LIMIT 1, 2", "SELECT product.name FROM product LIMIT 2 OFFSET 1"),
        (
            "SELECT name FROM customer c WHERE EXISTS (SELECT 1 FROM customer WHERE manager_id = c.id)",
            "SELECT c.name FROM customer AS c WHERE EXISTS (SELECT 1 FROM customer WHERE customer.manager_id = c.id)",
        ),
        ("SELECT x FROM nowhere AS n WHERE n.y = 1", "SELECT x FROM nowhere WHERE nowhere.y = 1"),
    ],
)
def test_regular_form(sql: str, regular: str) -> None:
    assert regularize(sql, SHOP) == regular


@pytest.mark.parametrize(
    ("dialect", "sql", "regular"),
    [
        ("mysql", "select name from customer where ISNULL(country)", "isnull(customer.country)"),
        ("postgres", "select name from customer where name !~* '^a' and name !~ 'b'", "customer.name !~* '^a'"),
        ("postgres", "select json_agg(c) from customer c", "SELECT json_agg(c) FROM customer AS c"),
        ("postgres", "select count(*) from customer c where c is not null", "customer AS c WHERE c IS NOT NULL"),
    ],
)
def test_other_engines_spellings_keep_their_meaning(dialect: str, sql: str, regular: str) -> None:
    assert regular in regularize(sql, replace(SHOP, dialect=dialect))


def test_a_column_named_by_its_text_keeps_the_query_as_it_is() -> None:
    sql = 'SELECT "MAX( id )" FROM (SELECT MAX( id ) FROM customer)'
    assert regularize(sql, SHOP) == sql


def test_back_ticks_and_brackets_never_become_strings() -> None:
    assert regularize("SELECT `France` FROM customer", SHOP) == "SELECT france FROM customer"
    assert regularize('SELECT "France" FROM customer', SHOP) == "SELECT 'France' FROM customer"


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        ("SELECT T1.name FROM customer T1", "select NAME from CUSTOMER;", True),
        ('SELECT 1 WHERE "a" = "A"', "SELECT 1 WHERE 'a' = 'A'", True),
        ("SELECT name FROM customer WHERE name = 'a'", "SELECT name FROM customer WHERE name = 'A'", False),
        ("SELECT name FROM customer", "SELECT country FROM customer", False),
        ("SELECT", "SELECT", False),
        ("not sql", "SELECT 1", False),
    ],
)
def test_same_sql(a: str, b: str, same: bool) -> None:
    assert same_sql(a, b, SHOP) is same


@pytest.mark.parametrize("sql", ["", ";", "DROP TABLE customer", "SELECT 1; SELECT 2", "SELECT FROM", "(" * 5000])
def test_what_cannot_be_parsed_is_refused_in_one_line(sql: str) -> None:
    with pytest.raises(SQLParseError) as caught:
        regularize(sql, SHOP)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + " + ".join(["1"] * 2000),
        "SELECT 1 WHERE " + " AND ".join(["1 = 1"] * 2000),
        " UNION ALL ".join(["SELECT 1"] * 190),
        "SELECT 1 IN (" + ", ".join(["1"] * 10_000) + ")",
    ],
)
def test_long_queries_are_no_trouble(sql: str) -> None:
    regular = regularize(sql, SHOP)
    assert regularize(regular, SHOP) == regular
