"""Rows that a join repeats."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from tableturn.tools.database import Database
from tableturn.tools.labels import IN_ENGLISH

from tests.tools.ledger.sales import keep, make_sqlite


@pytest.mark.parametrize(
    ("sql", "table", "of", "more"),
    [
        ("SELECT COUNT(*) FROM sale s JOIN rate r ON r.shop = s.shop WHERE s.id > 0", "rate", "sale", 10),
        ("SELECT SUM(s.amount) FROM sale s JOIN payment p ON p.sale_id = s.id", "payment", "sale", 1),
        ("SELECT COUNT(s.id) FROM sale s JOIN payment p ON p.sale_id = s.id", "payment", "sale", 1),
        (
            "SELECT COUNT(id) FROM (SELECT s.id FROM sale s JOIN payment p ON p.sale_id = s.id) AS j",
            "payment",
            "sale",
            1,
        ),
        (
            "SELECT SUM(s.amount), SUM(s.id) FROM sale s JOIN payment p ON p.sale_id = s.id"
            " JOIN shop h ON h.code = s.shop",
            "payment",
            "sale",
            1,
        ),
        ("SELECT COUNT(*) FROM sale s JOIN label l ON l.product_id = s.product_id", "label", "sale", 5),
        ("WITH b AS (SELECT * FROM sale) SELECT AVG(b.id) FROM b JOIN rate r ON r.shop = b.shop", "rate", "sale", 10),
        ("SELECT SUM(s.id) FROM (SELECT * FROM payment) y JOIN sale s ON s.id = sale_id", "payment", "sale", 1),
    ],
)
def test_rows_that_are_repeated_are_counted(sales: Database, sql: str, table: str, of: str, more: int) -> None:
    ledger = keep(sales, sql)
    found = [join for join in ledger.joins if join.repeated]
    assert [(join.table, join.of, join.repeated) for join in found] == [(table, of, more)]
    assert all("=" in join.key for join in found)


@pytest.mark.parametrize(
    ("sql", "doubt"),
    [
        ("SELECT SUM(p.price) FROM sale s JOIN product p ON p.id = s.product_id", False),
        ("SELECT p.name, SUM(price) FROM sale s, product p WHERE p.id = s.product_id GROUP BY p.name", False),
        ("SELECT SUM(o.total) FROM item i JOIN orders o ON o.id = i.order_id", True),  # items have numbers of their own
        ("SELECT SUM(s.tax) FROM sale s JOIN note n ON n.sale_id = s.id", False),
        ("SELECT SUM(s.tax) FROM sale s JOIN note n ON n.sale_id = s.id JOIN product p ON p.id = s.product_id", False),
        ("SELECT SUM(p.price) FROM sale s JOIN copy p ON p.id = s.product_id", True),  # a key that comes twice
    ],
)
def test_a_price_that_counts_once_for_each_sale_casts_no_doubt(tmp_path: Path, sql: str, doubt: bool) -> None:
    with closing(sqlite3.connect(tmp_path / "shop.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, price REAL);
            CREATE TABLE sale (id INTEGER PRIMARY KEY, product_id INTEGER REFERENCES product, day DATE, tax TEXT);
            CREATE TABLE note (id INTEGER PRIMARY KEY, sale_id INTEGER NOT NULL REFERENCES sale, text TEXT);
            CREATE TABLE orders (id INTEGER PRIMARY KEY, total REAL);
            CREATE TABLE item (id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders, number INTEGER);
            INSERT INTO product VALUES (1, 'lamp', 3), (2, 'chair', 5);
            INSERT INTO orders VALUES (1, 30), (2, 50);
            CREATE TABLE copy AS SELECT * FROM product UNION ALL SELECT * FROM product;
        """)
        connection.executemany("INSERT INTO sale VALUES (?, ?, '2023-01-01', 1)", [(n, 1 + n % 2) for n in range(20)])
        connection.executemany("INSERT INTO note VALUES (?, ?, 'x')", [(n, n % 5) for n in range(20)])
        connection.executemany("INSERT INTO item VALUES (?, ?, 1)", [(n, 1 + n % 2) for n in range(20)])
    with Database.open(tmp_path / "shop.sqlite") as database:
        ledger = keep(database, sql)
    assert (ledger.casts_doubt, ledger.repeats_material_rows) == (doubt, doubt)
    assert ("once for every row" in ledger.line, "20 times in all" in ledger.line) == (not doubt, not doubt)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(s.amount), SUM(y.paid) FROM sale s JOIN payment y ON y.sale_id = s.id",
        "SELECT SUM(s.amount) - SUM(y.paid) FROM sale s JOIN payment y ON y.sale_id = s.id",
        "SELECT SUM(CASE WHEN y.paid > 1 THEN s.amount ELSE 0 END) FROM sale s JOIN payment y ON y.sale_id = s.id",
        "WITH j AS (SELECT s.id, s.amount AS a FROM sale s JOIN payment y ON y.sale_id = s.id) SELECT SUM(a) FROM j",
        "SELECT SUM(x.amount) FROM (SELECT s.*, y.paid FROM sale s JOIN payment y ON y.sale_id = s.id) AS x",
    ],
)
def test_each_sum_is_looked_at_where_its_rows_are_joined(sales: Database, sql: str) -> None:
    ledger = keep(sales, sql)
    assert ledger.list_facts(IN_ENGLISH, material=True) == (
        "1 row of sale is repeated, because it matches several rows of payment",
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(s.amount * y.paid) FROM sale s JOIN payment y ON y.sale_id = s.id",
        "SELECT SUM(a) FROM (SELECT DISTINCT s.id, s.amount AS a FROM sale s JOIN payment y ON y.sale_id = s.id) AS j",
        "SELECT SUM(p) FROM (SELECT s.id, y.paid AS p FROM sale s JOIN payment y ON y.sale_id = s.id) AS j",
        # How many payments each sale has, and what may be either.
        "SELECT s.id, COUNT(s.id) FROM sale s JOIN payment y ON y.sale_id = s.id GROUP BY s.id",
        "SELECT COUNT(*) FROM sale s JOIN payment y ON y.sale_id = s.id",
        "SELECT SUM(CASE WHEN s.amount > 1 THEN 1 ELSE 0 END) FROM sale s JOIN payment y ON y.sale_id = s.id",
        "SELECT SUM(CASE WHEN s.amount > 1 THEN -1 END) FROM sale s JOIN payment y ON y.sale_id = s.id",
        "SELECT SUM(CASE s.amount WHEN 1 THEN 1 ELSE 0 END) FROM sale s JOIN payment y ON y.sale_id = s.id",
        "SELECT SUM(CASE WHEN s.amount > 1 THEN y.paid END) FROM sale s JOIN payment y ON y.sale_id = s.id",
    ],
)
def test_what_is_there_once_is_not_told(sales: Database, sql: str) -> None:
    assert not [join for join in keep(sales, sql).joins if join.repeated]


