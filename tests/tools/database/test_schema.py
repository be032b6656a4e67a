"""Reading schemas: structure, keys, counts, samples, comments and likely keys."""

from __future__ import annotations

import sqlite3
import time
from itertools import count
from pathlib import Path
from types import SimpleNamespace

import pytest
from tableturn.tools.database import Database, ForeignKey, Schema
from tableturn.tools.database.column_kinds import infer_column_kind
from tableturn.tools.database.sqlite.read_schema import parse_ddl_comments
from tableturn.tools.database.table import Cell


@pytest.fixture(scope="module")
def schema(shop: Database) -> Schema:
    return shop.schema()


def _made(path: Path, script: str) -> Schema:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    with Database.open(path) as database:
        return database.schema()


def test_tables_views_and_virtual_tables(schema: Schema) -> None:
    assert {table.name: table.kind for table in schema.tables} == {
        "customer": "table",
        "orders": "table",
        "product": "table",
        "line": "table",
        "staff": "table",
        "country": "table",
        "odd name": "table",
        "empty": "table",
        "paid": "view",
        "note": "virtual",
        "note_terms": "virtual",
        "old_note": "virtual",
        "place": "virtual",
    }
    assert schema.name == "shop"


def test_columns(schema: Schema) -> None:
    orders = schema.table("ORDERS")
    assert orders is not None
    assert [(c.name, c.type, c.kind) for c in orders.columns] == [
        ("id", "INTEGER", "number"),
        ("customer_id", "INTEGER", "number"),
        ("status", "VARCHAR(10)", "text"),
        ("total", "REAL", "number"),
        ("ordered_on", "TEXT", "time"),
    ]
    assert orders.row_count == 4
    status = orders.column("status")
    assert status is not None
    assert (status.samples, status.distinct, status.nulls) == (("paid", "open"), 2, False)
    customer = schema.table("customer")
    assert customer is not None
    assert [(c.name, c.not_null, c.nulls) for c in customer.columns] == [
        ("id", False, False),
        ("name", True, False),
        ("city", False, True),
    ]


def test_keys(schema: Schema) -> None:
    line, product = schema.table("line"), schema.table("product")
    assert line is not None
    assert product is not None
    assert (line.primary_key, product.primary_key) == (("id", "sku"), ("sku",))
    assert ForeignKey("orders", ("customer_id",), "customer", ("id",)) in schema.foreign_keys
    assert ForeignKey("line", ("sku",), "product", ("sku",)) in schema.foreign_keys
    own = [key for key in schema.foreign_keys if key.table == "staff"]
    assert own == [ForeignKey("staff", ("boss_id",), "staff", ("id",), inferred=True)]


def test_generated_and_odd_columns(schema: Schema) -> None:
    product, odd = schema.table("product"), schema.table("odd name")
    assert product is not None
    assert odd is not None
    assert [column.generated for column in product.columns] == [False, False, False, True]
    assert [column.name for column in odd.columns] == ['a "quoted" column', "select", "größe"]


def test_comments(schema: Schema) -> None:
    customer = schema.table("customer")
    assert customer is not None
    assert [column.comment for column in customer.columns] == ["people who bought something", *_COMMENTS]


_COMMENTS = ["first and family name", "where they live"]


@pytest.mark.parametrize(
    ("sql", "table", "columns"),
    [
        ("CREATE TABLE t (a, b)", "", {}),
        ("CREATE TABLE t -- about t\n(a, b)", "about t", {}),
        ("CREATE TABLE t (a INT, -- one\n b INT -- two\n)", "", {"a": "one", "b": "two"}),
        ("CREATE TABLE t (\n -- one\n a INT,\n /* two\n   lines */\n b INT)", "", {"a": "one", "b": "two lines"}),
        ('CREATE TABLE t (a DECIMAL(3, 2), -- one\n "B c" INT, -- two\n [d] INT /* three */)', "", None),
        ("CREATE TABLE t (a TEXT DEFAULT '-- no', b CHECK (b > 1) /* yes */)", "", {"b": "yes"}),
        ("CREATE TABLE t (a /* open", "", {"a": "open"}),
    ],
)
def test_comments_in_ddl(sql: str, table: str, columns: dict[str, str] | None) -> None:
    expected = {"a": "one", "b c": "two", "d": "three"} if columns is None else columns
    assert parse_ddl_comments(sql) == (table, expected)


@pytest.mark.parametrize(
    ("declared", "values", "kind"),
    [
        ("INTEGER", (1,), "number"),
        ("", (1, 2.5), "number"),
        ("", ("a",), "text"),
        ("", (b"x",), "binary"),
        ("", (), "other"),
        ("", (1, "a"), "other"),
        ("NUMERIC(10,2)", (), "number"),
        ("VARCHAR(20)", ("a",), "text"),
        ("VARCHAR(20)", ("1", "2"), "text"),
        ("INT", ("a", "b"), "text"),
        ("BOOLEAN", ("T",), "boolean"),
        ("bool", ("St. Mirren Park", "Somerset Park"), "text"),
        ("bit", (1,), "boolean"),
        ("DATETIME", (), "time"),
        ("TIMESTAMP WITH TIME ZONE", (), "time"),
        ("TEXT", ("2024-01-05", "2024-01-05 10:00:00"), "time"),
        ("TEXT", ("05/01/2024",), "time"),
        ("TEXT", ("5 Jan 2024", "January 5, 2024"), "time"),
        ("TEXT", ("2024-01-05", "soon"), "text"),
        ("TEXT", ("2024",), "text"),
        ("TEXT", ("2.4/6", "3.1/5"), "text"),
        ("BLOB", (b"x",), "binary"),
        ("POINT", ("1 2",), "text"),
        ("YEAR", (2024,), "number"),
    ],
)
def test_kinds(declared: str, values: tuple[Cell, ...], kind: str) -> None:
    assert infer_column_kind(declared, values) == kind


