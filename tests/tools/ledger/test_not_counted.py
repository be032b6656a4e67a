"""What is not counted is said, and what is right is not told."""

from __future__ import annotations

from typing import Any

import pytest
from tableturn.tools.database import Database
from tableturn.tools.labels import IN_ENGLISH
from tableturn.tools.ledger import NotCountedError, build_query_ledger
from tableturn.tools.sql import read_query

from tests.tools.ledger.sales import keep


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("SELECT COUNT(*) FROM sale s JOIN product p ON p.id > s.product_id", "no table has one row"),
        ("SELECT COUNT(*) FROM sale CROSS JOIN product", "no table has one row"),
        (
            "SELECT COUNT(*) FROM (SELECT id, product_id, ROW_NUMBER() OVER (ORDER BY id) AS n FROM sale) AS s"
            " JOIN product p ON p.id = s.product_id",
            "window function",
        ),
        (
            "SELECT name FROM product p WHERE 1 < (SELECT COUNT(*) FROM sale s JOIN shop h ON h.code = s.shop"
            " WHERE s.product_id = p.id)",
            "correlated",
        ),
        (
            "WITH RECURSIVE up AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM up WHERE n < 3)"
            " SELECT COUNT(*) FROM up JOIN product p ON p.id = up.n",
            "recursive",
        ),
        ("SELECT COUNT(*) FROM sale s RIGHT JOIN product p ON p.id = s.product_id", "another kind"),
        ("SELECT COUNT(*) FROM (sale s JOIN product p ON p.id = s.product_id)", "its joins are in parentheses"),
        ("SELECT COUNT(*) FROM sale s JOIN product p ON COALESCE(p.id, 0) = s.product_id", "no table has one row"),
        (
            "SELECT COUNT(*) FROM payment y LEFT JOIN sale s ON s.id = y.sale_id AND s.amount > 1"
            " JOIN product p ON p.id = s.product_id",
            "a LEFT JOIN with a further condition",
        ),
        (
            "SELECT COUNT(*) FROM sale s JOIN (SELECT * FROM label) l ON l.product_id = s.product_id AND l.lang = 'en'",
            "a part of the key of a sub-query",
        ),
        ("SELECT COUNT(*) FROM payment WHERE sale_id IN (SELECT id FROM sale)", "no match in sale"),
        ("SELECT COUNT(*) FROM sale s WHERE EXISTS (SELECT 1 FROM payment y WHERE y.sale_id = s.id)", "in payment"),
        ("SELECT COUNT(*) FROM sale s WHERE s.id > 3 OR s.id IN (SELECT sale_id FROM payment)", "in payment"),
        *(
            (
                f"SELECT s.id FROM sale s JOIN product p ON p.id = s.product_id {union} SELECT s.id FROM {others}",
                "another part of the query reads these rows too",
            )
            for union in ("UNION", "UNION ALL", "EXCEPT")
            for others in ("sale s", "sale s JOIN shop h ON h.code = s.shop")
        ),
        *(
            (sql.format("SELECT s.id FROM sale s JOIN product p ON p.id = s.product_id"), "part of the query reads")
            for sql in (
                "WITH a AS ({0}), b AS (SELECT s.id FROM sale s JOIN shop h ON h.code = s.shop WHERE s.product_id > 9)"
                " SELECT * FROM a UNION SELECT * FROM b",
                "WITH a AS ({0}) SELECT COUNT(*) FROM sale WHERE id NOT IN (SELECT id FROM a)",
                "SELECT COUNT(*) FROM sale WHERE id = 15 OR id IN ({0})",
                "SELECT (SELECT COUNT(*) FROM sale) - (SELECT COUNT(*) FROM ({0}) AS a)",
            )
        ),
        (
            "SELECT id FROM sale WHERE id NOT IN (SELECT s.id FROM sale s JOIN sale b ON b.id = s.boss)",
            "part of the query reads",
        ),
        ("SELECT p.name, (SELECT COUNT(*) FROM sale s WHERE s.product_id = p.id) FROM product p", "correlated"),
    ],
)
def test_what_is_not_counted_is_said(sales: Database, sql: str, reason: str) -> None:
    ledger = keep(sales, sql)
    assert any(reason in said for said in ledger.not_counted)
    assert not ledger.joins