@pytest.mark.parametrize(
    ("rest", "lost"),
    [
        ("payment y JOIN sale s ON s.id = y.sale_id JOIN product p ON p.id = y.paid", 3),
        ("sale s JOIN rate r ON r.shop = s.shop JOIN product p ON p.id = s.id + 100", 20),
    ],
)
def test_no_other_number_has_rows_that_are_repeated(sales: Database, rest: str, lost: int) -> None:
    """What is left out would be there several times, though what the query gives is not."""
    ledger = keep(sales, f"SELECT COUNT(s.id) FROM {rest}")
    assert ([join.lost for join in ledger.joins if join.lost], ledger.other) == ([lost], None)


def test_functions_of_one_engine_are_read(tmp_path: Path) -> None:
    with Database.open(make_sqlite(tmp_path)) as database:
        joined = "FROM payment y JOIN sale s ON s.id = y.sale_id JOIN product p ON p.id = s.product_id"
        assert [join.repeated for join in keep(database, f"SELECT TOTAL(s.amount) {joined}").joins] == [0, 0, 1]


def test_how_often_rows_are_repeated_is_told(tmp_path: Path) -> None:
    path = make_sqlite(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE payment SET sale_id = 1")
    with Database.open(path) as database:
        ledger = keep(database, "SELECT SUM(s.amount) FROM sale s JOIN payment p ON p.sale_id = s.id")
    assert ledger.line == "Rows of sale are repeated 2 times in all, because they match several rows of payment."


def test_a_table_that_refers_to_itself_is_counted(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "e.sqlite")) as connection, connection:
        connection.executescript("""
            CREATE TABLE dept (code TEXT PRIMARY KEY); INSERT INTO dept VALUES ('x'), ('y');
            CREATE TABLE emp (id INTEGER PRIMARY KEY, boss INTEGER REFERENCES emp, dept TEXT);
            INSERT INTO emp VALUES (1, NULL, 'x'), (2, 1, 'x'), (3, 1, 'y'), (4, 2, 'y'), (5, 2, 'x');
        """)
    with Database.open(tmp_path / "e.sqlite") as database:
        sql = "SELECT COUNT(*) FROM emp e JOIN emp b ON b.id = e.boss JOIN dept d ON d.code = b.dept"
        found = [(join.table, join.of, join.lost, join.repeated) for join in keep(database, sql).joins]
    assert found == [("emp", "emp", 1, 0), ("dept", "emp", 0, 0)]


