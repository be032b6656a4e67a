"""Rows that a join leaves out, and rows of which the query should give one each."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from tableturn.tools.database import Database
from tableturn.tools.formats import ColumnFormat
from tableturn.tools.labels import IN_ENGLISH, Labels
from tableturn.tools.ledger import NotCountedError, build_query_ledger
from tableturn.tools.sql import read_query

from tests.tools.ledger.sales import keep, lost, make_duckdb, make_sqlite


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM sale JOIN product ON product.id = sale.product_id",
        "SELECT COUNT(*) FROM product p JOIN sale s ON p.id = s.product_id",
        "SELECT COUNT(*) FROM sale s, product p WHERE s.product_id = p.id",
        "SELECT COUNT(*) FROM sale AS product_sale JOIN product AS sale ON sale.id = product_sale.product_id",
        "SELECT p.kind, SUM(s.amount) FROM sale s JOIN product p ON p.id = s.product_id GROUP BY p.kind",
        "SELECT p.kind FROM sale s JOIN product p ON p.id = s.product_id GROUP BY p.kind HAVING COUNT(*) > 1",
        "SELECT s.id, p.name FROM sale s JOIN product p ON p.id = s.product_id ORDER BY s.id LIMIT 3",
        "SELECT COUNT(DISTINCT s.id) FROM sale s JOIN product p ON p.id = s.product_id",
        "WITH sold AS (SELECT s.amount FROM sale s JOIN product p ON p.id = s.product_id) SELECT SUM(amount) FROM sold",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM sale s JOIN product p ON p.id = s.product_id) AS counted",
        "SELECT 0 AS n UNION ALL SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id",
        "SELECT s.id FROM sale s JOIN product p ON p.id = s.product_id UNION SELECT id FROM payment",
        "SELECT s.id FROM sale s JOIN product p ON p.id = s.product_id INTERSECT SELECT id FROM sale",
        "SELECT SUM(amount) FROM sale JOIN product p ON p.id = product_id UNION ALL SELECT SUM(amount) FROM sale",
        "SELECT town FROM shop WHERE 3 < (SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id)",
        "SELECT p.kind, COUNT(s.id) FROM product p LEFT JOIN sale s ON s.product_id = p.id GROUP BY p.kind",
        "SELECT SUM(s.amount) FROM sale s JOIN (SELECT DISTINCT id FROM product) p ON p.id = s.product_id",
        "SELECT COUNT(*) FROM sale s JOIN (SELECT id AS k, COUNT(*) AS n FROM product GROUP BY id) p ON k = product_id",
        "WITH p AS (SELECT DISTINCT id FROM product) SELECT COUNT(*) FROM sale s JOIN p ON p.id = s.product_id",
        # A key that sub-queries pass on.
        "WITH p AS (SELECT * FROM product) SELECT COUNT(*) FROM sale s JOIN p ON p.id = s.product_id",
        "WITH p AS (SELECT * FROM product), q AS (SELECT * FROM p) SELECT SUM(1) FROM q, sale WHERE q.id = product_id",
        "SELECT kind, COUNT(*) FROM sale JOIN (SELECT id AS k, kind FROM product) p ON k = product_id GROUP BY kind",
        "SELECT COUNT(*) FROM sale JOIN (SELECT id AS product_id, kind FROM product) p USING (product_id)",
        "WITH t AS (SELECT * FROM sale WHERE id > 0) SELECT COUNT(*) FROM t JOIN product p ON p.id = t.product_id",
    ],
)
def test_rows_without_a_partner_are_counted_wherever_a_join_stands(sales: Database, sql: str) -> None:
    ledger = keep(sales, sql)
    (join,) = [join for join in ledger.joins if join.table == "product"]
    assert (join.of, join.rows, join.lost, join.repeated, join.material) == ("sale", 20, 6, 0, True)
    assert "6 of 20 rows of sale have no match in product and are left out" in ledger.list_facts(
        IN_ENGLISH, material=True
    )


@pytest.mark.parametrize("columns", ["DISTINCT shop {}", "shop, COUNT(*) AS n {} GROUP BY shop"])
@pytest.mark.parametrize(("condition", "rows", "lost"), [("", 20, 10), (" WHERE s.amount > 2", 14, 9)])
def test_rows_that_a_sub_query_has_no_group_of_are_counted_but_not_told(
    sales: Database, columns: str, condition: str, rows: int, lost: int
) -> None:
    inner = columns.format("FROM rate WHERE percent > 15")
    ledger = keep(sales, f"SELECT COUNT(*) FROM sale s JOIN (SELECT {inner}) r ON r.shop = s.shop{condition}")
    assert not ledger.not_counted
    assert [(join.of, join.rows, join.lost, join.material) for join in ledger.joins] == [("sale", rows, lost, False)]


def test_a_sub_query_with_a_left_join_passes_its_key_on(sales: Database) -> None:
    inner = "SELECT p.*, h.town FROM product p LEFT JOIN shop h ON h.code = p.kind"
    ledger = keep(sales, f"WITH d AS ({inner}) SELECT COUNT(*) FROM sale s JOIN d ON d.id = s.product_id")
    assert lost(ledger) == {"product, shop": 6}
    assert ledger.line == "6 more have no match in product and shop; with them it is 20."


def test_what_a_condition_in_a_sub_query_leaves_out_is_counted_but_not_told(sales: Database) -> None:
    some = (
        "WITH d AS (SELECT * FROM product WHERE kind = 'light') SELECT COUNT(*) FROM sale s JOIN d ON d.id = product_id"
    )
    ledger = keep(sales, f"{some} JOIN shop h ON h.code = s.shop")
    assert (lost(ledger), ledger.line, ledger.not_counted) == ({"product": 15, "shop": 0}, "", ())


@pytest.mark.parametrize(
    "inner",
    [
        "SELECT product_id AS id FROM sale",  # a key of others
        "SELECT l.product_id AS id, l.text FROM label l JOIN product p ON p.id = l.product_id",
        "SELECT l.text, p.id FROM product p JOIN label l ON l.product_id = p.id",
        "SELECT p.id + 0 AS id FROM product p",
        "SELECT id FROM product UNION ALL SELECT id FROM product",
    ],
)
def test_what_may_have_several_rows_for_one_has_no_key(sales: Database, inner: str) -> None:
    ledger = keep(sales, f"SELECT COUNT(*) FROM sale s JOIN ({inner}) d ON d.id = s.product_id")
    assert "sale" not in {join.of for join in ledger.joins}
    assert "no table has one row" in ledger.not_counted[0]


def test_a_row_that_a_function_makes_several_of_has_no_key(tmp_path: Path) -> None:
    with Database.open(make_duckdb(tmp_path)) as database:
        inner = "SELECT id, unnest([kind, name]) AS word FROM product"
        ledger = keep(database, f"SELECT COUNT(*) FROM sale s JOIN ({inner}) d ON d.id = s.product_id")
        assert [(join.lost, join.repeated, join.rows) for join in ledger.joins] == [(6, 14, 20)]
        sampled = "SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id USING SAMPLE 10 ROWS"
        ledger = keep(database, sampled)
    assert (ledger.joins, ledger.other) == ((), None)
    assert ledger.not_counted == ("the rows of sale, product: only a sample of a table is read",)


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        ("LEFT JOIN shop h ON h.code = s.shop WHERE h.code IS NOT NULL", (0, False, 2)),
        ("JOIN shop h ON h.code = s.shop WHERE h.town <> 'Bonn'", (0, False, 2)),
        ("JOIN shop h ON h.code = s.shop AND h.town <> 'Bonn'", (0, False, 2)),
        ("JOIN shop h ON h.code = s.shop GROUP BY h.town ORDER BY COUNT(*) LIMIT 5", (0, False, 2)),
        ("LEFT JOIN shop h ON h.code = s.shop WHERE h.code IS NULL", (2, True, 0)),
        ("JOIN shop h ON h.code = s.shop", (2, False, 0)),
    ],
)
def test_missing_keys_that_leave_rows_out_are_counted(tmp_path: Path, rest: str, found: tuple[int, bool, int]) -> None:
    path = make_sqlite(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE sale SET shop = NULL WHERE id < 3")
    with Database.open(path) as database:
        ledger = keep(database, f"SELECT COUNT(*) FROM sale s {rest}")
    ((join,), missing) = ledger.joins, sum(null.missing for null in ledger.nulls if null.use == "unmatched")
    assert (join.lost, join.kept, missing) == found


def test_groups_count_beside_a_table_with_a_row_for_each(sales: Database) -> None:
    ledger = keep(sales, "SELECT p.name, n FROM product p JOIN (SELECT product_id, COUNT(*) AS n FROM sale"
                         " GROUP BY product_id) s ON s.product_id = p.id")  # fmt: skip
    assert [(join.table, join.rows, join.lost, join.material) for join in ledger.joins] == [("product", 5, 2, True)]


def test_an_ordered_join_of_mysql_is_an_inner_join(tmp_path: Path) -> None:
    with Database.open(make_sqlite(tmp_path)) as database:
        schema = replace(database.schema(), dialect="mysql")
        sql = "SELECT COUNT(*) FROM sale s STRAIGHT_JOIN product p ON p.id = s.product_id"
        ledger = build_query_ledger(read_query(sql, schema), lambda counting: database.execute(counting).rows)
    assert lost(ledger) == {"product": 6}


def test_a_cte_hides_the_table_of_its_name(sales: Database) -> None:
    ledger = keep(sales, "WITH shop AS (SELECT * FROM sale WHERE id > 12) SELECT COUNT(*) FROM shop s"
                         " JOIN product p ON p.id = s.product_id")  # fmt: skip
    assert [(join.of, join.rows, join.lost) for join in ledger.joins] == [("sale", 8, 6)]
    own = "WITH product AS (SELECT id FROM product WHERE id < 2) SELECT COUNT(*) FROM sale s JOIN product p USING (id)"
    if sales.dialect != "sqlite":  # it takes that for a recursion
        assert not keep(sales, own).list_facts(IN_ENGLISH, material=True)


def test_no_text_names_a_cte(sales: Database) -> None:
    joined = "WITH kg AS (SELECT s.* FROM sale s JOIN shop h ON h.code = s.shop)"
    ledger = keep(sales, f"{joined} SELECT COUNT(*) FROM kg JOIN product p ON p.id = kg.product_id")
    assert "6 of 20 rows have no match in product and are left out" in ledger.list_facts(IN_ENGLISH, material=True)
    grouped = "WITH kg AS (SELECT sale_id, SUM(paid) AS paid FROM payment GROUP BY sale_id)"
    ledger = keep(sales, f"{grouped} SELECT SUM(s.amount) FROM sale s JOIN kg ON kg.sale_id = s.id")
    assert ledger.list_facts(IN_ENGLISH, material=False) == (
        "18 of 20 rows of sale have no match in payment and are left out",
    )
    ledger = keep(sales, f"{grouped} SELECT s.shop, AVG(kg.paid) FROM sale s JOIN kg ON kg.sale_id = s.id GROUP BY 1")
    assert "missing values of paid: the value is computed" in ledger.not_counted
    ledger = keep(sales, f"{joined} SELECT COUNT(*) FROM product WHERE id NOT IN (SELECT product_id FROM kg)")
    assert ledger.list_facts(IN_ENGLISH, material=True) == (
        "2 of 20 rows have no product id, so that “not in” finds nothing",
    )
    assert ledger.not_counted == ("the rows of product that have no match in sale, shop: a condition looks for it",)


def test_another_number_is_written_as_the_answers_own(sales: Database) -> None:
    joined = "FROM sale s JOIN product p ON p.id = s.product_id"
    ledger = keep(sales, f"SELECT SUM(s.id) / 7.0 {joined}")
    assert ledger.line.endswith(" With them it is 30.")
    ledger = keep(sales, f"SELECT SUM(s.id) / 9.0 {joined}")
    assert ledger.line.endswith(" With them it is 23.33.")
    assert ledger.write_line(Labels("de"), [ColumnFormat("number", 1)]).endswith(" Mit ihnen sind es 23,3.")


def test_another_number_stands_beside_a_single_one(sales: Database) -> None:
    ledger = keep(sales, "SELECT COUNT(*) FROM sale JOIN product ON product.id = sale.product_id")
    assert ledger.line == "6 more have no match in product; with them it is 20."
    assert sales.execute(ledger.other_sql).rows == ((20,),)
    joined = "FROM sale s JOIN product p ON p.id = s.product_id"
    for other in (
        f"SELECT COUNT(*) {joined} WHERE p.kind = 'light'",  # nobody knows of what kind those are
        f"SELECT COUNT(*) {joined} GROUP BY p.kind ORDER BY COUNT(*) DESC LIMIT 1",
        f"SELECT COUNT(p.id) {joined}",  # it is the same
        # It has no row of a product that is not sold.
        "SELECT AVG(COALESCE(s.amount, 0)) FROM product p LEFT JOIN sale s ON s.product_id = p.id",
        "SELECT 100.0 * COUNT(s.id) / COUNT(*) FROM product p LEFT JOIN sale s ON s.product_id = p.id",
    ):
        assert keep(sales, other).other is None


def test_the_other_number_is_told_as_what_it_is(tmp_path: Path) -> None:
    with Database.open(make_sqlite(tmp_path)) as database:
        joined = "FROM sale s JOIN product p ON p.id = s.product_id"
        lost = "6 of 20 rows of sale have no match in product and are left out."
        days = keep(database, f"SELECT COUNT(DISTINCT s.day) {joined}", rows=[[7]])
        assert days.line == f"{lost} With them it is 8."
        both = f"{joined} JOIN payment y ON y.id = s.id"
        # Who has no payment is left out by design, so that nobody means a number with those.
        ledger = keep(database, f"SELECT COUNT(*) {both}")
        assert (ledger.other, [join.material for join in ledger.joins]) == (None, [True, False])
        two = "JOIN part a ON a.id = s.product_id JOIN part b ON b.id = s.amount"
        with closing(sqlite3.connect(tmp_path / "sales.sqlite")) as connection, connection:
            connection.executescript("CREATE TABLE part (id INTEGER PRIMARY KEY); INSERT INTO part VALUES (1), (2);")
    with Database.open(tmp_path / "sales.sqlite") as database:
        ledger = keep(database, f"SELECT SUM(s.id) FROM sale s {two}")
        assert ledger.line == (
            "10 of 20 rows of sale have no match in part by product id and are left out. "
            "9 of 10 rows of sale have no match in part by amount and are left out. With all of them it is 210."
        )


def test_what_may_be_hidden_is_not_taken_for_lost(sales: Database) -> None:
    sql = "SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id"
    for one in (sql, f"WITH a AS ({sql}) SELECT * FROM a"):
        ledger = keep(sales, one, ruled_tables=frozenset({"product"}))
        assert (ledger.joins, ledger.other) == ((), None)
        assert "which rows of product may be read depends on who asks" in ledger.not_counted[0]
    assert keep(sales, sql, ruled_tables=frozenset({"sale"})).joins


def test_the_querys_own_filters_hold(sales: Database) -> None:
    some = "SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id WHERE s.id > 12 AND p.kind = 'light'"
    (join,) = keep(sales, some).joins
    # Two of the six refer to no product at all: who asks about light ones does not ask about them.
    assert (join.rows, join.lost) == (8, 4)
    assert keep(sales, some).list_facts(IN_ENGLISH, material=True) == (
        "4 of 8 rows of sale that the other conditions leave have no match in product and are left out",
    )
    assert keep(sales, some).list_facts(IN_ENGLISH, material=False) == (
        "2 of 8 rows of sale have no product id and are left out",
    )
    two = "SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id JOIN shop h ON h.code = s.shop"
    assert lost(keep(sales, f"{two} WHERE h.town = 'Bonn'")) == {"product": 3, "shop": 0}


@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("", (6, True, False)),
        # A condition on what is not there leaves it out, of those that refer to a product.
        (" WHERE p.kind <> 'light'", (4, False, True)),
        (" WHERE p.kind <> 'light' OR p.id IS NULL", (6, True, False)),
        (" WHERE p.id IS NULL", (6, True, False)),
        (" WHERE p.kind <> 'light' OR s.id > 16", (2, False, True)),
    ],
)
def test_a_left_join_keeps_who_has_no_partner(sales: Database, where: str, found: tuple[int, bool, bool]) -> None:
    ledger = keep(sales, f"SELECT s.id, p.name FROM sale s LEFT JOIN product p ON p.id = s.product_id{where}")
    assert [(join.lost, join.kept, join.material) for join in ledger.joins] == [found]
    assert bool(ledger.list_facts(IN_ENGLISH, material=True)) is found[2]
    assert not [
        fact
        for fact in ledger.list_facts(IN_ENGLISH, material=False)
        if "no product id" not in fact and "no kind" not in fact
    ]


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        # Of 18 orders 6 have a customer who is gone, 3 a customer whose region is gone.
        ("orders o LEFT JOIN customer c ON c.id = o.customer_id LEFT JOIN region r ON r.id = c.region_id"
         " WHERE r.name = 'north'", {"customer": 6, "region": 3}),
        ("orders o JOIN customer c ON c.id = o.customer_id LEFT JOIN region r ON r.id = c.region_id"
         " WHERE r.name = 'north'", {"customer": 6, "region": 3}),
        ("orders o LEFT JOIN customer c ON c.id = o.customer_id LEFT JOIN region r ON r.id = c.region_id"
         " WHERE r.name = 'north' OR r.id > 9", {"customer": 6, "region": 3}),
        ("orders o LEFT JOIN customer c ON c.id = o.customer_id LEFT JOIN region r ON r.id = c.region_id"
         " WHERE r.name = 'north' OR r.id IS NULL", {}),
        # From the end of a chain each join back leaves out who has no partner.
        ("customer c LEFT JOIN orders o ON o.customer_id = c.id LEFT JOIN item i ON i.order_id = o.id WHERE i.n = 1",
         {"orders": 3, "customer": 15}),
        ("customer c LEFT JOIN orders o ON o.customer_id = c.id LEFT JOIN item i ON i.order_id = o.id"
         " WHERE i.n = 1 OR i.n IS NULL", {}),
    ],
)  # fmt: skip
def test_a_condition_at_the_end_of_left_joins_leaves_out_who_has_no_match_before(
    chain: Database, rest: str, found: dict[str, int]
) -> None:
    ledger = keep(chain, f"SELECT COUNT(*) FROM {rest}")
    assert lost(ledger) == found
    assert len([fact for fact in ledger.list_facts(IN_ENGLISH, material=True) if "no match" in fact]) == len(found)


@pytest.mark.parametrize(("counted", "found"), [("p.id", {"orders": 3, "part": 0}), ("DISTINCT p.id", {"orders": 3})])
def test_what_is_counted_through_a_table_between_two_is_told_as_it_is_of_an_inner_join(
    chain: Database, counted: str, found: dict[str, int]
) -> None:
    joined = "orders o {0}JOIN item i ON i.order_id = o.id {0}JOIN part p ON p.id = i.part_id GROUP BY o.id"
    left, inner = (keep(chain, f"SELECT o.id, COUNT({counted}) FROM {joined.format(side)}") for side in ("LEFT ", ""))
    assert lost(left) == found
    assert left.list_facts(IN_ENGLISH, material=True) == inner.list_facts(IN_ENGLISH, material=True)
    assert len(left.list_facts(IN_ENGLISH, material=True)) == 1


def test_the_side_of_ones_is_not_told(sales: Database) -> None:
    """That shops and sales have no payment is by design: a payment refers to its sale."""
    ledger = keep(sales, "SELECT s.id, SUM(p.paid) FROM sale s JOIN payment p ON p.sale_id = s.id GROUP BY s.id")
    assert lost(ledger) == {"sale": 0}
    assert not ledger.list_facts(IN_ENGLISH, material=True)


def test_where_no_key_is_declared_the_values_say_who_is_listed(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "w.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE area (area_no INTEGER, name TEXT); CREATE TABLE visit (id INTEGER, area_no INTEGER);
            INSERT INTO area VALUES (1, 'x'), (2, 'y'), (3, 'z');
            CREATE TABLE again AS SELECT * FROM area; INSERT INTO again VALUES (3, 'again');
            CREATE VIEW areas AS SELECT * FROM area; CREATE VIEW visits AS SELECT * FROM visit;
        """)
        connection.executemany("INSERT INTO visit VALUES (?, ?)", [(n, n % 2 or 9) for n in range(20)])
    with Database.open(tmp_path / "w.sqlite") as database:
        for listed, read in (("area", "visit"), ("again", "visit"), ("areas", "visits")):
            for on in ("USING (area_no)", f"ON {listed}.area_no = {read}.area_no"):
                join = keep(database, f"SELECT COUNT(*) FROM {read} JOIN {listed} {on}").joins[0]
                assert (join.table, join.lost, join.rows, join.material) == (listed, 10, 20, True)

        def count(counting: str) -> Any:
            if " GROUP BY " in counting:
                raise NotCountedError("its time was over")
            return database.execute(counting).rows

        # Without the time to look at them, what is lost of the rows that count is told.
        sql = "SELECT COUNT(*) FROM visits JOIN areas USING (area_no)"
        ledger = build_query_ledger(read_query(sql, database.schema()), count)
        assert (ledger.joins[0].lost, ledger.joins[0].material) == (10, True)
        assert ledger.not_counted[0].startswith("the different values of ")


