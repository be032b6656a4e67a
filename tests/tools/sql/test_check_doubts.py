"""Queries that run but are likely not what was meant."""

import pytest
from tableturn.tools.sql import Asked, check

from .shop import ROWS, SHOP

_COLUMNS = {table.name: [column.name for column in table.columns] for table in SHOP.tables}


class Held:
    """What the shop's columns hold."""

    def _values(self, table: str, column: str) -> list[str]:
        index = _COLUMNS[table].index(column)
        return [str(row[index]) for row in ROWS[table] if row[index] is not None]

    def holds(self, table: str, column: str, text: str) -> bool:
        return text in self._values(table, column)

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        alike = [value for value in dict.fromkeys(self._values(table, column)) if value[:2].lower() == text[:2].lower()]
        return tuple(alike[:limit])


def _found(sql: str, question: str = "") -> list[tuple[str, str, str]]:
    findings = check(sql, SHOP, values=Held(), asked=Asked(question) if question else None)
    return [(finding.kind, finding.severity, finding.suggestion) for finding in findings]


@pytest.mark.parametrize(
    ("sql", "kind", "severity", "suggestion"),
    [
        (
            "SELECT customer.name FROM customer, orders",
            "cartesian_product",
            "warning",
            "orders.customer_id = customer.id",
        ),
        ("SELECT c.name FROM customer c JOIN product p", "missing_join", "warning", "item.product_id = product.id"),
        (
            "SELECT c.name FROM customer c JOIN orders o ON c.id = o.id",
            "suspicious_join",
            "warning",
            "ON orders.customer_id = customer.id",
        ),
        ("SELECT name, count(*) FROM customer", "bare_column", "warning", "GROUP BY name"),
        ("SELECT name, count(*) FROM customer GROUP BY country", "bare_column", "info", "name to GROUP BY"),
        ("SELECT sum(name) FROM customer", "type_mismatch", "info", ""),
        ("SELECT name FROM product WHERE price > 'cheap'", "type_mismatch", "warning", ""),
        ("SELECT name FROM customer WHERE country > 5", "type_mismatch", "warning", "CAST(country AS REAL)"),
        ("SELECT name FROM customer WHERE country = 'france'", "unknown_value", "warning", "'France'"),
        ('SELECT name FROM customer WHERE country IN ("Franc")', "unknown_value", "warning", "'France'"),
        ("SELECT name FROM customer WHERE country = NULL", "always_empty", "error", "country IS NULL"),
        ("SELECT name FROM customer WHERE name = 'Ann' AND name = 'Cy'", "always_empty", "error", "INTERSECT"),
        ("SELECT name FROM product WHERE price BETWEEN 9 AND 2", "always_empty", "error", ""),
        ("SELECT name FROM product WHERE 1 = 0", "always_empty", "error", ""),
        ("SELECT name FROM product LIMIT 0", "always_empty", "error", "leave LIMIT out"),
    ],
)
def test_doubts(sql: str, kind: str, severity: str, suggestion: str) -> None:
    matching = [found for found in _found(sql) if found[0] == kind]
    assert matching
    assert matching[0][1] == severity
    assert suggestion in matching[0][2]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT customer.name FROM customer JOIN orders ON customer.id = orders.customer_id",
        "SELECT customer.name FROM customer, orders WHERE customer.id = orders.customer_id",
        "SELECT name, total FROM customer NATURAL JOIN (SELECT id, total FROM orders)",
        "SELECT name FROM product, (SELECT avg(price) AS mean FROM product) AS a",
        "SELECT p.name FROM product AS p, json_each(p.data) AS j",
        "SELECT a.name FROM customer a JOIN customer b ON a.manager_id = b.id",
        "SELECT a.quantity FROM item a JOIN item b ON a.order_id = b.order_id",
        "SELECT c.name, count(*) FROM customer c JOIN orders o ON c.id = o.customer_id GROUP BY o.customer_id",
        "SELECT country AS c, count(*) FROM customer GROUP BY c",
        "SELECT country, count(*) FROM customer GROUP BY 1",
        "SELECT name, max(price) FROM product",
        "SELECT total(price), count(*) FROM product",
        "SELECT count(*) FILTER (WHERE price > 2), avg(price) FROM product",
        "SELECT a.n, b.n FROM (SELECT count(*) AS n FROM item) AS a, (SELECT total(price) AS n FROM product) AS b",
        "SELECT country, count(*) FROM customer WHERE country = 'France'",
        "SELECT name, row_number() OVER (ORDER BY id) FROM product",
        "SELECT name FROM customer WHERE country = 'France' OR country = 'USA'",
        "SELECT name FROM customer WHERE country = 'France' AND name != 'France'",
        "SELECT name FROM customer WHERE name = 'Ann' AND EXISTS (SELECT 1 FROM customer WHERE name = 'Cy')",
        "SELECT name FROM product WHERE price > '1.5'",
        "SELECT name FROM customer WHERE name LIKE 'z%'",
    ],
)
def test_nothing_to_doubt(sql: str) -> None:
    assert [found for found in _found(sql) if found[0] != "unknown_value"] == []


@pytest.mark.parametrize(
    ("question", "sql", "message"),
    [
        ("How many customers are there?", "SELECT name FROM customer", "asks how many"),
        ("Which country has the most customers?", "SELECT country, count(*) FROM customer GROUP BY 1", "also returns"),
        ("What is the average price?", "SELECT sum(price) FROM product", "average"),
        ("What are the name and country of all customers?", "SELECT name FROM customer", "returns 1 column"),
        ("Show the name and country of customers", "SELECT id, name, country FROM customer", "returns 3 columns"),
        ("List the name and country of customers", "SELECT * FROM customer", "all columns"),
    ],
)
def test_outputs_that_do_not_fit_the_question(question: str, sql: str, message: str) -> None:
    findings = [f for f in check(sql, SHOP, asked=Asked(question)) if f.kind == "output_columns"]
    assert len(findings) == 1
    assert message in findings[0].message


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("How many customers are there?", "SELECT count(*) FROM customer"),
        ("How many products are there in each order?", "SELECT order_id, sum(quantity) FROM item GROUP BY order_id"),
        ("Which countries have how many customers?", "SELECT country, count(*) FROM customer GROUP BY country"),
        ("What are the name and country of all customers?", "SELECT name, country FROM customer"),
        ("Show the name and country of customers, and their id", "SELECT name, country, id FROM customer"),
        ("What is the age and shoe size of customers?", "SELECT name FROM customer"),
        ("", "SELECT name FROM customer"),
    ],
)
def test_outputs_that_fit_the_question(question: str, sql: str) -> None:
    assert [f for f in check(sql, SHOP, asked=Asked(question)) if f.kind == "output_columns"] == []


def test_errors_come_first_and_nothing_comes_twice() -> None:
    sql = "SELECT customer.name FROM customer, orders WHERE customer.name = NULL"
    findings = check(sql, SHOP)
    assert [finding.severity for finding in findings] == ["error", "warning"]
    assert len(set(findings)) == len(findings)
