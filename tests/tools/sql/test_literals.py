"""What a query looks for, and whether the database has it."""

from __future__ import annotations

import pytest
from tableturn.tools.sql import searched_literals

from .shop import ROWS, SHOP


class Rows:
    """Contents of the shop's customers: only their countries and names."""

    def holds(self, table: str, column: str, text: str) -> bool:
        place = {"name": 1, "country": 2, "birth year": 3}[column]
        return table == "customer" and any(str(row[place]) == text for row in ROWS["customer"])

    def matches(self, table: str, column: str, pattern: str) -> bool:
        return self.holds(table, column, pattern.strip("%"))


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("country = 'USA'", {("country", "usa", True)}),
        ('T1.country = "America"', {("country", "america", False)}),
        ("'Ann' = name", {("name", "ann", True)}),
        ("country IN ('France', 'Gaul')", {("country", "france", True), ("country", "gaul", False)}),
        ("country LIKE '%USA%'", {("country", "usa", True)}),
        ('"birth year" = 1980', {("birth year", "1980", True)}),
        ('"birth year" > 1980', set[tuple[str, str, bool]]()),
        ("id IN (SELECT id FROM customer WHERE country != 'Gaul')", {("country", "gaul", False)}),
        ("upper(country) = 'USA'", set[tuple[str, str, bool]]()),
    ],
)
def test_searched_literals(condition: str, found: set[tuple[str, str, bool]]) -> None:
    texts = searched_literals(f"SELECT id FROM customer AS T1 WHERE {condition}", SHOP, Rows())
    assert {(text.column, text.text, text.held) for text in texts} == found


def test_what_cannot_be_parsed_looks_for_nothing() -> None:
    assert searched_literals("SELECT FROM WHERE", SHOP, Rows()) == ()