@pytest.mark.parametrize(
    ("rates", "joined", "material"),
    [
        (20, "rate r ON r.code = p.code AND r.month = p.month", True),
        (20, "rate r USING (code, month)", True),
        (20, "(SELECT code AS c, month AS m, rate FROM rate) r ON c = code AND m = month", True),
        (99, "rate r USING (code, month)", False),  # 99 times the same month
    ],
)
def test_a_key_of_two_columns_that_is_not_declared(tmp_path: Path, rates: int, joined: str, material: bool) -> None:
    with duckdb.connect(tmp_path / "w.duckdb") as connection:
        connection.execute(
            "CREATE TABLE pay AS SELECT i AS n, 'c' || i % 3 AS code, i % 12 AS month FROM range(300) t(i)"
        )
        month = "i // 2" if rates == 20 else "1"
        rate = f"SELECT 'c' || i % 2 AS code, {month} AS month, 1.5 AS rate FROM range({rates}) t(i)"
        connection.execute(f"CREATE TABLE rate AS {rate}")
    with Database.open(tmp_path / "w.duckdb") as database:
        ledger = keep(database, f"SELECT SUM(n) FROM pay p JOIN {joined}")
        assert any(join.material and join.lost for join in ledger.joins) == material


@pytest.mark.parametrize(
    "rest",
    [
        "JOIN label l ON l.product_id = s.product_id AND l.lang = 'de'",
        "JOIN label l ON l.product_id = s.product_id WHERE 'de' = l.lang",
        "LEFT JOIN label l ON l.product_id = s.product_id AND l.lang = 'de'",
    ],
)
def test_a_partner_meets_the_rest_of_its_key(sales: Database, rest: str) -> None:
    ledger = keep(sales, f"SELECT COUNT(*) FROM sale s {rest}")
    assert [(join.rows, join.lost, join.repeated) for join in ledger.joins] == [(20, 15, 0)]
    if rest.startswith("JOIN"):
        assert "15 more have no match in label (" in ledger.line
        assert ledger.line.endswith(
            "'de'); with them it is 20." if " AND " in rest else " = l.lang); with them it is 20."
        )
        asked = keep(sales, f"SELECT COUNT(*) FROM sale s {rest}", question="How many sales have a label in 'DE'?")
        assert [join.material for join in asked.joins] == [False]
    else:
        assert not ledger.line


