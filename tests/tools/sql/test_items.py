from dataclasses import replace

import pytest
from tableturn.tools.sql import find_used_schema_items

from tests.support.queries import read

from .shop import SHOP


@pytest.mark.parametrize(
    ("sql", "tables", "columns"),
    [
        ("SELECT * FROM CUSTOMER", {"customer"}, {"customer.*"}),
        ("SELECT count(*) FROM customer", {"customer"}, set[str]()),
        ('SELECT NAME FROM customer WHERE country = "France"', {"customer"}, {"customer.name", "customer.country"}),
        ("SELECT c.*, o.id FROM customer c, orders o", {"customer", "orders"}, {"customer.*", "orders.id"}),
        (
            'SELECT name FROM customer WHERE id IN (SELECT customer_id FROM orders WHERE total > "birth year")',
            {"customer", "orders"},
            {"customer.name", "customer.id", "orders.customer_id", "orders.total", "customer.birth year"},
        ),
        (
            "SELECT note FROM customer JOIN orders USING (id)",
            {"customer", "orders"},
            {"orders.note", "customer.id", "orders.id"},
        ),
        ("WITH b AS (SELECT name AS n FROM product) SELECT n FROM b ORDER BY n", {"product"}, {"product.name"}),
        ("SELECT x FROM nowhere", set[str](), set[str]()),
    ],
)
def test_used_items(sql: str, tables: set[str], columns: set[str]) -> None:
    used = find_used_schema_items(sql, SHOP)
    assert used.tables == tables
    assert {f"{table}.{column}" for table, column in used.columns} == columns


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_columns_that_an_alias_renames_are_the_tables_own(dialect: str) -> None:
    schema = replace(SHOP, dialect=dialect)
    sql = "SELECT x FROM customer AS c (a, x) WHERE c.a = 1"
    assert find_used_schema_items(sql, schema).columns == {("customer", "id"), ("customer", "name")}
    query = read(sql, schema)
    assert {(table, column) for table, column, _ in query.usage.roles} == query.usage.columns
