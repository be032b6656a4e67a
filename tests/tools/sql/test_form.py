"""What a query's form says, and what of it another query takes away or turns round."""

from __future__ import annotations

import pytest
from tableturn.tools.sql import form


@pytest.mark.parametrize(
    ("sql", "than", "less"),
    [
        ("SELECT a FROM t", "SELECT a, b FROM t", True),
        ("SELECT t.a FROM t", "SELECT a AS b FROM t", False),
        ("SELECT c FROM t", "SELECT a FROM t", False),
        ("SELECT * FROM t", "SELECT a, b FROM t", False),
        ("SELECT max(T1.a) FROM t AS T1 GROUP BY b", "SELECT b, max(a) FROM t GROUP BY b", True),
        ("SELECT FROM", "SELECT a FROM t", True),
    ],
)
def test_fewer_columns(sql: str, than: str, *, less: bool) -> None:
    assert form(sql).gives_less(form(than)) is less


@pytest.mark.parametrize(
    ("sql", "other", "turned"),
    [
        ("a > 3", "a < 3", True),
        ("a >= 3", "T.a < 3", True),
        ("a > 3", "a >= 3", False),
        ("a > 3", "a < 4", False),
        ("a = 'x'", "a != 'x'", True),
        ("a = 'x'", "NOT a = 'x'", True),
        ("a LIKE 'x'", "a NOT LIKE 'x'", True),
        ("a = 'x'", "a LIKE 'x'", False),
        ("a > 3 AND a < 9", "a > 3", False),
    ],
)
def test_comparisons_turned_round(sql: str, other: str, *, turned: bool) -> None:
    one, two = (form(f"SELECT a FROM t AS T WHERE {condition}") for condition in (sql, other))
    assert one.turns_round(two) is turned
    assert two.turns_round(one) is turned


def test_an_order_turned_round() -> None:
    up, down, other = (form(f"SELECT a FROM t ORDER BY {order}") for order in ("a", "t.a DESC", "b DESC"))
    assert up.turns_round(down)
    assert not up.turns_round(other)


def test_what_makes_rows_appear_once_and_what_denies() -> None:
    assert form("SELECT count(DISTINCT a) FROM t").distinct
    grouped = form("SELECT a FROM t GROUP BY a")
    assert grouped.one_of_each
    assert not grouped.distinct
    assert not form("SELECT a FROM t").one_of_each
    for sql in ("a NOT IN (SELECT 1)", "a != 1", "a IS NULL"):
        assert form(f"SELECT a FROM t WHERE {sql}").negative
    assert form("SELECT a FROM t LEFT JOIN s ON t.a = s.a").negative
    assert not form("SELECT a FROM t WHERE a = 1").negative