@pytest.mark.parametrize("condition", ["r.day <= s.day", "r.is_current = 1", "(r.percent > 5 OR s.id = 3)"])
@pytest.mark.parametrize("versions", [1, 2])
def test_which_of_several_partners_is_meant_is_not_guessed(tmp_path: Path, condition: str, versions: int) -> None:
    path = make_sqlite(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("""
            DROP TABLE rate; CREATE TABLE rate (no INTEGER PRIMARY KEY, shop TEXT, percent, day DATE, is_current);
            INSERT INTO rate VALUES (1, 'N', 10, '2023-03-01', 1), (2, 'S', 10, '2023-03-01', 0);
        """)
        connection.execute("INSERT INTO rate SELECT no + 2, shop, 4, day, 0 FROM rate WHERE ? = 2", (versions,))
    for rest in (f"JOIN rate r ON r.shop = s.shop AND {condition}", f", rate r WHERE r.shop = s.shop AND {condition}"):
        with Database.open(path) as database:
            ledger = keep(database, f"SELECT COUNT(*) FROM sale s {rest}")
        said = ["the rows of sale, rate: a condition may choose among the rows of rate"]
        # Of a single partner, a condition on it alone filters the rows.
        assert [*ledger.not_counted] == (said if versions == 2 or "s." in condition else [])
        assert not sum(lost(ledger).values())


def test_a_part_of_the_sum_is_material_too(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "sums.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE dim (id INTEGER PRIMARY KEY)")
        connection.execute("CREATE TABLE fact (id INTEGER PRIMARY KEY, dim_id REFERENCES dim, amount)")
        connection.execute("INSERT INTO dim VALUES (1)")
        rows = [(n, 1 if n else 9, 1 if n else 50) for n in range(500)]
        connection.executemany("INSERT INTO fact VALUES (?, ?, ?)", rows)
    with Database.open(tmp_path / "sums.sqlite") as database:
        joined = "FROM fact f JOIN dim d ON d.id = f.dim_id"
        assert keep(database, f"SELECT SUM(amount) {joined}").joins[0].material
        assert not keep(database, f"SELECT COUNT(amount) {joined}").joins[0].material
        assert keep(database, f"SELECT COUNT(amount) {joined}").list_facts(IN_ENGLISH, material=False)


@pytest.mark.parametrize(
    ("sql", "left_out"),
    [
        ("SELECT p.name, COUNT(*) FROM product p JOIN sale s ON s.product_id = p.id WHERE s.amount = 2"
         " GROUP BY p.name", 2),
        ("SELECT p.id, p.kind, SUM(y.paid) FROM payment y JOIN sale s ON s.id = y.sale_id"
         " JOIN product p ON p.id = s.product_id GROUP BY p.id, p.kind", 1),
        ("SELECT p.name, COUNT(*) FROM product p JOIN sale s ON s.product_id = p.id WHERE p.id > 1 AND s.id < 3"
         " GROUP BY p.name", 1),
        ("SELECT p.name, COUNT(s.id) FROM product p LEFT JOIN sale s ON s.product_id = p.id GROUP BY p.name", 0),
        # Those without a product are a group, and no product; several products may have one number.
        ("SELECT p.name, COUNT(*) FROM sale s LEFT JOIN product p ON p.id = s.product_id WHERE s.id IN (1, 20)"
         " GROUP BY p.name", 2),
        ("SELECT DISTINCT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id WHERE s.id < 3 GROUP BY p.id", 1),
        ("SELECT p.name, COUNT(*) FROM product p JOIN sale s ON s.product_id = p.id WHERE s.amount = 2 GROUP BY p.name"
         " HAVING COUNT(*) > 0", 0),
        ("SELECT p.name, COUNT(*) FROM product p JOIN sale s ON s.product_id = p.id WHERE s.amount = 2 GROUP BY p.name"
         " LIMIT 5", 0),
        # Of how many products is not known: a label in one language may be asked about.
        ("SELECT s.id, COUNT(*) FROM payment y JOIN sale s ON s.id = y.sale_id JOIN product p ON p.id = s.product_id"
         " WHERE p.name = 'lamp' GROUP BY s.id", 0),
        ("SELECT p.kind, COUNT(*) FROM product p JOIN label l ON l.product_id = p.id JOIN sale s ON s.product_id = p.id"
         " GROUP BY p.kind", 0),
    ],
)  # fmt: skip
def test_who_has_nothing_counted_is_told_where_each_is_asked_for(sales: Database, sql: str, left_out: int) -> None:
    asked, alone = (keep(sales, sql, question=text) for text in ("... for each product?", "Products?"))
    assert sum(join.lost or 0 for join in alone.joins if join.ones) == left_out
    told = [said for said in asked.list_facts(IN_ENGLISH, material=True) if "left out, because no counted row" in said]
    assert bool(told) is bool(left_out)
    assert [
        said for said in alone.list_facts(IN_ENGLISH, material=False) if "left out, because no counted row" in said
    ] == told
    assert not [said for said in alone.list_facts(IN_ENGLISH, material=True) if "no counted row" in said]


@pytest.mark.parametrize(
    ("question", "is_material"),
    [
        ("Umsatz für jedes product", True),
        ("ventas de cada product", True),
        ("Umsatz von product", False),
        ("Sales for all of the products", True),
        ("ventas de todos los product", True),
        ("Count all sales by product", False),
        ("Sum it all up per product", False),
    ],
)
def test_each_is_said_of_a_noun_in_some_languages(sales: Database, question: str, is_material: bool) -> None:
    sql = "SELECT p.id, COUNT(*) FROM product p JOIN sale s ON s.product_id = p.id WHERE s.amount = 2 GROUP BY p.id"
    ledger = keep(sales, sql, question=question)
    assert any("no counted row" in said for said in ledger.list_facts(IN_ENGLISH, material=True)) is is_material


def test_shared_columns_join_too(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "u.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE area (area_id INTEGER PRIMARY KEY, "the name" TEXT);
            CREATE TABLE "my visit" ("visit no" INTEGER PRIMARY KEY, area_id REFERENCES area);
            INSERT INTO area VALUES (1, 'x'); INSERT INTO "my visit" VALUES (1, 1), (2, 2), (3, NULL);
        """)
    with Database.open(tmp_path / "u.sqlite") as database:
        for join in ("JOIN area USING (area_id)", "NATURAL JOIN area"):
            ledger = keep(database, f'SELECT "the name", COUNT(*) FROM "my visit" {join} WHERE area_id < 9 GROUP BY 1')
            assert lost(ledger) == {"area": 1}
            assert "1 of 2 rows of my visit has no match in area and is left out" in ledger.list_facts(
                IN_ENGLISH, material=True
            )


def test_composite_keys_join_by_all_of_their_columns(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "c.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE room (house TEXT, no INTEGER, PRIMARY KEY (house, no));
            CREATE TABLE stay (id INTEGER PRIMARY KEY, house TEXT, no INTEGER,
                FOREIGN KEY (house, no) REFERENCES room (house, no));
            INSERT INTO room VALUES ('a', 1), ('a', 2), ('b', 1);
            INSERT INTO stay VALUES (1, 'a', 1), (2, 'b', 2), (3, 'b', NULL), (4, 'a', 2);
        """)
    with Database.open(tmp_path / "c.sqlite") as database:
        ledger = keep(database, "SELECT COUNT(*) FROM stay s JOIN room r ON r.house = s.house AND r.no = s.no")
    assert [(join.lost, join.repeated, join.rows) for join in ledger.joins] == [(2, 0, 4)]


@pytest.mark.parametrize(
    ("rest", "found"),
    [
        # A key of which two tables give a part each; who has one part alone refers to nothing.
        ("payment y JOIN sale s ON s.id = y.sale_id JOIN label l ON l.product_id = y.id AND l.lang = s.shop"
         " WHERE l.text = 'x'", {"sale": (3, 0), "label": (3, 3)}),
        ("sale s JOIN payment y ON y.sale_id = s.id JOIN rate r ON r.shop = s.shop AND r.percent = y.paid",
         {"payment": (20, 18), "rate": (2, 1), "payment or rate": (1, None)}),
        # Who has no boss has no boss's product; one of a boss whose product is gone is missed.
        ("sale a LEFT JOIN sale b ON b.id = a.amount JOIN product p ON p.id = b.product_id", {"sale": (20, 5),
         "product": (20, 3)}),
        ("sale a LEFT JOIN sale b ON b.id = a.amount JOIN product p ON p.id = b.product_id WHERE p.kind = 'light'",
         {"sale": (13, 0), "product": (15, 3)}),
    ],
)  # fmt: skip
def test_missing_parts_of_keys_refer_to_nothing(
    sales: Database, rest: str, found: dict[str, tuple[int, int | None]]
) -> None:
    ledger = keep(sales, f"SELECT COUNT(*) FROM {rest}")
    assert {join.table: (join.rows, join.lost) for join in ledger.joins} == found


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM sale s JOIN product p ON p.no = s.product_no",
        "SELECT SUM(s.amount) FROM sale s JOIN product p ON p.no = s.product_no",
        "SELECT p.kind, SUM(s.amount) FROM sale s JOIN product p ON p.no = s.product_no GROUP BY p.kind",
        "SELECT COUNT(*) FROM sale s JOIN product p ON p.no = s.product_no WHERE p.kind = 'a'",
        "SELECT p.no, SUM(s.amount) FROM sale s JOIN product p ON p.no = s.product_no GROUP BY p.no",
        "SELECT COUNT(*) FROM sale s JOIN product p ON p.no = s.product_no JOIN shop h ON h.code = s.shop",
    ],
)
def test_a_large_table_is_joined_once(tmp_path: Path, sql: str) -> None:
    """Without keys too: whether partners come twice is asked of their own table, and the rows are the groups."""
    ran = list[str]()
    with duckdb.connect(str(tmp_path / "large.duckdb")) as connection:
        connection.execute("CREATE TABLE product AS SELECT range AS no, 'ab'[range % 2 + 1] AS kind FROM range(50)")
        connection.execute("CREATE TABLE shop AS SELECT 's' || range AS code FROM range(9)")
        cells = "range AS id, nullif(range % 60, 7) AS product_no, 's' || range % 9 AS shop, range % 5 AS amount"
        connection.execute(f"CREATE TABLE sale AS SELECT {cells} FROM range(6000)")
    with Database.open(tmp_path / "large.duckdb") as database:

        def count(counting: str) -> Any:
            ran.append(counting)
            return database.execute(counting).rows

        rows = database.execute(sql).rows
        ledger = build_query_ledger(read_query(sql, database.schema()), count, rows=rows)
    assert (lost(ledger)["product"], ledger.not_counted) == (1_000 if "WHERE" in sql else 1_100, ())
    assert len([each for each in ran if "JOIN" in each]) == 1


