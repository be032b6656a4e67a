"""What is hidden can't be read, isn't listed, and looks as if it didn't exist."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from tableturn.tools.database import Database, SchemaStyle, render_schema
from tableturn.tools.errors import DatabaseUnavailable, QueryError, SettingsError


@pytest.fixture(scope="module")
def partial(shop_path: Path) -> Iterator[Database]:
    with Database.open(shop_path, deny=["customer.city", "STAFF", "orders.total", "note.body"]) as database:
        yield database


LEAKS = [
    ("SELECT city FROM customer", "unknown_column"),
    ("SELECT customer.CITY FROM customer", "unknown_column"),
    ("SELECT name FROM customer WHERE city = 'Oslo'", "unknown_column"),
    ("SELECT name FROM customer ORDER BY city", "unknown_column"),
    ("SELECT count(*) FROM customer GROUP BY city", "unknown_column"),
    ("SELECT count(city) FROM customer", "unknown_column"),
    ("SELECT 1 FROM customer a JOIN customer b USING (city)", "unknown_column"),
    ("SELECT (SELECT city FROM customer LIMIT 1)", "unknown_column"),
    ("WITH x AS (SELECT city AS y FROM customer) SELECT y FROM x", "unknown_column"),
    ("SELECT name FROM customer WHERE id IN (SELECT id FROM customer WHERE city LIKE 'O%')", "unknown_column"),
    ("SELECT sum(length(city)) OVER () FROM customer", "unknown_column"),
    ("EXPLAIN SELECT city FROM customer", "rejected"),
    ("EXPLAIN QUERY PLAN SELECT count(*) FROM customer", "rejected"),
    ("; EXPLAIN SELECT id FROM customer", "rejected"),
    ("/* a */ EXPLAIN SELECT id FROM customer", "rejected"),
    ("SELECT 1 FROM customer JOIN (SELECT 'Oslo' AS city) USING (city)", "unknown_column"),
    ("SELECT 1 FROM customer JOIN (SELECT 'Oslo' AS city) USING(id, \"City\")", "unknown_column"),
    ("SELECT 1 FROM customer JOIN (SELECT 'Oslo' AS city) using/**/( [city] )", "unknown_column"),
    ("SELECT 1 FROM customer JOIN (SELECT 'Oslo' AS city) USING ('city')", "unknown_column"),
    ("SELECT 1 FROM customer JOIN (SELECT 'Oslo' AS city) USING \ufeff(city)", "unknown_column"),
    ("SELECT 1 FROM customer JOIN (SELECT 'Oslo' AS city) USING ( \ufeffcity)", "unknown_column"),
    ("\ufeffEXPLAIN SELECT id FROM customer", "rejected"),
    ("\ufeff;\ufeff EXPLAIN SELECT id FROM customer", "rejected"),
    ("SELECT 1 FROM customer LEFT JOIN (SELECT 'Oslo' AS city) USING (`city`)", "unknown_column"),
    ("SELECT 1 FROM main.customer JOIN (SELECT 'Oslo' AS city) USING -- a\n (city)", "unknown_table"),
    ("SELECT value FROM customer, json_each(customer.city)", "unknown_column"),
    ("SELECT 1 FROM customer ORDER BY +city", "unknown_column"),
    ("SELECT rank() OVER (PARTITION BY city) FROM customer", "unknown_column"),
    ("SELECT 1 FROM customer a JOIN customer b ON (a.id, a.city) = (b.id, b.city)", "unknown_column"),
    ("SELECT city FROM customer a, customer b", "unknown_column"),
    ("SELECT id FROM customer UNION SELECT city FROM customer", "unknown_column"),
    ("SELECT * FROM staff", "unknown_table"),
    ("SELECT count(*) FROM staff", "unknown_table"),
    ("SELECT 1 FROM staff", "unknown_table"),
    ("SELECT 1 WHERE EXISTS (SELECT 1 FROM staff)", "unknown_table"),
    ("SELECT name FROM main.staff", "unknown_table"),
    ("SELECT total FROM paid", "unknown_table"),
    ("SELECT id FROM paid", "unknown_table"),
    ("SELECT title FROM note", "unknown_table"),
    ("SELECT title FROM note WHERE note MATCH 'parcel'", "unknown_table"),
    ("SELECT c1 FROM note_content", "unknown_table"),
    ("SELECT block FROM note_data", "unknown_table"),
    ("SELECT * FROM sqlite_master", "unknown_table"),
    ("SELECT count(*) FROM sqlite_master", "unknown_table"),
    ("SELECT sql FROM sqlite_schema", "unknown_table"),
    ("SELECT seq FROM sqlite_sequence", "unknown_table"),
    ("WITH g(name) AS (SELECT 'x') SELECT name FROM g FULL JOIN staff USING (name)", "unknown_table"),
    ("SELECT name FROM (SELECT 'x' AS name) FULL JOIN sqlite_schema USING (name)", "unknown_table"),
    ("SELECT name FROM (SELECT 'x' AS name) FULL JOIN temp.sqlite_schema USING (name)", "unknown_table"),
    ("SELECT name FROM (SELECT 'x' AS name) FULL JOIN [SQLITE_temp_master] USING (name)", "unknown_table"),
    ("SELECT id FROM (SELECT 1 AS id) FULL JOIN note_content USING (id)", "unknown_table"),
    ("SELECT name FROM (SELECT 'x' AS name) FULL JOIN pragma_table_list USING (name)", "unknown_table"),
    ("SELECT name FROM (SELECT 'x' AS name) FULL JOIN pragma_table_info('staff') USING (name)", "unknown_table"),
    ("SELECT name FROM (SELECT 'x' AS name) FULL JOIN dbstat USING (name)", "unknown_table"),
    ("SELECT name FROM (SELECT 'x' AS name) NATURAL RIGHT JOIN staff", "unknown_table"),
    ("SELECT name FROM customer INDEXED BY customer_city", "syntax"),
    ("SELECT rowid FROM customer", "unknown_column"),
    ("SELECT _rowid_ FROM customer", "unknown_column"),
    ("SELECT name FROM customer ORDER BY oid", "unknown_column"),
    ("SELECT 1 WHERE 'Ada' IN staff", "unknown_table"),
    ("DELETE FROM staff", "rejected"),
    ("WITH x AS (SELECT 1) DELETE FROM staff", "rejected"),
]


# What was never there would be the same: the rows are those of a table without the column.
HARMLESS = [
    ("SELECT * FROM customer WHERE id = 1", ((1, "Anna Berg"),)),
    ("SELECT c.* FROM customer c WHERE id = 1", ((1, "Anna Berg"),)),
    ('SELECT "city" FROM customer WHERE id = 1', (("city",),)),
    ("SELECT count(*) FROM customer a NATURAL JOIN customer b", ((4,),)),
    ("SELECT count(*) FROM customer \ufeffNATURAL JOIN (SELECT 'Oslo' AS city)", ((4,),)),
    ("SELECT count(*) FROM customer NATURAL LEFT JOIN (SELECT 'Oslo' AS city)", ((4,),)),
    ("SELECT count(*) FROM customer a JOIN customer b USING (name)", ((4,),)),
    ("WITH staff AS (SELECT 1 AS name) SELECT name FROM staff", ((1,),)),
]


@pytest.mark.parametrize(("sql", "kind"), LEAKS)
def test_hidden_things_are_not_there(partial: Database, sql: str, kind: str) -> None:
    with pytest.raises(QueryError) as caught:
        partial.execute(sql)
    assert caught.value.kind == kind
    if "city" not in sql.lower():
        assert "city" not in str(caught.value)


@pytest.mark.parametrize(("sql", "rows"), HARMLESS)
def test_hidden_columns_take_no_part(partial: Database, sql: str, rows: tuple[tuple[object, ...], ...]) -> None:
    assert partial.execute(sql).rows == rows


def test_the_rest_still_works(partial: Database) -> None:
    assert partial.execute("SELECT id, name FROM customer WHERE id = 1").rows == ((1, "Anna Berg"),)
    assert partial.execute("SELECT count(*) FROM customer").rows == ((4,),)
    assert len(partial.execute("SELECT o.id FROM orders o JOIN line USING (id) WHERE status <> 'natural'").rows) == 2
    assert len(partial.execute("SELECT id, status FROM orders").rows) == 4
    assert partial.execute("SELECT sqlite_version()").rows
    assert len(partial.execute("SELECT * FROM old_note WHERE old_note MATCH 'letter'").rows) == 2


@pytest.mark.parametrize("style", ["compact", "ddl", "credit", "track", "craft"])
def test_nothing_hidden_is_in_a_prompt(partial: Database, style: SchemaStyle) -> None:
    text = render_schema(partial.schema(), style)
    assert "status" in text
    for hidden in ("city", "Oslo", "staff", "Ada", "boss_id", "120.5", "parcel", "note_data"):
        assert hidden not in text


def test_hidden_values_are_refused(partial: Database) -> None:
    for table, column in (("customer", "city"), ("staff", "name"), ("note", "title")):
        with pytest.raises(QueryError):
            partial.distinct_values(table, column, 10)
    assert partial.distinct_values("customer", "name", 1) == ("Anna Berg",)


def test_allow_list(shop_path: Path) -> None:
    with Database.open(shop_path, allow=["orders", "customer.name"], deny=["orders.total"]) as database:
        shown = {table.name: [column.name for column in table.columns] for table in database.schema().tables}
        assert shown == {"customer": ["name"], "orders": ["id", "customer_id", "status", "ordered_on"]}
        assert database.schema().foreign_keys == ()
        assert len(database.execute("SELECT name FROM customer").rows) == 4
        for sql in ("SELECT id FROM customer", "SELECT * FROM product", "SELECT total FROM orders"):
            with pytest.raises(QueryError):
                database.execute(sql)


def test_hidden_views_cannot_be_counted(shop_path: Path) -> None:
    with Database.open(shop_path, deny=["paid"]) as database:
        for sql in (
            "SELECT count(*) FROM paid",
            "SELECT 1 FROM paid",
            "SELECT 1 FROM customer WHERE EXISTS (SELECT 1 FROM paid)",
        ):
            with pytest.raises(QueryError):
                database.execute(sql)
        assert database.execute("WITH staff AS (SELECT 1 AS paid) SELECT paid FROM staff").rows == ((1,),)


def test_wildcards(shop_path: Path) -> None:
    with Database.open(shop_path, deny=["*.name", "*note*", "pai*"]) as database:
        names = {table.name for table in database.schema().tables}
        assert names == {"customer", "orders", "product", "line", "staff", "country", "odd name", "empty", "place"}
        with pytest.raises(QueryError):
            database.execute("SELECT name FROM staff")


def test_entries_that_name_nothing_are_told(shop_path: Path) -> None:
    for entry in ("custmer", "customer.town", "city"):
        with pytest.raises(SettingsError, match=entry):
            Database.open(shop_path, deny=[entry])
    with pytest.raises(DatabaseUnavailable, match="no tables that you may read"):
        Database.open(shop_path, deny=["*"])


def test_comments_tell_nothing_of_what_is_hidden(tmp_path: Path) -> None:
    path = tmp_path / "told.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE person /* people and the pin of each */ (id INTEGER, -- a number\n"
        " name TEXT, -- goes with the pin\n pin TEXT -- four digits\n);"
        "CREATE TABLE town /* where every vault is */ (id INTEGER);"
        "CREATE TABLE shop /* what is sold */ (id INTEGER);"
        "CREATE TABLE vault (id INTEGER);"
    )
    connection.close()
    with Database.open(path, deny=["person.pin", "vault"]) as database:
        person, town, shop = database.schema().tables
        assert (person.comment, town.comment, shop.comment) == ("", "", "what is sold")
        assert [column.comment for column in person.columns] == ["a number", ""]


def test_names_beyond_ascii_are_hidden_in_every_case(tmp_path: Path) -> None:
    path = tmp_path / "names.db"
    connection = sqlite3.connect(path)
    connection.executescript(
        'CREATE TABLE "GEHÄLTER" (pin TEXT); INSERT INTO "GEHÄLTER" VALUES (\'swordfish\'); CREATE TABLE t (x);'
    )
    connection.close()
    with Database.open(path, deny=["gehälter"]) as database:
        for name in ("GEHÄLTER", "gehÄlter", "gehälter"):
            with pytest.raises(QueryError, match="no such table"):
                database.execute(f'SELECT pin FROM (SELECT 1 AS pin) FULL JOIN "{name}" USING (pin)')
