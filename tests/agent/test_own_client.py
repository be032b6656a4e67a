"""SQL that people and models see runs in the engine's own client, with schemas and quotes as the server has them."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import duckdb
import pytest
from tableturn.agent import SQLAgent
from tableturn.tools.database import Database
from tableturn.tools.errors import NothingReadable, QueryError, SettingsError
from tableturn.tools.masked_database import MaskedDatabase
from tableturn.tools.sql import write_exact_table_names

from tests.support.scripted import writes
from tests.tools.database.own_client import own_rows, plain
from tests.tools.database.servers import MARIADB, POSTGRES

_OF_PUBLIC = (
    "CREATE TABLE person (id INTEGER PRIMARY KEY, name VARCHAR(20))",
    "INSERT INTO person VALUES (1, 'Ada'), (2, 'Bo')",
    'CREATE TABLE "sales.x" (id INTEGER, name VARCHAR(20))',
    "INSERT INTO \"sales.x\" VALUES (7, 'dotted')",
)
_OF_SALES = (
    "CREATE TABLE sales.person (id INTEGER PRIMARY KEY, total INTEGER, person_id INTEGER)",
    "INSERT INTO sales.person VALUES (1, 25, 1), (2, 40, 1)",
    'CREATE TABLE sales."order" (id INTEGER PRIMARY KEY, note VARCHAR(20))',
    "INSERT INTO sales.\"order\" VALUES (1, 'first')",
    'CREATE TABLE sales."a.b" (id INTEGER)',
    'INSERT INTO sales."a.b" VALUES (8)',
)
_OF_OPS = (
    'CREATE TABLE "Ops"."Bill" (id INTEGER PRIMARY KEY, "Paid" INTEGER)',
    'INSERT INTO "Ops"."Bill" VALUES (1, 5)',
)
_RESERVED = ('CREATE TABLE "order" (id INTEGER, note TEXT)', "INSERT INTO \"order\" VALUES (1, 'first')")


def _postgres(folder: Path) -> str:
    del folder
    if reason := POSTGRES.unavailable():
        pytest.skip(reason)
    url = POSTGRES.make_database(f"tt_{uuid4().hex[:12]}")
    for statement in ("CREATE SCHEMA sales", 'CREATE SCHEMA "Ops"', *_OF_PUBLIC, *_OF_SALES, *_OF_OPS):
        POSTGRES.run(url, statement)
    return url


def _duckdb(folder: Path) -> str:
    path = folder / "two.duckdb"
    with closing(duckdb.connect(path)) as connection:
        for statement in ("CREATE SCHEMA sales", 'CREATE SCHEMA "Ops"', *_OF_PUBLIC, *_OF_SALES, *_OF_OPS):
            connection.execute(statement)
    return f"duckdb:///{path}"


def _sqlite(folder: Path) -> str:
    path = folder / "one.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for statement in (*_OF_PUBLIC, *_RESERVED):
            connection.execute(statement)
        connection.commit()
    return f"sqlite:///{path}"


def _mariadb(folder: Path) -> str:
    del folder
    if reason := MARIADB.unavailable():
        pytest.skip(reason)
    url, other = (MARIADB.make_database(f"tt_{uuid4().hex[:12]}") for _ in range(2))
    second = other.rpartition("/")[2]
    for statement in (*_OF_PUBLIC, *_OF_SALES):
        MARIADB.run(url, statement.replace('"', "`").replace("sales.x", "sales_x").replace("sales.", f"{second}."))
    return f"{url}?schema={url.rpartition('/')[2]},{second}"


_ENGINES = {"postgres": _postgres, "duckdb": _duckdb, "mariadb": _mariadb, "sqlite": _sqlite}

_QUERIES = (
    ('SELECT "sales.person".total FROM "sales.person"', "SELECT person.total FROM sales.person"),
    ("SELECT total FROM sales.person", "SELECT total FROM sales.person"),
    ('SELECT p.total FROM "sales.person" AS p', "SELECT p.total FROM sales.person AS p"),
    ('SELECT note FROM "sales.order"', 'SELECT note FROM sales."order"'),
    ('SELECT id FROM "sales.a.b"', 'SELECT id FROM sales."a.b"'),
    (
        'SELECT name FROM person WHERE EXISTS (SELECT 1 FROM "sales.person"'
        ' WHERE "sales.person".person_id = person.id)',
        'SELECT name FROM person WHERE EXISTS (SELECT 1 FROM sales.person AS "sales.person"'
        ' WHERE "sales.person".person_id = person.id)',
    ),
    ('SELECT count("sales.person".id) FROM "sales.person"', "SELECT count(person.id) FROM sales.person"),
)
_OWN = {
    "postgres": (
        *_QUERIES,
        ('SELECT "Ops.Bill"."Paid" FROM "Ops.Bill"', 'SELECT "Bill"."Paid" FROM "Ops"."Bill"'),
        ("SELECT Bill.id FROM Ops.Bill", 'SELECT "Bill".id FROM "Ops"."Bill"'),
        ('SELECT name FROM "sales.x"', 'SELECT name FROM "sales.x"'),
    ),
    "duckdb": (
        *_QUERIES,
        ('SELECT "Ops.Bill"."Paid" FROM "Ops.Bill"', 'SELECT Bill."Paid" FROM Ops.Bill'),
        ('SELECT name FROM "sales.x"', 'SELECT name FROM "sales.x"'),
    ),
    "mariadb": _QUERIES,
    "sqlite": (('SELECT name FROM "sales.x"',) * 2, ('SELECT note FROM "order"',) * 2),
}


def _on(engine: str, url: str, sql: str) -> str:
    """Put a query in an engine's quotes and, on MariaDB, in the names of its databases."""
    return sql.replace('"', "`").replace("sales.", f"{url.rpartition(',')[2]}.") if engine == "mariadb" else sql