@pytest.mark.parametrize("joined", [(0, 1), (1, 0)])
def test_rows_come_to_other_joins_if_they_meet_the_condition(chain: Database, joined: tuple[int, ...]) -> None:
    joins = "JOIN part p ON p.id = i.part_id", "JOIN orders o ON o.id = i.order_id"
    sql = f"SELECT COUNT(*) FROM item i {' '.join(joins[place] for place in joined)} WHERE o.customer_id = 1"
    found = [(join.table, join.lost, join.rows) for join in keep(chain, sql).joins]
    assert found == [("orders", 3, 39), ("part", 0, 3)]


@pytest.mark.parametrize(
    ("joined", "lost", "told"),
    [
        ("customer d ON d.id = c.id", 6, True),
        ("region d ON d.id = c.region_id", 12, True),
        ("region d ON d.id = c.region_id WHERE d.id = 1", 15, False),
    ],
)
@pytest.mark.parametrize(
    "form", ["WITH k AS ({}) SELECT COUNT(*) FROM orders o JOIN k", "SELECT COUNT(*) FROM orders o JOIN ({}) k"]
)
def test_a_sub_query_lists_every_key_but_for_what_its_joins_lose_by_faults(
    chain: Database, form: str, joined: str, lost: int, told: bool
) -> None:
    inner = f"SELECT c.id, d.id AS other FROM customer c JOIN {joined}"
    ledger = keep(chain, f"{form.format(inner)} ON k.id = o.customer_id")
    found = [(join.lost, join.material) for join in ledger.joins if join.of == "orders"]
    assert found == [(lost, told)]