@pytest.mark.parametrize(
    "sql",
    [
        "{} WHERE s.id > (SELECT AVG(id) - 99 FROM sale)",
        "SELECT COUNT(*) FROM sale WHERE id IN ({})",
        "SELECT 1 AS one, COUNT(*) FROM ({}) AS a UNION SELECT 2, COUNT(*) FROM sale",
        "SELECT COUNT(*) FROM ({}) AS a JOIN sale s ON s.id = a.id",
    ],
)
def test_rows_are_lost_though_the_table_is_read_again(sales: Database, sql: str) -> None:
    ledger = keep(sales, sql.format("SELECT s.id FROM sale s JOIN product p ON p.id = s.product_id"))
    assert [join.lost for join in ledger.joins if join.table == "product"] == [6]


def test_rows_that_a_left_join_adds_to_all_are_not_lost(sales: Database) -> None:
    inner = "SELECT s.id, p.kind FROM sale s JOIN product p ON p.id = s.product_id"
    ledger = keep(sales, f"SELECT s.id, a.kind FROM sale s LEFT JOIN ({inner}) AS a ON a.id = s.id")
    assert all(join.kept for join in ledger.joins)


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT EXISTS (SELECT 1 FROM sale WHERE id = 3)", []),
        ("SELECT 1 WHERE 3 IN (SELECT id FROM sale)", []),
        (
            "SELECT COUNT(*) FROM sale WHERE id IN (SELECT 3)",
            ["the rows of sale that have no match in a sub-query: a condition looks for it"],
        ),
    ],
)
def test_what_is_not_counted_has_a_name(sales: Database, sql: str, said: list[str]) -> None:
    assert [*keep(sales, sql).not_counted] == said


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM product WHERE id IN (SELECT product_id FROM sale)",
        "SELECT name FROM product p WHERE EXISTS (SELECT 1 FROM sale s WHERE s.product_id = p.id)",
        "SELECT p.name FROM product p LEFT JOIN sale s ON s.product_id = p.id WHERE s.id IS NULL",
        "SELECT a.id, b.id FROM sale a JOIN sale b ON b.id = a.boss",
        "SELECT 1",
    ],
)
def test_nothing_is_told_where_nothing_is_lost(sales: Database, sql: str) -> None:
    assert not keep(sales, sql).list_facts(IN_ENGLISH, material=True)


def test_what_cannot_be_run_in_time_is_not_counted(sales: Database) -> None:
    def count(_: str) -> Any:
        raise NotCountedError("its time was over")

    sql = "SELECT kind, COUNT(*) FROM sale s JOIN product p ON p.id = product_id GROUP BY kind"
    ledger = build_query_ledger(read_query(sql, sales.schema()), count)
    assert (ledger.joins, ledger.nulls, ledger.variants) == ((), (), ())
    assert ledger.not_counted == (
        "the rows of sale, product: its time was over",
        "the rows of product that are left out: its time was over",
        "variants of product.kind: its time was over",
    )


def test_an_equality_beside_the_key_of_partners_is_a_condition(sales: Database) -> None:
    joined = "SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id {} p.kind = s.shop"
    beside, after = (keep(sales, joined.format(word)) for word in ("AND", "WHERE"))
    assert (beside.joins, beside.line) == (after.joins, after.line)
    assert [(join.lost, join.rows) for join in beside.joins] == [(4, 20)]
    whole = keep(sales, "SELECT COUNT(*) FROM sale s JOIN label l ON l.product_id = s.product_id AND l.lang = s.shop")
    assert [join.lost for join in whole.joins] == [20]  # it is a part of the key
