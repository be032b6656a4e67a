"""Missing values, and groups that are written in several ways."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import duckdb
import pytest
from tableturn.tools.database import Database, Limits
from tableturn.tools.labels import IN_ENGLISH
from tableturn.tools.ledger import build_query_ledger
from tableturn.tools.sql import read_query

from tests.tools.ledger.sales import keep, make_duckdb, make_sqlite


def test_missing_values_are_counted_where_they_hide(sales: Database) -> None:
    ledger = keep(sales, "SELECT AVG(amount) FROM sale HAVING AVG(amount) > 0")
    assert [(one.column, one.use, one.missing, one.rows) for one in ledger.nulls] == [("amount", "averaged", 5, 20)]
    assert ledger.list_facts(IN_ENGLISH, material=True) == (
        "5 of 20 rows of sale have no amount, which the average leaves out",
    )
    grouped = keep(sales, "SELECT product_id, COUNT(*) FROM sale GROUP BY product_id")
    assert [(one.use, one.missing, one.material) for one in grouped.nulls] == [("grouped", 2, False)]
    assert grouped.list_facts(IN_ENGLISH, material=False) == ("2 of 20 rows of sale have no product id",)
    joined = keep(sales, "SELECT AVG(s.amount) FROM payment p JOIN sale s ON s.id = p.sale_id")
    assert joined.list_facts(IN_ENGLISH, material=True) == ("2 of 3 rows have no amount, which the average leaves out",)


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
    assert [(one.table, one.column, one.missing, one.of) for one in ledger.nulls] == [("sale", "amount", 5, "sale")]
    assert not ledger.not_counted


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT AVG(CASE WHEN shop = 'N' THEN amount END) FROM sale", ["missing values of CASE"]),
        ("SELECT AVG(n) FROM (SELECT COUNT(*) AS n FROM sale GROUP BY id) AS c", ["missing values of n: the value"]),
        ("SELECT COALESCE(kind, '?'), COUNT(*) FROM product GROUP BY COALESCE(kind, '?')",
         ["missing values of COALESCE", "variants of COALESCE"]),
        ("SELECT n, COUNT(*) FROM (SELECT UPPER(kind) AS n FROM product) AS p GROUP BY n",
         ["missing values of n: the value", "variants of n: the value"]),
        ("SELECT amount + 1, COUNT(*) FROM sale GROUP BY amount + 1", ["missing values of amount + 1: the value"]),
        ("SELECT AVG(COALESCE(amount, 0)) FROM sale", []),
    ],
)  # fmt: skip
def test_values_that_are_not_counted_are_named(sales: Database, sql: str, said: list[str]) -> None:
    ledger = keep(sales, sql)
    assert [one[: len(start)] for one, start in zip(ledger.not_counted, said, strict=True)] == said
    assert (ledger.nulls, ledger.variants) == ((), ())


def test_forms_of_one_engine_are_named(tmp_path: Path) -> None:
    with Database.open(make_duckdb(tmp_path)) as database:
        ledger = keep(database, "SELECT AVG(amount) FILTER (WHERE shop = 'N') FROM sale")
        assert (ledger.nulls, ledger.not_counted) == ((), ("missing values of amount: not every row is averaged",))
        for group in ("ROLLUP (kind)", "ALL"):
            ledger = keep(database, f"SELECT kind, COUNT(*) FROM product GROUP BY {group}")
            assert ledger.not_counted == (
                "missing values and variants in product: it groups by several sets of columns",
            )


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
    told = [
        said
        for said in ledger.list_facts(IN_ENGLISH, material=True)
        if said.endswith("no product id, so that “not in” finds nothing")
    ]
    assert len(told) == len(found)


@pytest.mark.parametrize(
    ("condition", "missing", "rows"),
    [
        ("product_id NOT IN (SELECT id FROM product)", 2, 20),
        ("id > 10 AND NOT (product_id IN (SELECT id FROM product))", 2, 10),
        ("product_id <> ALL (SELECT id FROM product)", 2, 20),
        ("NOT product_id = ANY (SELECT id FROM product)", 2, 20),
        # Nothing is in an empty list; and who has another condition to meet need not meet this one.
        ("product_id NOT IN (SELECT id FROM product WHERE id < 0)", 0, 0),
        ("(id < 5 OR product_id NOT IN (SELECT id FROM product))", 0, 0),
        ("product_id IN (SELECT id FROM product)", 0, 0),
    ],
)
def test_rows_that_not_in_leaves_out_for_a_missing_value_are_told(
    sales: Database, condition: str, missing: int, rows: int
) -> None:
    if sales.dialect == "sqlite" and ("ALL" in condition or "ANY" in condition):
        pytest.skip("it has none")
    ledger = keep(sales, f"SELECT COUNT(*) FROM sale WHERE {condition}")
    assert [(one.use, one.missing, one.rows) for one in ledger.nulls] == [("unmatched", missing, rows)] * bool(missing)
    told = (f"2 of {rows} rows of sale have no product id and are left out",) if missing else ()
    assert ledger.list_facts(IN_ENGLISH, material=True) == told


@pytest.mark.parametrize(
    ("condition", "missing", "rows"),
    [
        ("product_id NOT IN (1, 2)", 2, 20),
        ("product_id <> 1", 2, 20),
        ("id > 10 AND NOT product_id = 1", 2, 10),
        ("product_id <> 1 AND product_id IS NOT NULL", 0, 0),
        ("(product_id <> 1 OR product_id IS NULL)", 0, 0),
        ("shop <> ''", 0, 0),
        ("id <> 1", 0, 0),
        ("product_id IN (1, 2)", 0, 0),
    ],
)
def test_rows_that_an_excluded_constant_leaves_out_for_a_missing_value_stand_in_the_basis(
    sales: Database, condition: str, missing: int, rows: int
) -> None:
    ledger = keep(sales, f"SELECT COUNT(*) FROM sale WHERE {condition}")
    assert [(one.use, one.missing, one.rows) for one in ledger.nulls] == [("unmatched", missing, rows)] * bool(missing)
    assert (ledger.list_facts(IN_ENGLISH, material=True), ledger.not_counted) == ((), ())


def test_missing_values_that_all_compares_are_told(sales: Database) -> None:
    if sales.dialect == "sqlite":
        pytest.skip("it has none")
    ledger = keep(sales, "SELECT COUNT(*) FROM product WHERE id <> ALL (SELECT product_id FROM sale)")
    assert [(one.use, one.missing, one.rows) for one in ledger.nulls] == [("excluded", 2, 20)]


@pytest.mark.parametrize("rest", ["FROM sale s WHERE s.id = product.id", "FROM sale GROUP BY product_id LIMIT 3"])
def test_missing_values_that_not_in_compares_are_not_guessed(tmp_path: Path, rest: str) -> None:
    with Database.open(make_sqlite(tmp_path)) as database:
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


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["1 12", "11 2", "112"], 0),
        (["1  12", " 1 12 ", "11 2"], 1),
        (["AA", "Aa", "aa", "B"], 0),
        (["A ", "A", "a"], 1),
        (["ja", "Ja", "JA", "nein"], 2),
        (["ja", "Ja", "JA"], 2),
    ],
)
def test_inner_spaces_and_the_case_of_codes_are_meaning(
    tmp_path: Path, engine: str, names: list[str], groups: int
) -> None:
    with closing((sqlite3 if engine == "sqlite" else duckdb).connect(str(tmp_path / f"c.{engine}"))) as connection:
        connection.execute("CREATE TABLE thing (id INTEGER PRIMARY KEY, name VARCHAR)")
        connection.executemany("INSERT INTO thing VALUES (?, ?)", [*enumerate(names)])
        connection.commit()
    with Database.open(tmp_path / f"c.{engine}") as database:
        found = keep(database, "SELECT name, COUNT(*) FROM thing GROUP BY name").variants
    assert sum(one.groups for one in found) == groups


@pytest.mark.parametrize("engine", ["sqlite", "duckdb"])
def test_letters_of_any_alphabet_are_folded(tmp_path: Path, engine: str) -> None:
    names = ["Müller", "MÜLLER", "Mu\u0308ller", "Straße", "STRASSE", "ΣΟΦΙΑ", "σοφία", "Жук", "ЖУК", "Ost", "West"]
    with closing((sqlite3 if engine == "sqlite" else duckdb).connect(str(tmp_path / f"l.{engine}"))) as connection:
        connection.execute("CREATE TABLE person (id INTEGER PRIMARY KEY, name VARCHAR)")
        connection.executemany("INSERT INTO person VALUES (?, ?)", [*enumerate(names)])
        connection.commit()
    with Database.open(tmp_path / f"l.{engine}") as database:
        (found,) = keep(database, "SELECT name, COUNT(*) FROM person GROUP BY name").variants
    assert (found.groups, found.rows, found.material) == (4, 4, True)


def test_variants_among_too_many_values_are_not_counted(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "m.sqlite")) as connection, connection:
        connection.execute("CREATE TABLE word (id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany("INSERT INTO word VALUES (?, ?)", [(n, f"{'aA'[n % 2]}{n // 2}") for n in range(10_002)])
    with Database.open(tmp_path / "m.sqlite") as database:
        sql = "SELECT name, COUNT(*) FROM word GROUP BY name"
        query = read_query(sql, database.schema())
        ledger = build_query_ledger(query, lambda counting: database.execute(counting, Limits(rows=20_000)).rows)
    assert (ledger.variants, ledger.not_counted) == ((), ("variants of word.name: there are too many groups",))


def test_groups_that_differ_only_in_case_are_told(sales: Database) -> None:
    ledger = keep(sales, "SELECT kind, COUNT(*) FROM product GROUP BY kind")
    if sales.dialect == "mysql":  # it compares texts without their case
        assert ledger.variants == ()
    else:
        assert [(one.column, one.groups, one.rows) for one in ledger.variants] == [("kind", 1, 1)]
        assert ledger.list_facts(IN_ENGLISH, material=True)[0].startswith(
            "some values of kind differ only in case or spacing (“"
        )


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("kind = 'seat'", [(("“seat”", "“Seat”"), 1, True)]),
        ("kind <> 'seat' AND id > 0", [(("“seat”", "“Seat”"), 1, True)]),
        ("kind NOT IN ('light', 'SEAT ')", [(("“SEAT ”", "“Seat”", "“seat”"), 2, True)]),
        ("kind = 'seat' AND id < 3", []),
        ("kind IN ('seat', 'Seat')", []),
        ("LOWER(kind) = 'seat'", []),
        ("kind = 'light' OR kind = 'seat'", []),
    ],
)
def test_values_beside_those_asked_for_are_told(
    sales: Database, condition: str, found: list[tuple[tuple[str, ...], int, bool]]
) -> None:
    if sales.dialect == "mysql":  # it compares texts without their case
        found = []
    variants = keep(sales, f"SELECT COUNT(*) FROM product WHERE {condition}").variants
    assert [((*one.values,), one.rows, one.material) for one in variants] == found


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
