"""What a question leaves open, over the sample database: derived, run and told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.readings import Outcome, Ran, Said, outcome_of, rivals, told
from tableturn.tools.sample import build_sample

REVENUE = (
    """SELECT SUM(ol.quantity * ol."unit price") FROM orders o JOIN "order lines" ol ON ol.order_id = o.order_id"""
)


@pytest.fixture(scope="module")
def kestrel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path: Path = build_sample(tmp_path_factory.mktemp("sample") / "kestrel.sqlite")
    with Database.open(path) as database:
        yield database


def outcomes(database: Database, sql: str, question: str, beside: str = "") -> dict[str, Outcome]:
    """What each reading gives, by its words."""
    here = database.execute(sql)
    found: dict[str, Outcome] = {}
    for rival in rivals(sql, database.schema(), Said(question, beside)):
        there = database.execute(rival.sql)
        outcome = outcome_of(rival, Ran(here.rows, here.truncated), Ran(there.rows, there.truncated), ordered=False)
        if outcome is not None:
            found[outcome.words] = outcome
    return found


@pytest.mark.parametrize(
    ("question", "sql", "words"),
    [
        ("How many orders?", "SELECT COUNT(*) FROM orders", "without cancelled and returned orders"),
        ("Average price of our products", "SELECT AVG(price) FROM products", "without discontinued products"),
        ("How many employees?", "SELECT COUNT(*) FROM employees", "without employees who left"),
        ("Revenue of all time", REVENUE, "after the discount"),
        ("Orders in 2023", "SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2023%'", "by shipped date"),
        (
            "Orders by city",
            "SELECT s.city, COUNT(*) FROM orders o JOIN stores s ON s.store_id = o.store_id GROUP BY 1",
            "by the city of the customer",
        ),
        (
            "How many customers have written a review?",
            "SELECT COUNT(customer_id) FROM reviews",
            "different customers, each counted once",
        ),
        (
            "How many customers are not Gold?",
            "SELECT COUNT(*) FROM customers WHERE loyalty_tier <> 'Gold'",
            "with customers whose loyalty tier is missing",
        ),
        (
            "Customers in each country",
            "SELECT co.name, COUNT(*) FROM customers c JOIN countries co ON co.country_code = c.country_code"
            " WHERE co.currency <> 'JPY' GROUP BY co.country_code",
            "with countries that have none",
        ),
        (
            "Which country has the most stores, Germany aside?",
            "SELECT country_code, COUNT(*) n FROM stores WHERE country_code <> 'DE' GROUP BY 1 ORDER BY n DESC LIMIT 1",
            "with those that share the first place",
        ),
    ],
)
def test_what_is_open_is_read_the_other_way_and_changes_the_answer(
    kestrel: Database, question: str, sql: str, words: str
) -> None:
    found = outcomes(kestrel, sql, question)
    assert words in found
    assert not found[words].same


@pytest.mark.parametrize(
    ("question", "sql", "matter"),
    [
        ("How many orders, returned ones too?", "SELECT COUNT(*) FROM orders", "left_out"),
        ("How many orders were open?", "SELECT COUNT(*) FROM orders WHERE status = 'open'", "left_out"),
        ("How many employees have left?", "SELECT COUNT(*) FROM employees", "left_out"),
        (
            "How many people were hired in 2020?",
            "SELECT COUNT(*) FROM employees WHERE hired_on LIKE '2020%'",
            "left_out",
        ),
        ("Gross revenue", REVENUE, "net"),
        ("Orders placed in 2023", "SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2023%'", "date"),
        (
            "Orders by city of the store",
            "SELECT s.city, COUNT(*) FROM orders o JOIN stores s ON s.store_id = o.store_id GROUP BY 1",
            "like",
        ),
        ("How many reviews?", "SELECT COUNT(*) FROM reviews", "count"),
        ("Customers of known tier but Gold", "SELECT COUNT(*) FROM customers WHERE loyalty_tier <> 'Gold'", "missing"),
        (
            "Countries with at least one customer",
            "SELECT co.name, COUNT(*) FROM customers c JOIN countries co ON co.country_code = c.country_code"
            " GROUP BY co.country_code HAVING COUNT(*) >= 1",
            "zeros",
        ),
        ("Cheapest product", "SELECT name FROM products ORDER BY product_id LIMIT 1", "ties"),
        ("Is it one?", "SELECT 1", "count"),
    ],
)
def test_what_the_question_or_the_query_settles_is_left_alone(
    kestrel: Database, question: str, sql: str, matter: str
) -> None:
    assert matter not in {rival.matter for rival in rivals(sql, kestrel.schema(), Said(question))}


def test_what_stands_beside_the_question_settles_too(kestrel: Database) -> None:
    sql = "SELECT COUNT(*) FROM orders"
    assert rivals(sql, kestrel.schema(), Said("How many orders?"))
    assert not rivals(sql, kestrel.schema(), Said("How many orders?", "orders count whether cancelled or not"))


def test_a_rival_of_a_long_chain_of_joins_keeps_every_group(kestrel: Database) -> None:
    sql = (
        "SELECT c.name, COUNT(*) FROM categories c JOIN products p ON p.category_id = c.category_id"
        ' JOIN "order lines" ol ON ol.product_id = p.product_id WHERE ol.quantity > 1 GROUP BY c.category_id'
    )
    rival = next(one for one in rivals(sql, kestrel.schema(), Said("lines by category")) if one.matter == "zeros")
    before, after = ({str(row[0]): row[1] for row in kestrel.execute(one).rows} for one in (sql, rival.sql))
    assert {name: count for name, count in after.items() if count} == before
    assert len(after) == 19


def test_what_cannot_be_read_leaves_nothing_open(kestrel: Database) -> None:
    for sql in ("SELECT FROM", "SELECT * FROM nowhere WHERE x <> 1", "SELECT 1 UNION SELECT 2"):
        assert rivals(sql, kestrel.schema(), Said("?")) == ()


def test_hidden_columns_and_withheld_values_tell_nothing(kestrel: Database) -> None:
    location = kestrel.location
    with Database.open(location, deny=["orders.status"]) as hidden:
        assert not rivals("SELECT COUNT(*) FROM orders", hidden.schema(), Said("orders"))
    with Database.open(location, egress={"columns": {"orders.status": "none"}}) as kept:
        assert not rivals("SELECT COUNT(*) FROM orders", kept.schema(), Said("orders"))


def test_the_line_says_what_changes_and_what_does_not() -> None:
    changed = Outcome("left_out", "without returned orders", "returned orders are in", "", "11.1 M")
    same = Outcome("date", "by shipped date", "by ordered date", "")
    assert told([changed, same]) == "11.1 M without returned orders; another reading gives the same."
    assert told([changed, same, same]).endswith("the other readings give the same.")
    assert told([same]) == ""
    assert told([]) == ""


def test_a_date_that_the_rows_do_not_have_is_no_reading(kestrel: Database) -> None:
    sql = "SELECT COUNT(*) FROM orders WHERE status = 'cancelled' AND ordered_on LIKE '2022%'"
    assert "by shipped date" not in outcomes(kestrel, sql, "How many orders of 2022 were cancelled?")