def test_what_a_view_leaves_out_is_said_to_be_uncounted(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "v.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a_id INTEGER);
            CREATE VIEW plain AS SELECT id FROM a; CREATE VIEW joined AS SELECT id FROM a JOIN b ON a_id = id;
        """)
    with Database.open(tmp_path / "v.sqlite") as database:
        assert keep(database, "SELECT COUNT(*) FROM plain").not_counted == ()
        told = keep(database, "SELECT COUNT(*) FROM joined").not_counted
    assert told == ("the rows that joined leaves out: it is a view",)


def test_what_a_left_join_did_not_find_is_lost_by_the_join_after_it(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "l.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE kind (id INTEGER PRIMARY KEY);
            CREATE TABLE product (id INTEGER PRIMARY KEY, kind_id INTEGER NOT NULL REFERENCES kind);
            CREATE TABLE sale (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES product);
            INSERT INTO kind VALUES (1); INSERT INTO product VALUES (1, 1);
            INSERT INTO sale VALUES (1, 1), (2, 7), (3, 8), (4, 9);
        """)
    left = "sale s LEFT JOIN product p ON p.id = s.product_id"
    inner = f"(SELECT s.id, p.kind_id FROM {left}) x JOIN kind k ON k.id = x.kind_id"
    with Database.open(tmp_path / "l.sqlite") as database:
        for joined in (f"{left} JOIN kind k ON k.id = p.kind_id", inner, f"{inner} WHERE k.id > 0"):
            assert lost(keep(database, f"SELECT COUNT(*) FROM {joined}"))["kind"] == 3


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) FROM {} JOIN region r ON r.id = c.region_id",
        "SELECT COUNT(*) FROM (SELECT o.id, c.region_id FROM {}) x JOIN region r ON r.id = x.region_id",
    ],
)
def test_what_a_left_join_need_not_find_is_not_missed(chain: Database, sql: str) -> None:
    ledger = keep(chain, sql.format("customer o LEFT JOIN customer c ON c.id = o.region_id + 1"))
    assert [join.lost for join in ledger.joins if join.table == "region"] == [1]
    assert ledger.line.startswith("1 of 4 rows")


