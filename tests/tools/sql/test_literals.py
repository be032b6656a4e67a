"""What a query looks for, and whether the database has it."""

from __future__ import annotations

import pytest
from tableturn.tools.sql import searched_literals, writes

from .shop import ROWS, SHOP


class Rows:
    """Contents of the shop's customers: only their countries and names."""

    def holds(self, table: str, column: str, text: str) -> bool:
        place = {"name": 1, "country": 2, "birth year": 3}[column]
        return table == "customer" and any(str(row[place]) == text for row in ROWS["customer"])

    def matches(self, table: str, column: str, pattern: str, *, any_case: bool = False) -> bool:
        return self.holds(table, column, pattern.strip("%"))

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        return ()


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


@pytest.mark.parametrize(
    ("condition", "missing"),
    [
        ("country = 'Gaul'", {"gaul"}),
        ("country LIKE '%Gaul%'", {"gaul"}),
        ("country IN ('Gaul', 'Rome')", {"gaul", "rome"}),
        ("country IN ('France', 'Gaul')", set[str]()),
        ("country != 'Gaul'", set[str]()),
        ("country NOT IN ('Gaul')", set[str]()),
        ("NOT country LIKE 'Gaul%'", set[str]()),
        ("country = ''", set[str]()),
    ],
)
def test_a_literal_is_missing_if_rows_with_it_are_wanted(condition: str, missing: set[str]) -> None:
    texts = searched_literals(f"SELECT id FROM customer WHERE {condition}", SHOP, Rows())
    assert {text.text for text in texts if text.missing} == missing


CHANGING = (
    "TRUNCATE TABLE t",
    "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE",
    "GRANT SELECT ON t TO ada",
    "REVOKE ALL ON t FROM ada",
    "CALL tidy(1)",
    "VACUUM FULL t",
    "REINDEX TABLE t",
    "ANALYZE t",
    "COPY t FROM '/tmp/t.csv'",
    "DO $$ BEGIN DELETE FROM t; END $$",
    "REFRESH MATERIALIZED VIEW t",
    "LOCK TABLE t",
    "COMMENT ON TABLE t IS 'x'",
    "SET ROLE admin",
)


@pytest.mark.parametrize(
    ("sql", "changes"),
    [
        ("DELETE FROM t", True),
        ("WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone", True),
        ("SELECT replace(a, 'x', 'y') FROM t", False),
        ("SELECT 'DELETE FROM t'", False),
        ("PRAGMA table_info(t)", False),
        ("SELECT FROM (", False),
        ("EXPLAIN ANALYZE DELETE FROM t", True),
        ("SELECT a INTO kept FROM t", True),
        ("SELECT nextval('s')", True),
        ("SELECT setval('s', 5)", True),
        ("PRAGMA user_version = 5", True),
        ("SELECT comment, call, lock FROM t", False),
        *((sql, True) for sql in CHANGING),
    ],
)
def test_statements_that_change_something_are_known(sql: str, *, changes: bool) -> None:
    assert writes(sql, "duckdb") is changes
