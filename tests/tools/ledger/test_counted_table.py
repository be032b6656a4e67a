"""Which of the joined tables is the one whose rows count, and what its rows are called."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from tableturn.tools.database import Database
from tableturn.tools.labels import IN_ENGLISH

from tests.tools.ledger.sales import keep, lost

TABLES = """
CREATE TABLE region (id INTEGER PRIMARY KEY, name VARCHAR);
CREATE TABLE customer (id INTEGER PRIMARY KEY, region_id INTEGER REFERENCES region);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer, total INTEGER, coupon_id INTEGER,
    from_id INTEGER, to_id INTEGER);
CREATE TABLE refund (order_id INTEGER PRIMARY KEY REFERENCES orders, amount INTEGER);
CREATE TABLE payment (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES orders, paid INTEGER);
CREATE TABLE coupon (id INTEGER PRIMARY KEY, kind VARCHAR);
CREATE TABLE site (id INTEGER PRIMARY KEY, name VARCHAR);
CREATE TABLE claim (sale_no INTEGER, amount INTEGER);
CREATE TABLE legacy_sale (sale_no INTEGER, cust_no INTEGER);
CREATE TABLE legacy_cust (cust_no INTEGER, name VARCHAR);
"""
ROWS: dict[str, list[tuple[object, ...]]] = {
    "region": [(1, "north"), (2, "south")],
    "customer": [(n, n % 2 + 1) for n in range(1, 11)],
    # Of 100 orders 12 have a customer who is gone, 80 no coupon, 4 one that is gone, 3 and 2 a site that is gone.
    "orders": [
        (
            n,
            99 if n < 12 else n % 10 + 1,
            n,
            None if n % 5 else 9 if n < 20 else 1,
            9 if n > 96 else 1,
            9 if n > 97 else 2,
        )
        for n in range(100)
    ],
    "refund": [(n, 1) for n in range(5, 60)],  # 7 of them of orders whose customer is gone
    "payment": [(n, n // 2, 1) for n in range(140)],  # two of an order, none of 30 orders
    "coupon": [(1, "spring"), (2, "summer")],
    "site": [(1, "a"), (2, "b")],
    "claim": [(max(n, 2) if n % 6 else 900 + n, n) for n in range(60)],  # 10 of a sale that is gone
    # Nothing tells their rows apart for sure: the last one is there twice.
    "legacy_sale": [(n, n % 20) for n in (*range(100), 99)],
    "legacy_cust": [(n, f"c{n}") for n in (*range(20), 20, 20)],
}


@pytest.fixture(scope="module", params=["sqlite", "duckdb"])
def shop(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path = tmp_path_factory.mktemp("shop") / f"shop.{request.param}"
    tables = TABLES if request.param == "sqlite" else TABLES.replace(" REFERENCES customer", "")
    connect = sqlite3.connect if request.param == "sqlite" else duckdb.connect
    with closing(connect(str(path))) as connection:
        for statement in filter(str.strip, tables.split(";")):
            connection.execute(statement)
        for table, rows in ROWS.items():
            connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)
        connection.commit()
    with Database.open(path) as database:
        yield database


SUMS = "(SELECT order_id, SUM(amount) AS amount FROM refund GROUP BY order_id)"


@pytest.mark.parametrize("refund", ["refund", SUMS])
@pytest.mark.parametrize("output", ["SUM(o.total - COALESCE(r.amount, 0))", "SUM(o.total) - SUM(r.amount)"])
def test_the_optional_side_of_a_left_join_is_not_counted_where_the_other_is(
    shop: Database, refund: str, output: str
) -> None:
    ledger = keep(shop, f"SELECT g.name, {output} FROM orders o JOIN customer c ON c.id = o.customer_id"
                        " JOIN region g ON g.id = c.region_id LEFT JOIN"
                        f" {refund} r ON r.order_id = o.id GROUP BY g.name")  # fmt: skip
    assert lost(ledger) == {"customer": 12, "region": 0}
    assert ledger.line == "12 of 100 rows of orders have no match in customer and are left out."


@pytest.mark.parametrize(
    ("output", "found"),
    [
        # What is kept is counted by COUNT(*) too; what alone is added up, or differs, is the joined rows' own.
        ("COUNT(*), SUM(r.amount)", ("orders", 12)),
        ("SUM(r.amount)", ("refund", 7)),
        ("COUNT(DISTINCT o.id), SUM(r.amount)", ("refund", 7)),
    ],
)
def test_what_alone_is_added_up_is_counted(shop: Database, output: str, found: tuple[str, int]) -> None:
    ledger = keep(shop, f"SELECT {output} FROM orders o JOIN customer c ON c.id = o.customer_id"
                        " LEFT JOIN refund r ON r.order_id = o.id")  # fmt: skip
    assert [(join.of, join.lost) for join in ledger.joins if join.table == "customer"] == [found]


def test_what_a_left_join_repeats_is_told_of_what_it_keeps(shop: Database) -> None:
    ledger = keep(shop, "SELECT SUM(o.total - COALESCE(y.paid, 0)) FROM orders o JOIN customer c"
                        " ON c.id = o.customer_id LEFT JOIN payment y ON y.order_id = o.id")  # fmt: skip
    assert [(join.table, join.of, join.lost, join.repeated) for join in ledger.joins if not join.kept] == [
        ("customer", "orders", 12, 0)
    ]
    repeated = [join for join in ledger.joins if join.repeated]
    assert [(join.table, join.of, join.repeated) for join in repeated] == [("payment", "orders", 58)]


@pytest.mark.parametrize("output", ["SUM(k.amount)", "c.name, SUM(k.amount)"])
def test_of_tables_without_keys_the_summed_one_is_counted(shop: Database, output: str) -> None:
    joined = "claim k JOIN legacy_sale s ON s.sale_no = k.sale_no JOIN legacy_cust c ON c.cust_no = s.cust_no"
    ledger = keep(shop, f"SELECT {output} FROM {joined}{' GROUP BY c.name' if ',' in output else ''}")
    assert ledger.line.startswith("10 of 60 rows of claim have no match in legacy sale and are left out.")


def test_a_lookup_with_a_duplicate_does_not_make_a_larger_table_count(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "back.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE back (id INTEGER PRIMARY KEY, sale_no INTEGER);
            CREATE TABLE sale (sale_no INTEGER PRIMARY KEY, shop TEXT);
            CREATE TABLE place (shop TEXT, town TEXT);
            INSERT INTO place VALUES ('A', 'a'), ('B', 'b'), ('C', 'c'), ('D', 'd'), ('E', 'e'), ('A', 'z');
        """)
        connection.executemany("INSERT INTO sale VALUES (?, ?)", [(n, "ABCDE"[n % 5]) for n in range(100)])
        sales = [*range(25), *range(25), *range(900, 910)]
        connection.executemany("INSERT INTO back VALUES (?, ?)", enumerate(sales))
    with Database.open(tmp_path / "back.sqlite") as database:
        joined = "back b JOIN sale s ON s.sale_no = b.sale_no JOIN place p ON p.shop = s.shop"
        ledger = keep(database, f"SELECT COUNT(*) FROM {joined}")
    assert [(join.table, join.of, join.lost, join.repeated) for join in ledger.joins] == [
        ("sale", "back", 10, 0),
        ("place", "back", 0, 10),
    ]