def test_repeated_rows_of_one_select_are_not_those_of_another(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "r.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE code (id INTEGER, name TEXT); CREATE TABLE sale (id INTEGER PRIMARY KEY, code_id INTEGER);
            INSERT INTO code VALUES (1, 'a'), (2, 'b'), (2, 'c'); INSERT INTO sale VALUES (1, 1), (2, 2), (3, 1);
        """)
    first, second = (
        f"SELECT COUNT(*) FROM sale {s} JOIN code c{s} ON c{s}.id = {s}.code_id WHERE {s}.id <> {n}"
        for s, n in (("a", 2), ("b", 9))
    )
    with Database.open(tmp_path / "r.sqlite") as database:
        ledger = keep(database, f"{first} UNION ALL {second}")
    assert [(join.key, join.repeated) for join in ledger.joins] == [("ca.id = a.code_id", 0), ("cb.id = b.code_id", 1)]


@pytest.mark.parametrize(
    "joined",
    [
        "JOIN (SELECT a.id FROM agent a JOIN region r ON r.id = a.region_id AND r.title > 'O') x ON x.id = t.agent_id",
        "JOIN (SELECT r.ticket_id FROM refund r JOIN agent a ON a.id = r.agent_id) x ON x.ticket_id = t.id",
        "JOIN (SELECT a.id FROM agent a JOIN (SELECT DISTINCT agent_id FROM visit) v ON v.agent_id = a.id) x"
        " ON x.id = t.agent_id",
        "LEFT JOIN refund r ON r.ticket_id = t.id JOIN agent a ON a.id = r.agent_id",
        "JOIN northern n ON n.id = t.agent_id",
    ],
)
def test_who_asks_for_some_rows_misses_none(tmp_path: Path, joined: str) -> None:
    with closing(sqlite3.connect(tmp_path / "s.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE region (id INTEGER PRIMARY KEY, title TEXT);
            CREATE TABLE agent (id INTEGER PRIMARY KEY, region_id INTEGER NOT NULL REFERENCES region);
            CREATE TABLE ticket (id INTEGER PRIMARY KEY, agent_id INTEGER NOT NULL REFERENCES agent, hours REAL);
            CREATE TABLE refund (ticket_id INTEGER PRIMARY KEY REFERENCES ticket, agent_id INTEGER REFERENCES agent);
            CREATE TABLE visit (id INTEGER PRIMARY KEY, agent_id INTEGER REFERENCES agent);
            CREATE VIEW northern AS SELECT * FROM agent WHERE region_id = 1; INSERT INTO visit VALUES (1, 1);
            INSERT INTO region VALUES (1, 'North'), (2, 'South'); INSERT INTO agent VALUES (1, 1), (2, 2);
            INSERT INTO ticket VALUES (1, 1, 2), (2, 2, 3), (3, 2, 4); INSERT INTO refund VALUES (1, 1);
        """)
    with Database.open(tmp_path / "s.sqlite") as database:
        assert keep(database, f"SELECT SUM(t.hours) FROM ticket t {joined}").line == ""


