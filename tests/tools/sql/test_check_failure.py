"""Queries that SQLite refuses: foreseen, with SQLite's reason, and with what to write instead."""

import sqlite3

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema
from tableturn.tools.database.sqlite.functions import PROFILE
from tableturn.tools.sql import Finding, check

from .random_queries import queries
from .shop import SHOP, connect


def _errors(sql: str) -> list[Finding]:
    return [finding for finding in check(sql, SHOP) if finding.severity == "error" and finding.kind != "always_empty"]


@pytest.mark.parametrize(
    ("sql", "kind", "place", "suggestion"),
    [
        ("SELECT name FROM custmer", "unknown_table", "custmer", "use customer"),
        ("SELECT nme FROM customer", "unknown_column", "nme", "use name"),
        ("SELECT c.nme FROM customer AS c", "unknown_column", "c.nme", "use name"),
        ("SELECT note FROM customer", "unknown_column", "note", "join it ON orders.customer_id = customer.id"),
        ("SELECT price FROM customer", "unknown_column", "price", "item.order_id = orders.id"),
        ("SELECT orders.note FROM customer", "unknown_column", "orders.note", "join orders ON orders.customer_id"),
        ("SELECT customer.name FROM customer AS C1", "unknown_column", "customer.name", "write C1.name"),
        ("SELECT x.name FROM customer AS C1", "unknown_column", "x.name", "write C1.name"),
        (
            "SELECT T1.total FROM customer AS T1 JOIN orders AS T2 ON T1.id = T2.customer_id",
            "unknown_column",
            "T1.total",
            "use T2.total",
        ),
        ("SELECT zzz FROM item", "unknown_column", "zzz", "the columns are order_id, product_id, quantity"),
        ("SELECT name FROM customer JOIN product", "ambiguous_column", "name", "customer.name or product.name"),
        ("SELECT name FROM customer WHERE count(*) > 1", "aggregate_misuse", "COUNT(*)", "HAVING"),
        ("SELECT sum(max(id)) FROM customer", "aggregate_misuse", "", ""),
        ("SELECT name FROM customer HAVING id > 1", "aggregate_misuse", "HAVING", "GROUP BY"),
        ("SELECT year(placed) FROM orders", "unknown_function", "year", "strftime('%Y', ...)"),
        ("SELECT frobnicate(id) FROM orders", "unknown_function", "frobnicate", ""),
        ("SELECT load_extension('x')", "rejected", "load_extension", ""),
        ("SELECT TOP 3 name FROM customer", "syntax", "3", "LIMIT"),
        ("SELECT name FROM customer WHERE id > = 3", "syntax", "=", "without a blank"),
        ("(SELECT 1) UNION (SELECT 2)", "syntax", "(", "without parentheses"),
        ("SELECT 1 ORDER BY 1 LIMIT 1 UNION SELECT 2", "syntax", "", "at the very end"),
        ("SELECT 1 UNION SELECT 2, 3", "syntax", "", "as many columns"),
        ("SELECT 1 FROM item WHERE 1 IN (SELECT 1, 2)", "syntax", "", "one column"),
        ("SELECT FROM WHERE", "syntax", "FROM", "just before FROM"),
        ("SELECT order FROM product", "syntax", "order", 'double quotes: "order"'),
        ("SELECT name FROM customer WHERE (id = 1", "syntax", "", "breaks off"),
        ("SELECT count(id)) FROM customer WHERE name = '('", "syntax", ")", "1 opening and 2 closing"),
        ("Here is the SQL: SELECT 1", "syntax", "Here", "start with SELECT"),
        ("SELECT name FROM customer WHERE name ILIKE 'a'", "syntax", "ILIKE", "LIKE"),
        ("SELECT id::text FROM customer", "syntax", "", "CAST"),
        ("", "syntax", "", ""),
        ("SELECT name FROM customer LIMIT 'x'", "other", "LIMIT 'x'", "whole number"),
        ("SELECT name FROM customer LIMIT 2 OFFSET 1.5", "other", "OFFSET 1.5", "whole number"),
        ("SELECT 1; SELECT 2", "rejected", "", "one"),
        ("DROP TABLE customer", "rejected", "", ""),
    ],
)
def test_foreseen_failures(sql: str, kind: str, place: str, suggestion: str) -> None:
    found = check(sql, SHOP)[0]
    assert (found.kind, found.severity, found.place) == (kind, "error", place)
    assert suggestion in found.suggestion