PAID = "(SELECT order_id, SUM(paid) AS amount FROM payment GROUP BY order_id)"


@pytest.mark.parametrize(("other", "left"), [("refund", 45), (PAID, 30)])
@pytest.mark.parametrize(
    ("output", "where", "told"),
    [
        ("SUM(o.total), SUM(y.amount)", "", True),
        ("SUM(o.total) - SUM(y.amount)", "", True),
        ("c.region_id, SUM(y.amount) / SUM(o.total)", "", True),
        ("SUM(y.amount)", "", False),
        ("COUNT(o.id), SUM(y.amount)", "", False),  # of how many it is
        ("SUM(o.total), SUM(y.amount)", " WHERE y.amount > 0", False),  # of whom some are asked for
    ],
)
def test_what_falls_out_of_either_summed_table_is_told(
    shop: Database, other: str, left: int, output: str, where: str, told: bool
) -> None:
    rest = " JOIN customer c ON c.id = o.customer_id" if "c." in output else ""
    group = " GROUP BY c.region_id" if rest else ""
    ledger = keep(shop, f"SELECT {output} FROM orders o JOIN {other} y ON y.order_id = o.id{rest}{where}{group}")
    found = [(join.lost, join.rows) for join in ledger.joins if join.of == "orders" and join.material]
    assert ((left, 100) in found) is told