def test_rows_that_are_repeated_are_lost_once(sales: Database) -> None:
    both = "SELECT COUNT(*) FROM sale s JOIN rate r ON r.shop = s.shop JOIN product p ON p.id = s.product_id"
    found = {join.table: (join.rows, join.lost, join.repeated) for join in keep(sales, both).joins}
    assert found == {"rate": (20, 0, 7), "product": (20, 6, 0)}


@pytest.mark.parametrize(
    ("output", "orphans", "material", "minor"),
    [
        ("DISTINCT f.id", 20, "20 of 200 rows of fact have no match", "rows of fact are repeated 180 times in all"),
        ("COUNT(*)", 1, "rows of fact are repeated 199 times in all", "1 of 200 rows of fact has no match"),
    ],
)
def test_of_one_join_what_is_lost_and_what_is_repeated_are_told_apart(
    tmp_path: Path, output: str, orphans: int, material: str, minor: str
) -> None:
    with closing(sqlite3.connect(tmp_path / "both.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE dim (code TEXT, name TEXT)")
        connection.execute("CREATE TABLE fact (id INTEGER PRIMARY KEY, code TEXT REFERENCES dim (code))")
        connection.execute("INSERT INTO dim VALUES ('a', 'old'), ('a', 'new')")
        connection.executemany("INSERT INTO fact VALUES (?, ?)", [(n, "ab"[n < orphans]) for n in range(200)])
    with Database.open(tmp_path / "both.sqlite") as database:
        sql = f"SELECT {output} FROM fact f JOIN dim d ON d.code = f.code"
        ledger = keep(database, sql)
    assert [fact[: len(material)] for fact in ledger.list_facts(IN_ENGLISH, material=True)] == [material]
    assert [fact[: len(minor)] for fact in ledger.list_facts(IN_ENGLISH, material=False)] == [minor]
    assert ledger.other is None


@pytest.mark.parametrize(
    ("joins", "found"),
    [
        (
            "rate r JOIN sale s ON s.shop = r.shop JOIN product p ON p.id = s.product_id",
            {"rate": (20, 0), "product": (20, 6)},
        ),
        ("rate r JOIN sale s ON s.amount = r.percent", {"rate": (20, 17)}),
        # A sale of which one partner leads on is in the result.
        (
            "product p JOIN sale s ON s.product_id = p.id JOIN rate r ON r.shop = s.shop"
            " JOIN part q ON q.id = r.percent",
            {"product": (20, 6), "rate": (14, 0), "part": (14, 7)},
        ),
    ],
)
def test_each_row_is_counted_once_however_often_joins_have_it(
    tmp_path: Path, joins: str, found: dict[str, tuple[int, int]]
) -> None:
    path = make_sqlite(tmp_path)
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript("""
            CREATE TABLE part (id INTEGER PRIMARY KEY);
            INSERT INTO part VALUES (10);
            INSERT INTO rate VALUES ('N', 11);
        """)
    with Database.open(path) as database:
        ledger = keep(database, f"SELECT SUM(s.amount) FROM {joins}")
    assert {join.table: (join.rows, join.lost) for join in ledger.joins} == found


def test_a_whole_key_repeats_nothing_and_groups_may_share_a_row(sales: Database) -> None:
    english = "SELECT COUNT(*) FROM sale s JOIN label l ON l.product_id = s.product_id AND l.lang = 'en'"
    assert not [join for join in keep(sales, english).joins if join.repeated]
    shared = "SELECT p.paid, SUM(s.amount) FROM sale s JOIN payment p ON p.sale_id = s.id GROUP BY p.paid, p.id"
    assert not [join for join in keep(sales, shared).joins if join.repeated]


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize("side", ["", "LEFT "])
@pytest.mark.parametrize("group", ["p.category", "p.name", "p.category, p.name", "s.qty"])
def test_a_row_in_the_groups_of_several_copies_is_repeated(tmp_path: Path, engine: str, side: str, group: str) -> None:
    """Of 300 sales the groups have 410."""
    path = tmp_path / f"copies.{engine}"
    with closing(sqlite3.connect(path) if engine == "sqlite" else duckdb.connect(str(path))) as connection:
        connection.execute("CREATE TABLE product (code VARCHAR(5), name VARCHAR(9), category VARCHAR(9))")
        connection.execute("CREATE TABLE sale (id INTEGER PRIMARY KEY, product_code VARCHAR(5), qty INTEGER)")
        copies = [*((f"P{n}", f"name {n}", "tools") for n in range(20)), ("P0", "name", "garden")]
        connection.executemany("INSERT INTO product VALUES (?, ?, ?)", copies)
        codes = ["P0" if n < 110 else f"P{n % 19 + 1}" for n in range(300)]
        connection.executemany("INSERT INTO sale VALUES (?, ?, 1)", [*enumerate(codes)])
        connection.commit()
    joined = f"FROM sale s {side}JOIN product p ON p.code = s.product_code"
    with Database.open(path) as database:
        ledger = keep(database, f"SELECT {group}, SUM(s.qty) {joined} GROUP BY {group}")
    assert [(join.of, join.repeated, join.material) for join in ledger.joins] == [("sale", 110, True)]
    assert not ledger.not_counted


SONGS = """
CREATE TABLE song (id INTEGER PRIMARY KEY, length INTEGER);
CREATE TABLE song_genre (song_id INTEGER REFERENCES song, genre TEXT, since INTEGER);
CREATE TABLE chart (code TEXT, name TEXT);
CREATE TABLE play (id INTEGER PRIMARY KEY, song_id INTEGER REFERENCES song, code TEXT REFERENCES chart (code),
    n INTEGER);
CREATE TABLE text (song_id INTEGER, lang TEXT, PRIMARY KEY (song_id, lang));
INSERT INTO song VALUES (1, 100), (2, 100), (3, 100);
INSERT INTO song_genre VALUES (1, 'rock', 1), (1, 'pop', 1), (1, 'pop', 2), (2, 'rock', 1), (3, 'rock', 1);
INSERT INTO play VALUES (1, 1, 'a', 1), (2, 1, 'a', 1), (3, 2, 'a', 1), (4, 2, 'a', 1), (5, 3, 'a', 1);
INSERT INTO chart VALUES ('a', 'old'), ('a', 'new');
INSERT INTO text VALUES (1, 'en'), (1, 'de'), (2, 'en'), (3, 'en');
"""


@pytest.mark.parametrize(
    ("sql", "repeated", "is_whole"),
    [
        # What is in two groups may be meant to be; what is in one of them twice is not.
        ("SUM(o.length) FROM song o JOIN song_genre g ON g.song_id = o.id GROUP BY g.genre", 1, False),
        ("SUM(o.length) FROM song o JOIN song_genre g ON g.song_id = o.id GROUP BY g.genre, g.since", 0, False),
        ("SUM(o.length) FROM song o JOIN song_genre g ON g.song_id = o.id", 2, True),
        ("SUM(p.n) FROM play p JOIN song_genre g ON g.song_id = p.song_id GROUP BY g.genre", 2, False),
        ("SUM(p.n) FROM play p JOIN text t ON t.song_id = p.song_id GROUP BY t.lang", 0, False),
        ("SUM(p.n) FROM play p JOIN text t ON t.song_id = p.song_id AND t.lang = 'en' GROUP BY t.lang", 0, True),
        # No value of a chart is there once, but what a key refers to should be.
        ("SUM(p.n) FROM play p JOIN chart c ON c.code = p.code GROUP BY c.name", 5, True),
        (
            "SUM(p.n) FROM play p JOIN chart c ON c.code = p.code JOIN song o ON o.id = p.song_id GROUP BY c.name",
            5,
            True,
        ),
    ],
)
def test_rows_that_may_be_meant_to_be_in_several_groups_are_not_counted(
    tmp_path: Path, sql: str, repeated: int, is_whole: bool
) -> None:
    with closing(sqlite3.connect(tmp_path / "songs.sqlite")) as connection, connection:
        connection.executescript(SONGS)
    with Database.open(tmp_path / "songs.sqlite") as database:
        ledger = keep(database, f"SELECT {sql}")
    assert sum(join.repeated for join in ledger.joins) == repeated
    facts = [fact for material in (True, False) for fact in ledger.list_facts(IN_ENGLISH, material=material)]
    assert any("within" in fact for fact in facts) == (repeated > 0 and not is_whole)
    said = [reason for reason in ledger.not_counted if reason.startswith("the repeated rows of ")]
    assert [reason.endswith(": a row may be in several groups") for reason in said] == [True] * (not is_whole)


@pytest.mark.parametrize(
    ("output", "group", "told"),
    [
        ("o.customer_id, COUNT(o.id)", "o.customer_id", True),
        # Of one order each it is the number of its items.
        ("o.id, COUNT(o.customer_id)", "o.id", False),
        ("o.customer_id, COUNT(o.customer_id)", "o.customer_id", False),
        ("o.customer_id, COUNT(i.n)", "o.customer_id", False),
    ],
)
def test_a_parent_is_counted_once_in_groups_of_its_own(chain: Database, output: str, group: str, told: bool) -> None:
    joined = f"SELECT {output} FROM orders o JOIN item i ON i.order_id = o.id GROUP BY {group}"
    said = ["rows of orders are repeated 18 times in all, because they match several rows of item"] if told else []
    assert [fact for fact in keep(chain, joined).list_facts(IN_ENGLISH, material=True) if "repeated" in fact] == said


@pytest.mark.parametrize(
    ("output", "side", "told"),
    [
        ("COUNT(*) - COUNT(p.id)", "LEFT ", False),
        ("100.0 * COUNT(p.id) / COUNT(*)", "LEFT ", False),
        ("COUNT(*), COUNT(p.kind)", "LEFT ", False),
        ("COUNT(*) - COUNT(p.kind)", "", False),
        ("COUNT(*), COUNT(p.id)", "", True),
    ],
)
def test_a_count_of_partners_beside_all_rows_is_no_count_of_their_table(
    sales: Database, output: str, side: str, told: bool
) -> None:
    ledger = keep(sales, f"SELECT {output} FROM sale s {side}JOIN product p ON p.id = s.product_id")
    assert any("rows of product are repeated" in fact for fact in ledger.list_facts(IN_ENGLISH, material=True)) is told
    assert not (side and ledger.list_facts(IN_ENGLISH, material=True))
