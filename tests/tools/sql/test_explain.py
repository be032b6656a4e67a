from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema
from tableturn.tools.errors import SQLParseError
from tableturn.tools.sql import explain

from tests.support.queries import read

from .random_queries import queries
from .shop import SHOP

IDIOMS = Path(__file__).with_name("idioms.sql").read_text().splitlines()


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("SELECT * FROM customer", "All columns from customer."),
        (
            'SELECT name FROM customer WHERE country = "France" AND "birth year" >= 1980',
            "Name from customer where country is 'France' and birth year is at least 1980.",
        ),
        ("SELECT DISTINCT country FROM customer", "The different values of country from customer."),
        (
            "SELECT DISTINCT name, country FROM customer",
            "The different combinations of name and country from customer.",
        ),
        (
            "SELECT placed FROM customer FULL JOIN orders USING (id) WHERE id = 6",
            "Placed of orders from customer joined with orders (by equal id), keeping every row of both sides"
            " where id is 6.",
        ),
        (
            "SELECT name FROM customer c WHERE c.country = 'x' EXCEPT"
            " SELECT name FROM customer c WHERE c.country = 'y'",
            "Name from customer where country is 'x', not found where country is 'y', each once.",
        ),
        (
            "SELECT c.name FROM customer c JOIN orders o ON o.id = c.id",
            "Name of customer from customer joined with orders (id of orders is id of customer).",
        ),
        (
            "SELECT c.name FROM customer c UNION SELECT d.name FROM customer d WHERE d.id > 2",
            "Rows in (name from customer) or in (name from customer where id is more than 2).",
        ),
        (
            "SELECT T1.name, count(*) FROM customer T1 JOIN orders T2 ON T1.id = T2.customer_id GROUP BY T1.id"
            " HAVING sum(T2.total) > 5",
            "Name of customer and the number of rows from customer joined with orders, for each id of customer, only"
            " groups where the sum of total of orders is more than 5.",
        ),
        (
            "SELECT name FROM product ORDER BY price DESC LIMIT 1",
            "Name from product, only the one with the largest price.",
        ),
        (
            "SELECT name FROM product ORDER BY price LIMIT 3",
            "Name from product, only the 3 with the smallest price, smallest first.",
        ),
        (
            "SELECT name FROM product ORDER BY price DESC, name LIMIT 3 OFFSET 2",
            "Name from product, sorted by price descending then name ascending, only the first 3 rows after the"
            " first 2.",
        ),
        (
            "SELECT name FROM customer WHERE id NOT IN (SELECT customer_id FROM orders WHERE note LIKE '%x%')",
            "Name from customer where id is not among (customer id from orders where note contains 'x').",
        ),
        (
            "SELECT name FROM customer INTERSECT SELECT name FROM product",
            "Rows that are both in (name from customer) and in (name from product).",
        ),
        (
            "SELECT a.name FROM customer a LEFT JOIN customer b ON a.manager_id = b.id WHERE b.id IS NULL",
            "Name of customer 'a' from customer 'a', with customer 'b' where there is one (manager id of customer 'a'"
            " is id of customer 'b') where id of customer 'b' is missing.",
        ),
        (
            "SELECT count(DISTINCT country) FROM customer WHERE NOT (name = 'a' OR name LIKE 'b%')",
            "The number of different values of country from customer where it is not so that (name is 'a' or name"
            " starts with 'b').",
        ),
        (
            "SELECT CASE WHEN price > 2 THEN 'dear' ELSE 'cheap' END FROM product",
            "'dear' if price is more than 2; otherwise 'cheap' from product.",
        ),
        (
            "WITH big AS (SELECT * FROM orders WHERE total > 9) SELECT count(*) FROM big",
            "The number of rows from big, where 'big' is all columns from orders where total is more than 9.",
        ),
        ("SELECT avg(price) FROM product WHERE price = NULL", None),
    ],
)
def test_meaning(sql: str, meaning: str | None) -> None:
    said = explain(read(sql, SHOP))
    assert said == meaning or (meaning is None and "never holds" in said)


@pytest.mark.parametrize("sql", IDIOMS)
def test_every_idiom_has_words(sql: str) -> None:
    said = explain(read(sql, SHOP))
    assert said.endswith(".")
    assert "\n" not in said


_CHANGES = [
    ("price > 2", "price >= 2"),
    ("price > 2", "NOT price > 2"),
    ("price > 2", "price > 3"),
    (" AND ", " OR "),
    ("avg(quantity)", "sum(quantity)"),
    ("avg(quantity)", "avg(DISTINCT quantity)"),
    ("LEFT JOIN", "JOIN"),
    ("p.id = i.product_id", "p.id = i.order_id"),
    ("LIKE 'p%'", "LIKE '%p'"),
    ("LIKE 'p%'", "NOT LIKE 'p%'"),
    ("HAVING count(*) > 1", ""),
    ("GROUP BY p.name", "GROUP BY p.id"),
    (" DESC", ""),
    ("LIMIT 5", "LIMIT 6"),
    (" OFFSET 2", ""),
    ("SELECT p.name", "SELECT DISTINCT p.name"),
]


@pytest.mark.parametrize(("old", "new"), _CHANGES)
def test_what_changes_the_result_changes_the_words(old: str, new: str) -> None:
    sql = (
        "SELECT p.name, avg(quantity) FROM product p LEFT JOIN item i ON p.id = i.product_id"
        " WHERE price > 2 AND p.name LIKE 'p%' GROUP BY p.name HAVING count(*) > 1"
        " ORDER BY 2 DESC LIMIT 5 OFFSET 2"
    )
    assert old in sql
    assert explain(read(sql.replace(old, new), SHOP)) != explain(read(sql, SHOP))


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(queries())
def test_the_same_query_has_the_same_words(sql: str) -> None:
    assert explain(read(sql, SHOP)) == explain(read(sql, SHOP))


@pytest.mark.parametrize(
    ("sql", "meaning"),
    [
        ("SELECT avg(delay_minutes), sum(price_eur) FROM trip", "The average delay and the total price eur from trip."),
        # A unit is said where it is counted with, and where nothing else tells columns apart.
        ("SELECT 60 * avg(delay_minutes) FROM trip", "60 times the average delay minutes from trip."),
        ("SELECT delay_minutes FROM trip", "Delay minutes from trip."),
        (
            "SELECT kind FROM trip GROUP BY kind HAVING max(delay_minutes) > 5",
            "Kind from trip, for each kind, only groups where the largest delay minutes is more than 5.",
        ),
        ("SELECT max(discount_pct) FROM trip", "The largest discount pct from trip."),
    ],
)
def test_a_sum_is_said_without_its_unit(sql: str, meaning: str) -> None:
    names = ("kind", "delay_minutes", "price_eur", "price_usd", "discount_pct")
    trip = TableSchema("trip", tuple(ColumnSchema(name, "REAL", "number") for name in names))
    assert explain(read(sql, Schema("trips", (trip,)))) == meaning


def test_what_cannot_be_parsed_has_no_meaning() -> None:
    with pytest.raises(SQLParseError):
        explain(read("SELECT FROM", SHOP))
    with pytest.raises(SQLParseError, match="deeply"):
        explain(read("SELECT " + " + ".join(["1"] * 3000), SHOP))
