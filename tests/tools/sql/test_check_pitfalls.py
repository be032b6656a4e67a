"""What a reader may wish to know of a query that is not wrong for it."""

from dataclasses import replace

import pytest
from tableturn.tools.database import Schema
from tableturn.tools.sql import PITFALLS, check

from .shop import SHOP


def holding(column: str, *samples: str) -> Schema:
    tables = [
        replace(
            table,
            columns=tuple(replace(held, samples=samples) if held.name == column else held for held in table.columns),
        )
        for table in SHOP.tables
    ]
    return replace(SHOP, tables=tuple(tables))


def kinds(sql: str, schema: Schema = SHOP) -> list[str]:
    return [finding.kind for finding in check(sql, schema) if finding.kind in PITFALLS]


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT name FROM product LIMIT 3", ["unordered_limit"]),
        ("SELECT name FROM product ORDER BY price LIMIT 3", []),
        ("SELECT name FROM product WHERE id IN (SELECT product_id FROM item LIMIT 1)", []),
        (
            "SELECT c.name FROM customer c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.total > 5",
            ["lost_outer_rows"],
        ),
        ("SELECT c.name FROM customer c LEFT JOIN orders o ON o.customer_id = c.id AND o.total > 5", []),
        ("SELECT c.name FROM customer c LEFT JOIN orders o ON o.customer_id = c.id WHERE o.id IS NULL", []),
        ("SELECT c.name FROM customer c LEFT JOIN orders o ON o.customer_id = c.id WHERE c.country = 'France'", []),
    ],
)
def test_pitfalls(sql: str, found: list[str]) -> None:
    assert kinds(sql) == found


def test_numbers_held_as_text_are_put_in_order_letter_by_letter() -> None:
    sql = "SELECT id FROM orders ORDER BY note"
    assert kinds(sql, holding("note", "9", "10")) == ["text_order"]
    assert kinds(sql.replace("note", "CAST(note AS REAL)"), holding("note", "9", "10")) == []
    assert kinds(sql, holding("note", "2019", "2020")) == []
    assert kinds(sql, holding("note", "9", "ten")) == []


def test_a_padded_key_is_told() -> None:
    sql = "SELECT o.id FROM orders o JOIN customer c ON o.note = c.country"
    padded = holding("note", " FR", "DE ")
    tables = tuple(replace(table, columns=tuple(
        replace(held, samples=("FR", "DE")) if held.name == "country" else held for held in table.columns
    )) for table in padded.tables)  # fmt: skip
    assert kinds(sql, replace(padded, tables=tables)) == ["padded_key"]
    assert kinds(sql, holding("note", "FR")) == []