def test_groups_of_which_one_has_no_key_are_counted_by_values(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "g.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE code (id INTEGER, name TEXT); CREATE TABLE sale (id INTEGER PRIMARY KEY, code_id INTEGER);
            INSERT INTO code VALUES (1, 'a'), (2, 'b'), (2, 'c'); INSERT INTO sale VALUES (1, 1), (2, 2), (3, NULL);
        """)
    groups = "(SELECT code_id, COUNT(*) AS n FROM sale GROUP BY code_id)"
    with Database.open(tmp_path / "g.sqlite") as database:
        joined = f"{groups} g JOIN code c ON c.id = g.code_id JOIN code d ON d.id = g.code_id"
        ledger = keep(database, f"SELECT SUM(g.n) FROM {joined}")
    assert [(join.lost, join.repeated) for join in ledger.joins] == [(1, 0), (0, 0), (None, 3)]


@pytest.mark.parametrize(
    ("rest", "found", "is_whole"),
    [
        ("", [(3, 4, 10)], True),
        (" WHERE v.n = 1", [(3, 4, 10)], True),
        (" WHERE r.percent = 10", [], False),  # which of the values is meant is not known
        (" GROUP BY r.percent", [(3, 0, 10)], False),
        (" LEFT JOIN shop h ON h.percent = r.percent", [], False),
    ],
)
def test_rows_without_a_key_are_counted_by_values(
    tmp_path: Path, rest: str, found: list[tuple[int, int, int]], is_whole: bool
) -> None:
    with duckdb.connect(str(tmp_path / "v.duckdb")) as connection:
        connection.execute("""
            CREATE TABLE visit (shop VARCHAR, n INTEGER); CREATE TABLE rate (shop VARCHAR, percent INTEGER);
            INSERT INTO visit SELECT 'NSX'[1 + (i % 3)], 1 FROM range(9) t(i); INSERT INTO visit VALUES ('N', 1);
            INSERT INTO rate VALUES ('N', 10), ('N', 20), ('S', 20); CREATE TABLE shop AS FROM rate;
        """)
    with Database.open(tmp_path / "v.duckdb") as database:
        ledger = keep(database, f"SELECT COUNT(*) FROM visit v JOIN rate r ON r.shop = v.shop{rest}")
    assert [(join.lost, join.repeated, join.rows) for join in ledger.joins] == found
    assert (ledger.not_counted == ()) is is_whole