@pytest.mark.parametrize(("engine", "make"), _ENGINES.items(), ids=_ENGINES)
def test_answers_run_in_the_engines_own_client(engine: str, make: Callable[[Path], str], tmp_path: Path) -> None:
    url = make(tmp_path)
    cases = [(_on(engine, url, before), _on(engine, url, after)) for before, after in _OWN[engine]]
    model = writes(*(before for before, _ in cases))
    with SQLAgent(url, model=model, settings={"examples": "none"}) as agent:
        for before, after in cases:
            answer = agent.ask("How much is it?")
            assert answer.sql == after
            assert own_rows(url, after) == plain(answer.rows) != [], before
    shown = "\n".join(model.prompts)
    assert _on(engine, url, '"sales.person"') not in shown.replace(_QUERIES[5][1], "")
    if engine != "sqlite":
        for name in ("sales.person(", 'sales."order"(', 'sales."a.b"('):
            assert _on(engine, url, name) in shown


_TRANSLATED = {
    "postgres": (
        ("SELECT IFNULL(name, 'x') FROM person", "SELECT COALESCE(name, 'x') FROM person"),
        ("SELECT id FROM person WHERE name REGEXP '^A'", "SELECT id FROM person WHERE name ~ '^A'"),
    ),
    "mariadb": (
        ("SELECT LEN(name) FROM person", "SELECT CHAR_LENGTH(name) FROM person"),
        ("SELECT '{\"a\": 1}' -> '$.a'", "SELECT JSON_EXTRACT('{\"a\": 1}', '$.a')"),
    ),
    "duckdb": (
        ("SELECT LOCATE('o', name) FROM person", "SELECT STRPOS(name, 'o') FROM person"),
        ("SELECT list_sum(list_filter([1, 2], x -> x > 1))", "SELECT LIST_SUM(LIST_FILTER([1, 2], LAMBDA x : x > 1))"),
    ),
}


@pytest.mark.parametrize("engine", _TRANSLATED)
def test_functions_of_other_engines_become_those_of_the_server(engine: str, tmp_path: Path) -> None:
    """What is of the engine stays as written, types and new names before brackets too."""
    url = _ENGINES[engine](tmp_path)
    own = "WITH t(a, b) AS (SELECT id, name FROM person) SELECT Lower(b), CAST(a AS DECIMAL(5,1)) FROM t -- upper(b)"
    cases = (*_TRANSLATED[engine], (own, own))
    with SQLAgent(url, model=writes(*(before for before, _ in cases)), settings={"examples": "none"}) as agent:
        for _, after in cases:
            answer = agent.ask("What is it?")
            assert answer.sql == after
            assert own_rows(url, after) == plain(answer.rows) != []


def test_chosen_schemas_of_postgres_are_named(tmp_path: Path) -> None:
    url = _postgres(tmp_path)
    before, after = 'SELECT total FROM "person"', "SELECT total FROM sales.person"
    model = writes(before, after)
    with SQLAgent(f"{url}?schema=sales,public", model=model, settings={"examples": "none"}) as agent:
        for _ in range(2):
            answer = agent.ask("What is it?")
            assert answer.sql == after
            assert own_rows(url, after) == plain(answer.rows) != []
    assert "sales.person(" in model.prompts[0]
    with Database.open(f"{url}?schema=public") as database:
        assert all(table.path == (table.name,) for table in database.schema().tables)