def test_likely_keys(tmp_path: Path) -> None:
    schema = _made(
        tmp_path / "likely.db",
        """
        CREATE TABLE Teams (team_id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE stadium (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE country (code TEXT PRIMARY KEY);
        CREATE TABLE game (
          game_id INTEGER PRIMARY KEY, home_team_id INTEGER, team_id INTEGER, stadiumId INTEGER, stray_team_id INTEGER,
          country_code TEXT, name TEXT, id INTEGER
        );
        CREATE TABLE person (id INTEGER PRIMARY KEY, parent_person_id INTEGER);
        INSERT INTO Teams VALUES (1, 'a'), (2, 'b');
        INSERT INTO stadium VALUES (10, 'x');
        INSERT INTO country VALUES ('NO');
        INSERT INTO game VALUES (1, 1, 2, 10, 9, 'NO', 'a', 10), (2, 2, NULL, 10, 1, 'NO', 'b', 10);
        INSERT INTO person VALUES (1, NULL), (2, 1);
        """,
    )
    assert all(key.inferred for key in schema.foreign_keys)
    assert {(k.table, k.columns[0], k.ref_table, k.ref_columns[0]) for k in schema.foreign_keys} == {
        ("game", "home_team_id", "Teams", "team_id"),
        ("game", "team_id", "Teams", "team_id"),
        ("game", "stadiumId", "stadium", "id"),
        ("game", "country_code", "country", "code"),
        ("person", "parent_person_id", "person", "id"),
    }


def test_composite_and_dangling_keys(tmp_path: Path) -> None:
    schema = _made(
        tmp_path / "keys.db",
        """
        CREATE TABLE a (x INT, y INT, PRIMARY KEY (y, x));
        CREATE TABLE b (p INT, q INT, FOREIGN KEY (p, q) REFERENCES a, FOREIGN KEY (p) REFERENCES gone (z));
        CREATE TABLE c (p INT REFERENCES A (X), q INT REFERENCES a (absent));
        """,
    )
    assert set(schema.foreign_keys) == {
        ForeignKey("b", ("p", "q"), "a", ("y", "x")),
        ForeignKey("c", ("p",), "a", ("x",)),
    }


def test_large_table_is_sampled(tmp_path: Path) -> None:
    schema = _made(
        tmp_path / "large.db",
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, word TEXT, long TEXT);
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 5000)
        INSERT INTO t SELECT x, 'w' || (x % 7), NULL FROM c;
        UPDATE t SET long = hex(zeroblob(1500000)) WHERE id = 5;
        """,
    )
    table = schema.tables[0]
    word = table.column("word")
    assert word is not None
    assert table.row_count == 5000
    assert word.distinct == 7
    assert word.samples[0] in {f"w{i}" for i in range(7)}


def test_names_are_found_in_any_case(tmp_path: Path) -> None:
    schema = _made(tmp_path / "x.db", 'CREATE TABLE "Größe" ("Ärger" INT); CREATE TABLE "a.b" ("c.d" INT, "" INT);')
    assert schema.column("größe", "ärger") is not None
    assert schema.column("A.B", "C.D") is not None


def test_what_is_seen_depends_on_no_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "wide.sqlite"
    with sqlite3.connect(path) as connection:
        for table in "abcdef":
            connection.execute(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT)")
            rows = ((f"{table}{number % 7}",) for number in range(3_000))
            connection.executemany(f"INSERT INTO {table} (name) VALUES (?)", rows)
    connection.close()
    with Database.open(path) as database:
        at_once = database.schema()
    late = count(step=5)
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + next(late))
    monkeypatch.setattr("tableturn.tools.database.sqlite.read_schema.time", clock)
    with Database.open(path) as database:
        assert database.schema() == at_once
    assert [table.row_count for table in at_once.tables] == [3_000] * 6
    assert [table.columns[1].distinct for table in at_once.tables] == [7] * 6


def test_what_takes_too_many_steps_is_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "endless.sqlite"
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE VIEW first AS {endless} i FROM n")
        connection.execute(f"CREATE VIEW last AS {endless} max(i) AS i FROM n")
    connection.close()
    with Database.open(path) as database:
        first, last = database.schema().tables
    assert (first.row_count, first.columns[0].distinct) == (None, None)
    assert first.columns[0].samples[:3] == (1, 2, 3)
    assert (last.row_count, last.columns[0].samples) == (None, ())
