"""The ledger of rows: what is counted of small databases with planted faults, and what is not counted."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any
from uuid import uuid4

import duckdb
import pytest
from tableturn.tools.database import Database, Limits
from tableturn.tools.errors import QueryError
from tableturn.tools.formats import ColumnFormat
from tableturn.tools.labels import Labels
from tableturn.tools.ledger import Ledger, NotCountedError, build_query_ledger
from tableturn.tools.sql import read_query

from tests.tools.database.servers import MARIADB, POSTGRES

TABLES = """
CREATE TABLE product (id INTEGER PRIMARY KEY, name VARCHAR(20), kind VARCHAR(20));
CREATE TABLE shop (code VARCHAR(5) PRIMARY KEY, town VARCHAR(20));
CREATE TABLE sale (id INTEGER PRIMARY KEY, product_id INTEGER, shop VARCHAR(5), amount INTEGER, day DATE, boss INTEGER);
CREATE TABLE label (product_id INTEGER, lang VARCHAR(2), text VARCHAR(20), PRIMARY KEY (product_id, lang));
CREATE TABLE payment (id INTEGER PRIMARY KEY, sale_id INTEGER, paid INTEGER);
CREATE TABLE rate (shop VARCHAR(5), percent INTEGER);
INSERT INTO product VALUES (1, 'lamp', 'light'), (2, 'chair', 'seat'), (3, 'stool', 'Seat');
INSERT INTO shop VALUES ('N', 'Bonn'), ('S', 'Rome');
INSERT INTO label VALUES (1, 'en', 'lamp'), (1, 'de', 'Lampe'), (2, 'en', 'chair'), (3, 'en', 'stool');
INSERT INTO rate VALUES ('N', 10), ('N', 10), ('S', 20);
INSERT INTO payment VALUES (1, 1, 5), (2, 1, 5), (3, 2, 10);
"""
SALES = [
    (n, product, "NS"[n % 2], None if n % 4 == 1 else n, f"2023-0{n % 8 + 1}-10", 1)
    for n, product in enumerate([1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 99, 99, 99, 99, None, None], 1)
]
"""14 sales of products, 4 of one that is gone, 2 of none; 5 without an amount."""


def _statements() -> list[str]:
    rows = (", ".join("NULL" if cell is None else repr(cell) for cell in row) for row in SALES)
    return [*filter(str.strip, TABLES.split(";\n")), f"INSERT INTO sale VALUES {', '.join(f'({row})' for row in rows)}"]


def _sqlite(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "sales.sqlite")) as connection, connection:
        for statement in _statements():
            connection.execute(statement)
    return str(folder / "sales.sqlite")


def _duckdb(folder: Path) -> str:
    with duckdb.connect(str(folder / "sales.duckdb")) as connection:
        for statement in _statements():
            connection.execute(statement)
    return str(folder / "sales.duckdb")


def _server(server: Any) -> str:
    if server.unavailable():
        pytest.skip(server.unavailable())
    url = server.make_database(f"tt_{uuid4().hex[:12]}")
    for statement in _statements():
        server.run(url, statement)
    return url


@pytest.fixture(scope="module", params=["sqlite", "duckdb", "postgres", "mariadb"])
def sales(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    folder = tmp_path_factory.mktemp("sales")
    made = {
        "sqlite": lambda: _sqlite(folder),
        "duckdb": lambda: _duckdb(folder),
        "postgres": lambda: _server(POSTGRES),
        "mariadb": lambda: _server(MARIADB),
    }
    with Database.open(made[request.param]()) as database:
        yield database


def keep(database: Database, sql: str, **more: Any) -> Ledger:
    def count(counting: str) -> Any:
        try:
            return database.execute(counting, Limits(seconds=20)).rows
        except QueryError as error:
            raise AssertionError(f"{counting}: {error}") from error

    database.execute(sql)
    return build_query_ledger(read_query(sql, database.schema()), count, **more)


def lost(ledger: Ledger) -> dict[str, int]:
    """The rows that each join leaves out."""
    return {join.table: join.lost for join in ledger.joins if not join.kept and not join.ones}


# Rows that a join leaves out: 4 of a product that is gone, 2 of none.


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
        "SELECT town FROM shop WHERE 3 < (SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id)",
        "SELECT p.kind, COUNT(s.id) FROM product p LEFT JOIN sale s ON s.product_id = p.id GROUP BY p.kind",
    ],
)
def test_rows_without_a_partner_are_counted_wherever_a_join_stands(sales: Database, sql: str) -> None:
    ledger = keep(sales, sql)
    (join,) = [join for join in ledger.joins if join.table == "product"]
    assert (join.of, join.rows, join.lost, join.repeated, join.material) == ("sale", 20, 6, 0, True)
    assert "6 of 20 rows of sale have no match in product and are left out" in ledger.material_facts


def test_a_cte_hides_the_table_of_its_name(sales: Database) -> None:
    ledger = keep(sales, "WITH shop AS (SELECT * FROM sale WHERE id > 12) SELECT COUNT(*) FROM shop s"
                         " JOIN product p ON p.id = s.product_id")  # fmt: skip
    assert [(join.of, join.rows, join.lost) for join in ledger.joins] == [("s", 8, 6)]
    own = "WITH product AS (SELECT id FROM product WHERE id < 2) SELECT COUNT(*) FROM sale s JOIN product p USING (id)"
    if sales.dialect != "sqlite":  # it takes that for a recursion
        assert not keep(sales, own).material_facts


def test_another_number_is_written_as_the_answers_own(sales: Database) -> None:
    joined = "FROM sale s JOIN product p ON p.id = s.product_id"
    ledger = keep(sales, f"SELECT SUM(s.id) / 7.0 {joined}", value=15.0)
    assert ledger.line.endswith(" With them it is 30.")
    ledger = keep(sales, f"SELECT SUM(s.id) / 9.0 {joined}", value=11.67)
    assert ledger.line.endswith(" With them it is 23.33.")
    assert ledger.write_line(Labels("de"), [ColumnFormat("number", 1)]).endswith(" Mit ihnen sind es 23,3.")


def test_another_number_stands_beside_a_single_one(sales: Database) -> None:
    ledger = keep(sales, "SELECT COUNT(*) FROM sale JOIN product ON product.id = sale.product_id", value=14)
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
        assert keep(sales, other, value=14).other is None


def test_the_other_number_is_told_as_what_it_is(tmp_path: Path) -> None:
    with Database.open(_sqlite(tmp_path)) as database:
        joined = "FROM sale s JOIN product p ON p.id = s.product_id"
        lost = "6 of 20 rows of sale have no match in product and are left out."
        assert keep(database, f"SELECT COUNT(DISTINCT s.day) {joined}", value=7).line == f"{lost} With them it is 8."
        both = f"{joined} JOIN payment y ON y.id = s.id"
        # Who has no payment is left out by design, so that nobody means a number with those.
        ledger = keep(database, f"SELECT COUNT(*) {both}", value=3)
        assert (ledger.other, [join.material for join in ledger.joins]) == (None, [True, False])
        two = "JOIN part a ON a.id = s.product_id JOIN part b ON b.id = s.amount"
        with closing(sqlite3.connect(tmp_path / "sales.sqlite")) as connection, connection:
            connection.executescript("CREATE TABLE part (id INTEGER PRIMARY KEY); INSERT INTO part VALUES (1), (2);")
    with Database.open(tmp_path / "sales.sqlite") as database:
        ledger = keep(database, f"SELECT SUM(s.id) FROM sale s {two}", value=2)
        assert ledger.line == (
            "10 of 20 rows of sale have no match in part and are left out. "
            "9 of 10 rows of sale have no match in part and are left out. With all of them it is 210."
        )


def test_what_may_be_hidden_is_not_taken_for_lost(sales: Database) -> None:
    sql = "SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id"
    for one in (sql, f"WITH a AS ({sql}) SELECT * FROM a"):
        ledger = keep(sales, one, value=14, ruled=frozenset({"product"}))
        assert (ledger.joins, ledger.other) == ((), None)
        assert "which rows of product may be read depends on who asks" in ledger.not_counted[0]
    assert keep(sales, sql, ruled=frozenset({"sale"})).joins


def test_the_querys_own_filters_hold(sales: Database) -> None:
    some = "SELECT COUNT(*) FROM sale s JOIN product p ON p.id = s.product_id WHERE s.id > 12 AND p.kind = 'light'"
    (join,) = keep(sales, some).joins
    # Two of the six refer to no product at all: who asks about light ones does not ask about them.
    assert (join.rows, join.lost) == (8, 4)
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
    assert bool(ledger.material_facts) is found[2]
    assert not ledger.minor_facts


def test_the_side_of_ones_is_not_told(sales: Database) -> None:
    """That shops and sales have no payment is by design: a payment refers to its sale."""
    ledger = keep(sales, "SELECT s.id, SUM(p.paid) FROM sale s JOIN payment p ON p.sale_id = s.id GROUP BY s.id")
    assert lost(ledger) == {"sale": 0}
    assert not ledger.material_facts


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
            if "COUNT(DISTINCT" in counting:
                raise NotCountedError("its time was over")
            return database.execute(counting).rows

        # Without the time to look at them, what is lost of the rows that count is told.
        sql = "SELECT COUNT(*) FROM visits JOIN areas USING (area_no)"
        ledger = build_query_ledger(read_query(sql, database.schema()), count)
        assert (ledger.joins[0].lost, ledger.joins[0].material) == (10, True)
        assert ledger.not_counted[0].startswith("the different values of ")


@pytest.mark.parametrize(
    "rest",
    [
        "JOIN label l ON l.product_id = s.product_id AND l.lang = 'de'",
        "JOIN label l ON l.product_id = s.product_id WHERE 'de' = l.lang",
        "LEFT JOIN label l ON l.product_id = s.product_id AND l.lang = 'de'",
    ],
)
def test_a_partner_meets_the_rest_of_its_key(sales: Database, rest: str) -> None:
    ledger = keep(sales, f"SELECT COUNT(*) FROM sale s {rest}", value=5)
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
    path = _sqlite(tmp_path)
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
        assert keep(database, f"SELECT COUNT(amount) {joined}").minor_facts


# Rows that a join repeats.


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
    ],
)
def test_rows_that_are_repeated_are_counted(sales: Database, sql: str, table: str, of: str, more: int) -> None:
    ledger = keep(sales, sql)
    assert [(join.table, join.of, join.repeated) for join in ledger.joins if join.repeated] == [(table, of, more)]


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT SUM(s.amount), SUM(y.paid) FROM sale s JOIN payment y ON y.sale_id = s.id",
        "SELECT SUM(s.amount) - SUM(y.paid) FROM sale s JOIN payment y ON y.sale_id = s.id",
        "WITH j AS (SELECT s.id, s.amount AS a FROM sale s JOIN payment y ON y.sale_id = s.id) SELECT SUM(a) FROM j",
        "SELECT SUM(x.amount) FROM (SELECT s.*, y.paid FROM sale s JOIN payment y ON y.sale_id = s.id) AS x",
    ],
)
def test_each_sum_is_looked_at_where_its_rows_are_joined(sales: Database, sql: str) -> None:
    ledger = keep(sales, sql)
    assert ledger.material_facts == ("1 row of sale is repeated, because it matches several rows of payment",)


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
    ledger = keep(sales, f"SELECT COUNT(s.id) FROM {rest}", value=0)
    assert ([join.lost for join in ledger.joins if join.lost], ledger.other) == ([lost], None)


def test_functions_of_one_engine_are_read(tmp_path: Path) -> None:
    with Database.open(_sqlite(tmp_path)) as database:
        joined = "FROM payment y JOIN sale s ON s.id = y.sale_id JOIN product p ON p.id = s.product_id"
        assert [join.repeated for join in keep(database, f"SELECT TOTAL(s.amount) {joined}").joins] == [0, 0, 1]


def test_how_often_rows_are_repeated_is_told(tmp_path: Path) -> None:
    path = _sqlite(tmp_path)
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
        ledger = keep(database, sql, value=2 * (200 - orphans) if output == "COUNT(*)" else None)
    assert [fact[: len(material)] for fact in ledger.material_facts] == [material]
    assert [fact[: len(minor)] for fact in ledger.minor_facts] == [minor]
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
    path = _sqlite(tmp_path)
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


# Rows of which the query gives one each, and that nothing refers to.


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
    assert sum(join.lost for join in alone.joins if join.ones) == left_out
    told = [said for said in asked.material_facts if "left out, because no counted row" in said]
    assert bool(told) is bool(left_out)
    assert [said for said in alone.minor_facts if "left out, because no counted row" in said] == told
    assert not [said for said in alone.material_facts if "no counted row" in said]


# Missing values, and groups that are written in several ways.


def test_missing_values_are_counted_where_they_hide(sales: Database) -> None:
    ledger = keep(sales, "SELECT AVG(amount) FROM sale HAVING AVG(amount) > 0")
    assert [(one.column, one.use, one.missing, one.rows) for one in ledger.nulls] == [("amount", "averaged", 5, 20)]
    assert ledger.material_facts == ("5 of 20 rows of sale have no amount, which the average leaves out",)
    grouped = keep(sales, "SELECT product_id, COUNT(*) FROM sale GROUP BY product_id")
    assert [(one.use, one.missing, one.material) for one in grouped.nulls] == [("grouped", 2, False)]
    assert grouped.minor_facts == ("2 of 20 rows of sale have no product id",)
    joined = keep(sales, "SELECT AVG(s.amount) FROM payment p JOIN sale s ON s.id = p.sale_id")
    assert joined.material_facts == ("2 of 3 joined rows have no amount, which the average leaves out",)


def test_values_that_are_missing_in_what_is_computed_are_counted(sales: Database) -> None:
    found = keep(sales, "SELECT ROUND(AVG(amount * 1.0), 1) FROM sale").nulls
    assert [(one.column, one.missing, one.material) for one in found] == [("amount", 5, True)]
    assert not keep(sales, "SELECT AVG(COALESCE(amount, 0)) FROM sale").nulls


@pytest.mark.parametrize(
    "read",
    [
        "(SELECT id, amount AS value FROM sale) AS s",
        "(SELECT * FROM sale) AS s",
        "(SELECT a.id, a.amount AS value FROM (SELECT * FROM sale) AS a) AS s",
    ],
)
def test_missing_values_are_counted_through_sub_queries(sales: Database, read: str) -> None:
    column = "amount" if read.startswith("(SELECT *") else "value"
    ledger = keep(sales, f"SELECT AVG({column}) FROM {read}")
    assert [(one.table, one.column, one.missing, one.of) for one in ledger.nulls] == [("sale", "amount", 5, "s")]
    assert not ledger.not_counted


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT AVG(CASE WHEN shop = 'N' THEN amount END) FROM sale", ["missing values of CASE"]),
        ("SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM sale GROUP BY id) AS c", ["missing values of n: it is comp"]),
        ("SELECT COALESCE(kind, '?'), COUNT(*) FROM product GROUP BY COALESCE(kind, '?')",
         ["missing values of COALESCE", "variants of COALESCE"]),
        ("SELECT n, COUNT(*) FROM (SELECT UPPER(kind) AS n FROM product) AS p GROUP BY n",
         ["missing values of n: it is comp", "variants of n: it is comp"]),
        ("SELECT amount + 1, COUNT(*) FROM sale GROUP BY amount + 1", ["missing values of amount + 1: it is comp"]),
        ("SELECT AVG(COALESCE(amount, 0)) FROM sale", []),
    ],
)  # fmt: skip
def test_values_that_are_not_counted_are_named(sales: Database, sql: str, said: list[str]) -> None:
    ledger = keep(sales, sql)
    assert [one[: len(start)] for one, start in zip(ledger.not_counted, said, strict=True)] == said
    assert (ledger.nulls, ledger.variants) == ((), ())


def test_forms_of_one_engine_are_named(tmp_path: Path) -> None:
    with Database.open(_duckdb(tmp_path)) as database:
        ledger = keep(database, "SELECT AVG(amount) FILTER (WHERE shop = 'N') FROM sale")
        assert (ledger.nulls, ledger.not_counted) == ((), ("missing values of amount: not every row is averaged",))
        for group in ("ROLLUP (kind)", "ALL"):
            ledger = keep(database, f"SELECT kind, COUNT(*) FROM product GROUP BY {group}")
            assert ledger.not_counted == ("missing values and variants in product: it groups in several ways",)


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("id NOT IN (SELECT product_id FROM sale)", [(2, 20)]),
        ("NOT (id IN (SELECT DISTINCT product_id FROM sale WHERE id > 19))", [(1, 1)]),
        ("id NOT IN (SELECT product_id FROM sale WHERE product_id IS NOT NULL)", []),
        ("id IN (SELECT product_id FROM sale)", []),
    ],
)
def test_missing_values_that_not_in_compares_are_told(
    sales: Database, condition: str, found: list[tuple[int, int]]
) -> None:
    ledger = keep(sales, f"SELECT COUNT(*) FROM product WHERE {condition}")
    assert [(one.missing, one.rows) for one in ledger.nulls] == found
    told = [said for said in ledger.material_facts if said.endswith("no product id, so that “not in” finds nothing")]
    assert len(told) == len(found)


@pytest.mark.parametrize("rest", ["FROM sale s WHERE s.id = product.id", "FROM sale GROUP BY product_id LIMIT 3"])
def test_missing_values_that_not_in_compares_are_not_guessed(tmp_path: Path, rest: str) -> None:
    with Database.open(_sqlite(tmp_path)) as database:
        sql = f"SELECT COUNT(*) FROM product WHERE id NOT IN (SELECT product_id {rest})"
        assert "missing values in sale, which “not in” compares: " in "".join(keep(database, sql).not_counted)


def test_groups_that_differ_only_in_blanks_are_told(tmp_path: Path) -> None:
    names = ["New York", "New  York", "Rome", "Rome\u00a0", "Oslo", "Oslo\t", "Bonn"]
    for engine in ("sqlite", "duckdb"):
        path = tmp_path / f"n.{engine}"
        connect = sqlite3.connect if engine == "sqlite" else duckdb.connect
        with closing(connect(str(path))) as connection:
            connection.execute("CREATE TABLE town (id INTEGER PRIMARY KEY, name VARCHAR)")
            connection.executemany("INSERT INTO town VALUES (?, ?)", [*enumerate(names)])
            connection.commit()
        with Database.open(path) as database:
            for sql in (
                "SELECT name, COUNT(*) FROM town GROUP BY name",
                "SELECT DISTINCT name FROM town",
                "SELECT s.n FROM (SELECT name AS n FROM town) AS s GROUP BY s.n",
            ):
                (found,) = keep(database, sql).variants
                assert (found.column, found.groups, found.rows) == ("name", 3, 3)


def test_groups_that_differ_only_in_case_are_told(sales: Database) -> None:
    ledger = keep(sales, "SELECT kind, COUNT(*) FROM product GROUP BY kind")
    if sales.dialect == "mysql":  # it compares texts without their case
        assert ledger.variants == ()
    else:
        assert [(one.column, one.groups, one.rows) for one in ledger.variants] == [("kind", 1, 1)]
        assert ledger.material_facts[0].startswith("some groups of kind differ only in case or spacing (“")


def test_values_stand_in_one_short_line(tmp_path: Path) -> None:
    codes = [f"{start}\n# \x1b[31m\u202e{'y' * 9_000}" for start in "aA"]
    with closing(sqlite3.connect(tmp_path / "v.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE kind (code TEXT PRIMARY KEY)")
        connection.execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, code TEXT REFERENCES kind)")
        connection.executemany("INSERT INTO thing (code) VALUES (?)", [(code,) for code in codes])
    with Database.open(tmp_path / "v.sqlite") as database:
        joined = keep(database, "SELECT COUNT(*) FROM thing t JOIN kind k ON k.code = t.code", examples=True)
        grouped = keep(database, "SELECT code, COUNT(*) FROM thing GROUP BY code")
    for line in (joined.line, grouped.line):
        assert "a #  [31m yyy" in line
        assert line.isprintable()
        assert len(line) < 200


# The newest date.


@pytest.mark.parametrize(
    ("newest", "today", "told"),
    [("2023-11-03", "2026-01-01", True), ("2023-12-31", "2026-01-01", False), ("2023-11-03", "2023-11-04", False)],
)
def test_data_that_ends_within_the_period_is_told(sales: Database, newest: str, today: str, told: bool) -> None:
    sql = "SELECT COUNT(*) FROM sale WHERE day >= '2023-01-01' AND day <= '2023-12-31'"

    def look(table: str, column: str) -> str:
        assert (table, column) == ("sale", "day")
        return newest

    ledger = keep(sales, sql, newest=look, today=date.fromisoformat(today))
    assert (f"the data ends on {Labels().date(newest)}, before 31 Dec 2023" in ledger.material_facts) is told


@pytest.mark.parametrize(
    ("since", "newest", "told"),
    [
        ("day >= '2026-10-01'", "2024-06-01", "2026-10-01"),
        ("day > '2024-05-31'", "2024-06-01", ""),
        ("day >= CURRENT_DATE", "2024-06-01", date.today().isoformat()),
        ("day BETWEEN CURRENT_DATE AND CURRENT_DATE", "2024-06-01", date.today().isoformat()),
        ("day <= CURRENT_DATE", "2024-06-01", ""),
        ("CAST(day AS DATE) >= CURRENT_DATE", date.max.isoformat(), ""),
    ],
)
def test_data_that_ends_before_a_period_without_end_is_told(tmp_path: Path, since: str, newest: str, told: str) -> None:
    def look(*_: str) -> str:
        return newest

    with Database.open(_duckdb(tmp_path)) as database:
        ledger = keep(database, f"SELECT COUNT(*) FROM sale WHERE {since}", newest=look)
    assert ledger.material_facts == (
        (f"the data ends on {Labels().date(newest)}, before {Labels().date(told)}",) if told else ()
    )


# What is not counted.


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
        ("SELECT COUNT(*) FROM sale s JOIN product p ON COALESCE(p.id, 0) = s.product_id", "no table has one row"),
        (
            "SELECT COUNT(*) FROM payment y LEFT JOIN sale s ON s.id = y.sale_id AND s.amount > 1"
            " JOIN product p ON p.id = s.product_id",
            "with a condition of its own",
        ),
        ("SELECT COUNT(*) FROM payment WHERE sale_id IN (SELECT id FROM sale)", "no match in sale"),
        ("SELECT COUNT(*) FROM sale s WHERE EXISTS (SELECT 1 FROM payment y WHERE y.sale_id = s.id)", "in payment"),
        ("SELECT COUNT(*) FROM sale s WHERE s.id > 3 OR s.id IN (SELECT sale_id FROM payment)", "in payment"),
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
        "SELECT COUNT(*) FROM product WHERE id IN (SELECT product_id FROM sale)",
        "SELECT name FROM product p WHERE EXISTS (SELECT 1 FROM sale s WHERE s.product_id = p.id)",
        "SELECT p.name FROM product p LEFT JOIN sale s ON s.product_id = p.id WHERE s.id IS NULL",
        "SELECT a.id, b.id FROM sale a JOIN sale b ON b.id = a.boss",
        "SELECT 1",
    ],
)
def test_nothing_is_told_where_nothing_is_lost(sales: Database, sql: str) -> None:
    assert not keep(sales, sql).material_facts


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
            assert "1 of 2 rows of my visit has no match in area and is left out" in ledger.material_facts


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
         {"payment": (20, 18), "rate": (2, 1), "payment or rate": (1, 0)}),
        # Who has no boss has no boss's product; one of a boss whose product is gone is missed.
        ("sale a LEFT JOIN sale b ON b.id = a.amount JOIN product p ON p.id = b.product_id", {"sale": (20, 5),
         "product": (20, 10)}),
        ("sale a LEFT JOIN sale b ON b.id = a.amount JOIN product p ON p.id = b.product_id WHERE p.kind = 'light'",
         {"sale": (13, 0), "product": (20, 3)}),
    ],
)  # fmt: skip
def test_missing_parts_of_keys_refer_to_nothing(sales: Database, rest: str, found: dict[str, tuple[int, int]]) -> None:
    ledger = keep(sales, f"SELECT COUNT(*) FROM {rest}")
    assert {join.table: (join.rows, join.lost) for join in ledger.joins} == found


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