def test_names_of_a_stored_query_become_those_of_the_server(tmp_path: Path) -> None:
    with Database.open(_duckdb(tmp_path)) as database:
        schema = database.schema()
        stored = 'SELECT "sales.person".*, x.id FROM "sales.person" CROSS JOIN "sales.x" AS x -- of "sales.person"'
        written = write_exact_table_names(stored, schema)
        assert written == 'SELECT person.*, x.id FROM sales.person CROSS JOIN "sales.x" AS x -- of "sales.person"'
        assert write_exact_table_names(written, schema) == written
        assert write_exact_table_names("SELECT FROM", schema) == "SELECT FROM"


_SPELLINGS = (
    "{schema}.{table}",
    '"{schema}.{table}"',
    '"{schema}"."{table}"',
    '{schema}."{table}"',
    "{catalog}.{schema}.{table}",
    '"{catalog}"."{schema}"."{table}"',
    '"{catalog}.{schema}"."{table}"',
    '"{catalog}.{schema}.{table}"',
    '"{catalog}"."{schema}.{table}"',
)
_PARTS = ("{0}", "(SELECT * FROM {0})", "person WHERE EXISTS (SELECT 1 FROM {0} AS s WHERE s.total > 0)")


@pytest.mark.parametrize("deny", ["sales.person", "sales.*", "*.person"])
def test_denied_tables_by_every_spelling(deny: str, tmp_path: Path) -> None:
    with Database.open(_duckdb(tmp_path), deny=[deny]) as database:
        assert database.schema().table("sales.person") is None
        for spelling in _SPELLINGS:
            for catalog in ("two", "memory", "main"):
                name = spelling.format(catalog=catalog, schema="sales", table="person")
                for part in _PARTS:
                    for sql in (f"SELECT * FROM {part}", f"SELECT count(*) FROM {part}"):
                        with pytest.raises(QueryError):
                            database.execute(sql.format(name))
                with pytest.raises(QueryError):
                    database.execute(f"SELECT {name}.total FROM person")
        path = "SET search_path = 'sales'"
        for sql in (path, f"{path}; SELECT 1", "SET schema = 'sales'", "USE sales"):
            with pytest.raises(QueryError):
                database.execute(sql)
        with pytest.raises(QueryError):
            database.execute("SELECT total FROM person")


def test_denied_columns_and_what_may_leave_by_both_spellings(tmp_path: Path) -> None:
    url = _duckdb(tmp_path)
    with Database.open(url, deny=["sales.person.total"]) as database:
        for name in ("sales.person", '"sales.person"', '"sales"."person"'):
            assert len(database.execute(f"SELECT * FROM {name}").columns) == 2
            for sql in ("SELECT total FROM {0}", "SELECT s.total FROM {0} AS s", "SELECT 1 FROM {0} ORDER BY total"):
                with pytest.raises(QueryError):
                    database.execute(sql.format(name))
    with Database.open(url, egress={"columns": {"sales.person.total": "none"}}) as database:
        masked_database = MaskedDatabase(database)
        for sql in (
            "SELECT total FROM sales.person",
            'SELECT total FROM "sales.person"',
            "SELECT sales.person.total FROM sales.person",
            'SELECT "sales.person".total AS x FROM "sales.person"',
            'SELECT person.total FROM "sales"."person"',
            "SELECT * FROM SALES.Person",
            "SELECT s.* FROM sales.person AS s, person",
            "SELECT max(total) FROM sales.person JOIN main.person AS p ON p.id = person.person_id",
        ):
            assert masked_database.get_egress_level(sql) == "none", sql
        assert masked_database.get_egress_level("SELECT name FROM person") == "values"


def test_names_of_postgres_that_are_not_readable(tmp_path: Path) -> None:
    url = _postgres(tmp_path)
    with Database.open(f"{url}?schema=public") as database:
        for spelling in _SPELLINGS:
            name = spelling.format(catalog=url.rpartition("/")[2], schema="sales", table="person")
            with pytest.raises(QueryError):
                database.execute(f"SELECT * FROM {name}")
    with pytest.raises((NothingReadable, SettingsError)):
        Database.open(f"{url}?schema=nowhere")
