"""Aggregates of rows that a join repeats, and what must not be taken for that."""

import sqlite3

import pytest
from tableturn.tools.sql import Finding, check

from .shop import SHOP, connect


@pytest.fixture(scope="module")
def database() -> sqlite3.Connection:
    return connect()


def found(sql: str, database: sqlite3.Connection) -> list[Finding]:
    probes: list[str] = []

    def gives_row(probe: str) -> bool:
        probes.append(probe)
        return database.execute(probe).fetchone() is not None

    findings = check(sql, SHOP, gives_row=gives_row)
    assert len(probes) <= 1
    return [finding for finding in findings if finding.kind == "repeated_rows"]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(o.total) FROM orders o JOIN item i ON i.order_id = o.id",
        "SELECT avg(o.total) FROM orders o, item i WHERE i.order_id = o.id",
        "SELECT count(o.total) FROM orders o LEFT JOIN item i ON i.order_id = o.id",
        "SELECT c.country, sum(o.total) FROM customer c JOIN orders o ON o.customer_id = c.id "
        "JOIN item i ON i.order_id = o.id GROUP BY c.country",
        "SELECT o.id, sum(o.total) FROM orders o JOIN item i ON i.order_id = o.id GROUP BY 1",
        "WITH o AS (SELECT * FROM orders) SELECT sum(p.price) FROM product p JOIN item i ON i.product_id = p.id "
        "JOIN o ON o.id = i.order_id",
    ],
)
def test_repeated_rows_are_proved(sql: str, database: sqlite3.Connection) -> None:
    (finding,) = found(sql, database)
    assert finding.proof
    assert "repeats rows of" in finding.message


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT sum(i.quantity) FROM orders o JOIN item i ON i.order_id = o.id",
        "SELECT sum(i.quantity * p.price) FROM item i JOIN product p ON p.id = i.product_id",
        "SELECT count(*) FROM orders o JOIN item i ON i.order_id = o.id",
        "SELECT count(DISTINCT o.id) FROM orders o JOIN item i ON i.order_id = o.id",
        "SELECT max(o.total) FROM orders o JOIN item i ON i.order_id = o.id",
        "SELECT sum(o.total) FROM orders o WHERE EXISTS (SELECT 1 FROM item i WHERE i.order_id = o.id)",
        "SELECT c.name, count(c.id) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.id",
        "SELECT sum(o.total) FROM orders o JOIN item i ON i.order_id = o.id AND i.product_id = 1",
        "SELECT sum(o.total) FROM orders o JOIN item i ON i.order_id = o.id WHERE i.quantity = 7",
    ],
)
def test_what_counts_each_row_once_is_left_alone(sql: str, database: sqlite3.Connection) -> None:
    assert found(sql, database) == []


def test_the_table_whose_rows_repeat_is_named(database: sqlite3.Connection) -> None:
    (finding,) = found("SELECT sum(o.total) FROM orders o JOIN item i ON i.order_id = o.id", database)
    assert (
        finding.message == "The join with item repeats rows of orders, so that SUM(o.total) counts them more than once."
    )


def test_what_nobody_can_be_asked_about_is_a_doubt() -> None:
    sql = "SELECT sum(o.total) FROM orders o JOIN item i ON i.order_id = o.id"

    def cannot_tell(_: str) -> None:
        return None

    for gives_row in (None, cannot_tell):
        (finding,) = [one for one in check(sql, SHOP, gives_row=gives_row) if one.kind == "repeated_rows"]
        assert not finding.proof
        assert "may repeat" in finding.message


def test_an_average_of_averages_is_a_doubt() -> None:
    sql = "SELECT avg(mean) FROM (SELECT customer_id, avg(total) AS mean FROM orders GROUP BY customer_id) AS s"
    (finding,) = check(sql, SHOP)
    assert (finding.kind, finding.proof) == ("average_of_averages", False)
