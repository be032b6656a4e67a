"""Queries on servers: what they may do, what their texts mean, how much is taken, and what is told of them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from sqlalchemy import create_engine
from tableturn.tools.database import Database, Limits, Session
from tableturn.tools.database.mysql.engine import MySQLBackend
from tableturn.tools.database.postgres.engine import PostgresBackend
from tableturn.tools.database.server.address import parse_server_url
from tableturn.tools.database.server.connection import ServerConnection
from tableturn.tools.database.server.engine import UNREADABLE, ServerEngine
from tableturn.tools.database.sqlalchemy.engine import SQLAlchemyBackend
from tableturn.tools.errors import (
    DatabaseUnavailable,
    QueryError,
    QueryFailed,
    QueryRejected,
    ResultTooLarge,
    TableLocked,
)
from tableturn.tools.masked_database import MaskedDatabase

from .servers import MARIADB, POSTGRES, locked


def test_dropped_connections_are_taken_up_again(postgres: str, mariadb: str) -> None:
    with Database.open(postgres) as database:
        database.execute("SELECT 1")
        POSTGRES.run(
            postgres,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'tableturn'",
        )
        assert database.execute("SELECT 2").rows == ((2,),)
    with Database.open(mariadb) as database:
        database.execute("SELECT 1")
        for (number,) in MARIADB.run(
            mariadb, "SELECT ID FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()"
        ):
            MARIADB.run(mariadb, f"KILL {number}")
        assert database.execute("SELECT 2").rows == ((2,),)


def test_wide_values_stay_on_the_server(postgres: str) -> None:
    with Database.open(postgres) as database:
        for sql in ("SELECT repeat('x', 50000000)", "SELECT array_agg(n) FROM generate_series(1, 1000000) AS g(n)"):
            with pytest.raises(ResultTooLarge):
                database.execute(sql)
        columns = ", ".join(["repeat('x', 900000)"] * 40)
        with pytest.raises(ResultTooLarge):
            database.execute(f"SELECT {columns}")


@pytest.mark.parametrize("copies", [3, 1])
def test_a_row_over_the_limit_ends_the_query_alone(mariadb: str, copies: int) -> None:
    """What the driver would take into memory is measured packet by packet; rows of 16 MB and more come in several."""
    columns = ", ".join(["repeat('x', 9000000)"] * copies)
    with Database.open(mariadb) as database:
        for limits in (Limits(), Limits(result_bytes=1_000_000)):
            with pytest.raises(ResultTooLarge, match="a value has more than 1,000,000 bytes") as caught:
                database.execute(f"SELECT {columns}", limits)
            assert ("or a row too many" in str(caught.value)) == (9_000_000 * copies > limits.result_bytes)
            assert database.execute("SELECT count(*) FROM big").rows == ((200_000,),)
        # Large rows that fit are taken, and what is asked for next is not measured by what came before.
        fitting = Limits(cell_bytes=10_000_000, result_bytes=30_000_000)
        ((first, *_),) = database.execute(f"SELECT {columns}", fitting).rows
        assert len(str(first)) == 9_000_000


def test_long_results_are_not_heard_out(mariadb: str) -> None:
    with Database.open(mariadb) as database:
        table = database.execute("SELECT a.n FROM big a, big b LIMIT 10000000000", Limits(rows=5))
        assert (len(table.rows), table.truncated) == (5, True)
        assert database.execute("SELECT 1").rows == ((1,),)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        (r"SELECT E'\'; SELECT pg_sleep(10); --'", "'; SELECT pg_sleep(10); --"),
        (r"SELECT 'a\'", "a\\"),
        (r"SELECT E'a\\b\n\x41'", "a\\b\nA"),
        ("SELECT $x$it's$x$", "it's"),
        ("SELECT 'a' || '''' || 'b'", "a'b"),
        ("SELECT '/* ' || 1 || ' */' -- x", "/* 1 */"),
        (r"SELECT U&'d\0061t'", "dat"),
        ("SELECT '{\"a\": {\"b\": 5}}'::jsonb #>> '{a,b}'", "5"),
        ("SELECT 'x' ~ '^x$' AND 'ab' LIKE 'a%'", 1),
    ],
)
def test_postgres_texts_mean_what_they_say(postgres: str, sql: str, value: object) -> None:
    with Database.open(postgres) as database:
        assert database.execute(sql).rows == ((value,),)


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        (r"SELECT 'a\'; DELETE FROM customer; -- '", "a'; DELETE FROM customer; -- "),
        (r'SELECT "a\"; DROP"', 'a"; DROP'),
        (r"SELECT 'a\\'", "a\\"),
        (r"SELECT 'a\nb\tc'", "a\nb\tc"),
        ("SELECT 'it''s'", "it's"),
        ("SELECT 1 # ; DELETE", 1),
        ("SELECT '50%' LIKE '50\\%'", 1),
    ],
)
def test_mariadb_texts_mean_what_they_say(mariadb: str, sql: str, value: object) -> None:
    with Database.open(mariadb) as database:
        assert database.execute(sql).rows == ((value,),)


def test_what_people_made_is_not_called(postgres: str, mariadb: str) -> None:
    """Neither under a name that is allowed, nor as if it were a column of a row."""
    POSTGRES.run(postgres, "CREATE FUNCTION lower(integer) RETURNS text LANGUAGE sql AS $$SELECT 'made'$$")
    POSTGRES.run(postgres, "CREATE FUNCTION made(person) RETURNS text LANGUAGE sql AS $$SELECT 'made'$$")
    with Database.open(postgres) as database:
        for sql in (
            "SELECT lower(5)",
            "SELECT evil(1)",
            "SELECT p.made FROM person p",
            "SELECT (p).made FROM person p",
            "SELECT made(p) FROM person p",
            'SELECT "p"."made" FROM person p',
            "SELECT x.made FROM (SELECT p FROM person p) AS x(x)",
        ):
            with pytest.raises(QueryError) as caught:
                database.execute(sql)
            assert caught.value.kind == "rejected"
        assert database.execute("SELECT upper(name) FROM person").rows == (("ADA",),)
    POSTGRES.run(postgres, "DROP FUNCTION lower(integer)")
    POSTGRES.run(postgres, "DROP FUNCTION made(person)")
    with Database.open(mariadb) as database, pytest.raises(QueryError):
        database.execute("SELECT evil(1)")


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT age FROM person", "unknown_column"),
        ("SELECT person.id FROM person, person AS p WHERE id = 1", "ambiguous_column"),
        ("SELECT name, count(*) FROM person", "aggregate_misuse"),
        ("SELECT sum(name) FROM person", "type_mismatch"),
        ("SELECT (SELECT id FROM parcel)", "other"),
    ],
)
def test_the_adapter_knows_the_codes_of_postgres(postgres: str, sql: str, kind: str) -> None:
    url = postgres.replace("postgresql://", "sqlalchemy+postgresql+psycopg://")
    with Database.open(url) as database, pytest.raises(QueryError) as caught:
        database.execute(sql)
    assert caught.value.kind == kind


def test_comments_of_tables_through_the_adapter(postgres: str) -> None:
    POSTGRES.run(postgres, "COMMENT ON TABLE person IS 'Who there is'")
    try:
        with Database.open(postgres.replace("postgresql://", "sqlalchemy+postgresql+psycopg://")) as database:
            table = database.schema().table("person")
            assert table is not None
            assert table.comment == "Who there is"
    finally:
        POSTGRES.run(postgres, "COMMENT ON TABLE person IS NULL")


@pytest.mark.parametrize("adapter", ["", "sqlalchemy+"])
@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("SELECT name + 1 FROM Person", "Truncated incorrect DOUBLE value: 'Ada'"),
        ("SELECT id / 0 FROM Person", "Division by 0"),
        ("SELECT CAST(name AS DATE) FROM Person", "Incorrect datetime value: 'Ada'"),
        ("SELECT CONCAT('x', n) + 1 FROM big LIMIT 9", "warnings in all"),
        ("SELECT name FROM Person", ""),
    ],
)
def test_what_the_server_warns_of_is_told(mariadb: str, adapter: str, sql: str, told: str) -> None:
    url = mariadb if not adapter else mariadb.replace("mariadb://", "sqlalchemy+mariadb+pymysql://")
    with Database.open(url) as database:
        found = database.execute(sql)
        assert told in " ".join(found.notes)
        assert bool(found.notes) == bool(told)
        assert len(found.notes) < 5
        # The connection is as good as before.
        assert database.execute("SELECT 1").rows == ((1,),)


@pytest.mark.parametrize("adapter", ["", "sqlalchemy+"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT updatexml(1, concat(0x7e, (SELECT name FROM Person LIMIT 1)), 1)",
        "SELECT extractvalue(1, concat(0x7e, (SELECT max(name) FROM Person))) AS x",
        "SELECT id FROM Person WHERE id = (SELECT updatexml(1, concat(0x7e, (SELECT name FROM Person)), 1))",
    ],
)
def test_a_query_that_is_compiled_alone_computes_nothing(mariadb: str, adapter: str, sql: str) -> None:
    url = mariadb if not adapter else mariadb.replace("mariadb://", "sqlalchemy+mariadb+pymysql://")
    with Database.open(url, egress={"columns": {"Person.name": "none"}}) as database:
        with pytest.raises(QueryFailed) as failed:
            MaskedDatabase(database).execute(sql)
        assert "Ada" not in str(failed.value)
        assert database.execute("SELECT id FROM Person").rows == ((1,),)


@pytest.mark.parametrize("adapter", ["", "sqlalchemy+"])
def test_the_adapter_compiles_as_the_engine_does(postgres: str, adapter: str) -> None:
    url = postgres if not adapter else postgres.replace("postgresql://", "sqlalchemy+postgresql+psycopg://")
    with Database.open(url) as database:
        tables = database.schema().tables
        for sql in ("SELECT 1 / 0 FROM person", "WITH a AS (SELECT id FROM person) SELECT * FROM a", "VALUES (1)"):
            assert database.compile_check(sql, tables) is None
        failed = database.compile_check("SELECT nmae FROM person", tables)
        assert failed is not None
        assert "nmae" in str(failed)
        assert database.compile_check("SELECT name FROM person", tables) is None, "nothing is left over"


_WRITES = (
    "INSERT INTO kept VALUES (2)",
    "UPDATE kept SET n = 2",
    "DELETE FROM kept",
    "CREATE TABLE made (n INTEGER)",
    "DROP TABLE kept",
    "ALTER TABLE kept ADD COLUMN m INTEGER",
    "TRUNCATE TABLE kept",
)


def _connections(postgres: str, mariadb: str) -> Iterator[ServerConnection]:
    """As engines make them, over logins that may do anything."""
    yield PostgresBackend(parse_server_url(postgres), Session()).connect()
    yield MySQLBackend(parse_server_url(mariadb), Session()).connect()
    for url in (
        postgres.replace("postgresql://", "postgresql+psycopg://"),
        mariadb.replace("mariadb://", "mysql+pymysql://"),
        mariadb.replace("mariadb://", "mariadb+pymysql://"),
    ):
        yield SQLAlchemyBackend(create_engine(url), (), Session()).connect()


def test_the_server_alone_keeps_from_writing(postgres: str, mariadb: str) -> None:
    """What slipped past every check of statements would still be refused, and change nothing."""
    for server, url in ((POSTGRES, postgres), (MARIADB, mariadb)):
        server.run(url, "CREATE TABLE kept (n INTEGER)")
        server.run(url, "INSERT INTO kept VALUES (1)")
    for connection in _connections(postgres, mariadb):
        for statement in _WRITES:
            connection.begin(5.0)
            with pytest.raises(connection.errors) as caught:
                connection.rows(statement)
            connection.end()
            failed = connection.make_error(caught.value)
            assert isinstance(failed, QueryRejected), (type(connection), statement, failed)
        connection.close()
    for server, url in ((POSTGRES, postgres), (MARIADB, mariadb)):
        assert server.run(url, "SELECT * FROM kept") == [(1,)]
        server.run(url, "DROP TABLE kept")


def test_warnings_of_rows_that_may_not_leave_are_not_told(mariadb: str) -> None:
    sql = "SELECT count(*), max(name + 1) FROM Person"
    with Database.open(mariadb, egress={"columns": {"Person.name": "statistics"}}) as database:
        assert database.execute(sql).notes
        assert MaskedDatabase(database).execute(sql).notes == ()


def test_what_the_server_keeps_of_queries_is_read_or_said_how(postgres: str) -> None:
    with Database.open(postgres) as database:
        assert isinstance(database.engine, ServerEngine)
        with pytest.raises(DatabaseUnavailable, match="CREATE EXTENSION pg_stat_statements"):
            database.engine.read_query_log(10)
        # The extension itself needs a server that was started with it; a table of its name and columns stands in.
        POSTGRES.run(postgres, "CREATE SCHEMA watch")
        POSTGRES.run(postgres, "CREATE TABLE watch.pg_stat_statements (query text, dbid oid, calls bigint)")
        POSTGRES.run(
            postgres,
            "INSERT INTO watch.pg_stat_statements SELECT q, d.oid, n FROM pg_database d,"
            f" (VALUES ('SELECT 1', 3), ('{UNREADABLE}', 2), ('SELECT 2', 9)) AS told (q, n)",
        )
        assert database.engine.read_query_log(10) == ("SELECT 2", "SELECT 1", UNREADABLE)
        assert database.engine.read_query_log(1) == ("SELECT 2",)
        POSTGRES.run(postgres, "DROP SCHEMA watch CASCADE")


def test_a_server_that_keeps_no_queries_says_what_to_set(mariadb: str) -> None:
    ((kept,),) = MARIADB.run(mariadb, "SELECT @@performance_schema")
    with Database.open(mariadb) as database:
        assert isinstance(database.engine, ServerEngine)
        if int(kept):
            assert isinstance(database.engine.read_query_log(10), tuple)
        else:
            with pytest.raises(DatabaseUnavailable, match="performance_schema = ON"):
                database.engine.read_query_log(10)


@pytest.mark.parametrize("kind", ["postgres", "postgres by adapter", "mariadb", "mariadb by adapter"])
def test_a_locked_table_is_told_by_its_name(kind: str, request: pytest.FixtureRequest) -> None:
    url = request.getfixturevalue(kind.split()[0])
    if "adapter" in kind:
        driver = "postgresql+psycopg" if kind.startswith("postgres") else "mariadb+pymysql"
        url = f"sqlalchemy+{driver}://{url.partition('://')[2]}"
    table = "person" if kind.startswith("postgres") else "Person"
    with Database.open(url) as database, locked(request.getfixturevalue(kind.split()[0]), table):
        with pytest.raises(TableLocked, match=f"the table {table} is locked by another program") as caught:
            database.execute(f"SELECT count(*) FROM {table}")
        assert caught.value.kind == "locked"
