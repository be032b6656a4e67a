"""What a reader may wish to know of a query that is not wrong for it."""

from dataclasses import replace

import pytest
from tableturn.tools.database import Schema
from tableturn.tools.sql import check

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
    return [
        finding.kind
        for finding in check(sql, schema)
        if finding.kind in ("text_order", "padded_key", "lost_outer_rows")
    ]


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ("SELECT name FROM product LIMIT 3", []),
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
    assert kinds(sql, holding("note", "22.7%", "28.0%", "9.1%")) == ["text_order"]
    assert kinds(sql, holding("note", "22.7%", "28.0%")) == [], "they go in the same order"
    assert kinds(sql, holding("note", "3:45", "10:12")) == ["text_order"]
    assert kinds(sql, holding("note", "3:45", "2:56")) == []


@pytest.mark.parametrize(
    ("sql", "samples"),
    [
        ("SELECT max(note) FROM orders", ("9", "", "10")),
        ("SELECT id FROM orders ORDER BY note DESC", ("1,200", "15")),
        ("SELECT id FROM orders WHERE note > '$5'", ("$3", "$12")),
        ("SELECT id FROM orders WHERE note BETWEEN '1/2/2020' AND '1/3/2020'", ("4/25/2008", "", "12/1/2009")),
        ("SELECT min(note) FROM orders", ("2008-04-25", "2008/05/01")),
    ],
)
def test_order_of_what_is_held_as_text_is_asked_after(sql: str, samples: tuple[str, ...]) -> None:
    (finding,) = (one for one in check(sql, holding("note", *samples)) if one.kind == "text_order")
    assert finding.severity == "info"
    assert finding.message.endswith("?")
    assert not finding.proof
    assert kinds("SELECT id FROM orders WHERE note = '9'", holding("note", *samples)) == []


def test_a_padded_key_is_told() -> None:
    sql = "SELECT o.id FROM orders o JOIN customer c ON o.note = c.country"
    padded = holding("note", " FR", "DE ")
    tables = tuple(replace(table, columns=tuple(
        replace(held, samples=("FR", "DE")) if held.name == "country" else held for held in table.columns
    )) for table in padded.tables)  # fmt: skip
    assert kinds(sql, replace(padded, tables=tables)) == ["padded_key"]
    assert kinds(sql, holding("note", "FR")) == []
    mixed = replace(padded, tables=tables)
    assert kinds(sql.replace("o.note", "c.name"), mixed) == []
