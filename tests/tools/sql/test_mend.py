"""Misspelt names that can only mean one thing."""

from __future__ import annotations

import pytest
from tableturn.tools.database import ColumnSchema, Schema, TableSchema
from tableturn.tools.sql import mend_names


def _table(name: str, *columns: str) -> TableSchema:
    return TableSchema(name, tuple(ColumnSchema(column) for column in columns))


_SCHEMA = Schema(
    "shop",
    (
        _table("customers", "customer_id", "full_name", "city"),
        _table("orders", "order_id", "customer_id", "order date"),
        _table("invoices_old", "invoice_id"),
        _table("line1", "a1", "a2"),
    ),
)


@pytest.mark.parametrize(
    ("sql", "mended"),
    [
        ("SELECT city FROM custmers", "SELECT city FROM customers"),
        (
            "SELECT custmers.city FROM custmers WHERE city = 'Lyon'",
            "SELECT customers.city FROM customers WHERE city = 'Lyon'",
        ),
        ("SELECT c.fullname FROM customers AS c", "SELECT c.full_name FROM customers AS c"),
        ("SELECT order_date FROM orders", 'SELECT "order date" FROM orders'),
    ],
)
def test_mended(sql: str, mended: str) -> None:
    found = mend_names(sql, _SCHEMA, {"invoices_old"})
    assert found is not None
    assert found.sql == mended


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT invoice_id FROM invoice_old",  # only a table that is set aside is near
        "SELECT a3 FROM line1",  # two are as near
        "SELECT salary FROM customers",
        "SELECT city FROM customers",
        "SELECT FROM WHERE",
    ],
)
def test_left_alone(sql: str) -> None:
    assert mend_names(sql, _SCHEMA, {"invoices_old"}) is None