def test_what_is_summed_beside_a_table_of_sums_is_counted(shop: Database) -> None:
    ledger = keep(shop, f"SELECT SUM(o.total) FROM orders o JOIN customer c ON c.id = o.customer_id"
                        f" JOIN {PAID} y ON y.order_id = o.id")  # fmt: skip
    assert ledger.line == "12 of 100 rows of orders have no match in customer and are left out."


@pytest.mark.parametrize(
    ("output", "other"),
    [
        ("SUM(o.total)", 4950),
        ("ROUND(SUM(o.total) / 10.0, 1)", 495),
        ("SUM(o.total) * 1.0 / COUNT(DISTINCT o.customer_id)", None),
        ("AVG(CASE WHEN o.total > 50 THEN 1.0 ELSE 0 END)", None),
        ("SUM(CASE WHEN o.total > 50 THEN 1.0 ELSE 0 END) / COUNT(*)", None),
        ("SUM(o.total) * 1.0 / (SELECT SUM(total) FROM orders)", None),
    ],
)
def test_another_number_is_told_of_a_sum_or_count_alone(shop: Database, output: str, other: float | None) -> None:
    ledger = keep(shop, f"SELECT {output} FROM orders o JOIN customer c ON c.id = o.customer_id")
    assert ledger.other == other
    assert ledger.line.startswith("12 of 100 rows of orders have no match in customer and are left out.")


def test_rows_that_refer_to_nothing_are_not_lost_where_the_query_asks_of_what_they_lack(shop: Database) -> None:
    joined = "SELECT COUNT(*) FROM orders o JOIN coupon c ON c.id = o.coupon_id"
    asked = keep(shop, f"{joined} WHERE c.kind = 'spring'")
    assert (asked.line, asked.other) == ("4 of 100 rows of orders have no match in coupon and are left out.", None)
    assert "80 of 100 rows of orders have no coupon id and are left out" in asked.list_facts(IN_ENGLISH, material=False)
    every = keep(shop, joined, question="How many orders used a coupon?")
    assert (every.line, every.other) == (asked.line, None)
    assert "80 of 100 rows of orders have no coupon id and are left out" in every.list_facts(IN_ENGLISH, material=False)
    assert keep(shop, joined, question="Count all orders").line.startswith("84 more have no match in coupon")


def test_which_role_of_a_table_has_no_match_is_told(shop: Database) -> None:
    joined = "orders o JOIN site a ON a.id = o.from_id JOIN site b ON b.id = o.to_id"
    assert keep(shop, f"SELECT a.name, b.name, COUNT(*) FROM {joined} GROUP BY 1, 2").list_facts(
        IN_ENGLISH, material=True
    ) == ("3 of 100 rows of orders have no match in site by from id and are left out",)
    turned = "orders o JOIN site b ON b.id = o.to_id JOIN site a ON a.id = o.from_id"
    assert keep(shop, f"SELECT COUNT(*) FROM {turned}").list_facts(IN_ENGLISH, material=True) == (
        "2 of 100 rows of orders have no match in site by to id and are left out",
        "1 of 98 rows of orders has no match in site by from id and is left out",
    )