@pytest.mark.parametrize(
    "sql",
    [
        "WITH big AS (SELECT id FROM orders) SELECT name FROM customer WHERE id IN big",
        "WITH big AS (SELECT id FROM orders) SELECT name FROM customer WHERE id NOT IN big",
        "SELECT name FROM customer WHERE id IN json_each('[1]', '$.a') OR 1",
    ],
)
def test_a_table_after_in_is_one(sql: str) -> None:
    assert [found.kind for found in _errors(sql)] in ([], ["syntax"])


def test_an_unknown_table_after_in_is_found() -> None:
    assert [(found.kind, found.place) for found in _errors("SELECT name FROM customer WHERE id IN ordrs")] == [
        ("unknown_table", "ordrs")
    ]


def test_a_table_found_elsewhere_is_a_join_away() -> None:
    sql = "SELECT name FROM customer WHERE EXISTS (SELECT 1 FROM orders AS o) AND o.total > 3"
    assert "join orders ON orders.customer_id = customer.id" in check(sql, SHOP)[0].suggestion


def test_what_sqlite_accepts_is_no_error() -> None:
    for sql in (
        'SELECT "nobody" FROM customer',
        "SELECT rowid FROM customer",
        "SELECT name FROM customer GROUP BY 1",
        "SELECT name FROM customer LIMIT '2' OFFSET 1.0",
        "SELECT name FROM customer LIMIT -1 OFFSET 1 + 1",
    ):
        assert not _errors(sql)


def test_the_full_text_of_a_virtual_table_is_left_to_the_database() -> None:
    notes = TableSchema("notes", (ColumnSchema("body", "TEXT"),), kind="virtual")
    schema = Schema("s", (notes,))
    assert check("SELECT rank FROM notes WHERE notes MATCH 'x' ORDER BY bm25(notes)", schema) == ()
    assert check("SELECT body FROM notse", schema)[0].kind == "unknown_table"


@st.composite
def _mutants(draw: st.DrawFn) -> str:
    """A query with one word misspelt, dropped or swapped."""
    words = draw(queries()).split(" ")
    index = draw(st.integers(0, len(words) - 1))
    kind = draw(st.integers(0, 3))
    if kind == 0:
        words[index] += draw(st.sampled_from(["s", "x", ")", ","]))
    elif kind == 1:
        del words[index]
    elif kind == 2:
        words[index] = draw(st.sampled_from(["name", "customer.id", "nope", "count(*)", "orders", "(", "UNION"]))
    else:
        other = draw(st.integers(0, len(words) - 1))
        words[index], words[other] = words[other], words[index]
    return " ".join(words)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(_mutants())
def test_mutants_fail_exactly_when_foreseen_and_for_the_same_reason(sql: str) -> None:
    connection = connect()
    try:
        connection.execute(f"EXPLAIN {sql}").fetchall()
        failure = None
    except (sqlite3.Error, sqlite3.Warning) as error:
        failure = "rejected" if "one statement" in str(error) else PROFILE.find_error_kind(str(error)) or "other"
    finally:
        connection.close()
    foreseen = _errors(sql)
    assert (foreseen[0].kind if foreseen else None) == failure


_DOUBLING = "WITH c0 AS (SELECT 1 AS x)" + "".join(
    f", c{i} AS (SELECT a.x FROM c{i - 1} AS a, c{i - 1} AS b)" for i in range(1, 60)
)


@pytest.mark.parametrize(
    ("sql", "severity"),
    [
        (_DOUBLING + " SELECT * FROM c59", "warning"),
        (_DOUBLING + " SELECT * FROM c59 FETCH FIRST 3 ROWS ONLY", "warning"),
        ("SELECT " + ", ".join(f"rank() OVER (ORDER BY id + {i})" for i in range(700)) + " FROM customer", "error"),
        ("SELECT " + "(" * 3000 + "1" + ")" * 3000, "error"),
        (" UNION ALL ".join(["SELECT 1"] * 300), "error"),
    ],
)
def test_what_takes_long_to_compile_is_not_compiled(sql: str, severity: str) -> None:
    found = check(sql, SHOP)
    assert (found[0].kind, found[0].severity) == ("too_large", severity)


def test_one_near_name_is_an_order_and_several_are_a_question() -> None:
    near = TableSchema("staff", (ColumnSchema("first_name", "TEXT"), ColumnSchema("last_name", "TEXT")))
    (several,) = check("SELECT name FROM staff", Schema("s", (near,)))
    assert several.suggestion == "did you mean first_name or last_name?"
    (one,) = check("SELECT frst_name FROM staf", Schema("s", (near,)))[:1]
    assert one.suggestion == "use staff"
