"""What only engines on servers promise: passwords kept, drivers named, connections taken up again, roles looked at."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest
from sqlalchemy import create_engine
from tableturn.tools.database import Database, Identity, Limits, Session
from tableturn.tools.database.mysql.engine import MySQLBackend
from tableturn.tools.database.postgres.engine import PostgresBackend
from tableturn.tools.database.server.address import parted
from tableturn.tools.database.server.connection import ServerConnection
from tableturn.tools.database.server.engine import UNREADABLE, ServerEngine
from tableturn.tools.database.sqlalchemy.engine import SQLAlchemyBackend
from tableturn.tools.errors import (
    DatabaseUnavailable,
    QueryError,
    QueryFailed,
    QueryRejected,
    ResultTooLarge,
    SettingsError,
    TableLocked,
)
from tableturn.tools.outgoing import Outgoing

from .servers import MARIADB, POSTGRES, Server, locked

SECRET = "s3cr3t-horse"


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    if POSTGRES.unavailable():
        pytest.skip(POSTGRES.unavailable())
    url = POSTGRES.make_database(f"tt_{uuid4().hex[:12]}")
    for statement in _POSTGRES:
        POSTGRES.run(url, statement)
    yield url
    for role in (_READER, *_TENANTS):
        POSTGRES.run(url, f"DROP OWNED BY {role}")
        POSTGRES.run(url, f"DROP ROLE {role}")


@pytest.fixture(scope="module")
def mariadb() -> str:
    if MARIADB.unavailable():
        pytest.skip(MARIADB.unavailable())
    url = MARIADB.make_database(f"tt_{uuid4().hex[:12]}")
    for statement in _MARIADB:
        MARIADB.run(url, statement)
    return url


_SUFFIX = uuid4().hex[:8]
_READER = f"tt_reader_{_SUFFIX}"
_TENANTS = (f"tt_north_{_SUFFIX}", f"tt_south_{_SUFFIX}")
_POSTGRES = (
    "CREATE TYPE mood AS ENUM ('sad', 'calm', 'glad')",
    "CREATE TABLE person (id integer PRIMARY KEY, name text NOT NULL, felt mood, tags text[], facts jsonb,"
    " paid numeric(10, 2), born date, seen timestamptz, shouted text GENERATED ALWAYS AS (upper(name)) STORED,"
    " active boolean, picture bytea, code uuid)",
    "COMMENT ON TABLE person IS 'People who came'",
    "COMMENT ON COLUMN person.felt IS 'when they left'",
    "INSERT INTO person VALUES (1, 'Ada', 'glad', '{a,b}', '{\"x\": [1]}', 12.50, '1990-01-02',"
    " '2024-05-06 07:08:09+00', DEFAULT, true, '\\x00ff', '00000000-0000-0000-0000-000000000001')",
    "CREATE TABLE visit (day date, person_id integer REFERENCES person, room integer) PARTITION BY RANGE (day)",
    "CREATE TABLE visit_2024 PARTITION OF visit FOR VALUES FROM ('2024-01-01') TO ('2025-01-01')",
    "INSERT INTO visit VALUES ('2024-02-03', 1, 7)",
    "CREATE MATERIALIZED VIEW rooms AS SELECT DISTINCT room FROM visit",
    "CREATE SCHEMA sales",
    "CREATE TABLE sales.person (id integer PRIMARY KEY, total double precision)",
    "CREATE TABLE sales.bill (id integer PRIMARY KEY, person_id integer REFERENCES sales.person)",
    "INSERT INTO sales.person VALUES (5, 1.5)",
    "CREATE TABLE parcel (id integer PRIMARY KEY, tenant text NOT NULL, label text NOT NULL)",
    "INSERT INTO parcel VALUES (1, 'north', 'northern lamp'), (2, 'north', 'northern chair'), (3, 'south', 'southern')",
    "ALTER TABLE parcel ENABLE ROW LEVEL SECURITY",
    "CREATE POLICY own ON parcel USING (tenant = current_setting('tableturn.user', true)"
    " OR current_setting('tableturn.groups', true)::jsonb ? tenant"
    " OR pg_has_role(current_user, 'tt_' || tenant || '_" + _SUFFIX + "', 'MEMBER'))",
    f"CREATE ROLE {_READER} LOGIN",
    *(f"CREATE ROLE {tenant}" for tenant in _TENANTS),
    *(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}" for role in (_READER, *_TENANTS)),
    f"REVOKE SELECT ON person FROM {_READER}",
    f"GRANT SELECT (id, name) ON person TO {_READER}",
    "CREATE FUNCTION evil(integer) RETURNS integer LANGUAGE sql AS 'SELECT 1'",
)
_MARIADB = (
    "CREATE TABLE Person (id INT PRIMARY KEY COMMENT 'its number', name VARCHAR(40), felt ENUM('sad', 'it''s fine'),"
    " facts JSON, paid DECIMAL(10, 2), born DATE, seen TIMESTAMP NULL, picture BLOB, active BIT(1),"
    " shouted VARCHAR(40) GENERATED ALWAYS AS (UPPER(name)) STORED) COMMENT 'People who came'",
    "INSERT INTO Person (id, name, felt, facts, paid, born, picture, active)"
    " VALUES (1, 'Ada', 'sad', '{\"x\": [1]}', 12.50, '1990-01-02', x'00ff', 1)",
    "CREATE FUNCTION evil(x INT) RETURNS INT DETERMINISTIC RETURN x",
    "CREATE TABLE big AS SELECT seq AS n FROM seq_1_to_200000",
)


def _as(url: str, role: str, rest: str = "") -> str:
    return url.replace("//postgres@", f"//{role}@") + rest


def test_postgres_schema(postgres: str) -> None:
    with Database.open(postgres) as database:
        schema = database.schema()
        person = schema.table("person")
        assert person is not None
        assert person.comment == "People who came"
        felt, shouted = person.column("felt"), person.column("shouted")
        assert felt is not None
        assert shouted is not None
        assert (felt.samples, felt.comment) == (("sad", "calm", "glad"), "when they left")
        assert shouted.generated
        assert [column.kind for column in person.columns] == [
            *("number", "text", "text", "text", "text", "number", "time", "time", "text", "boolean", "binary", "text"),
        ]
        kinds = {table.name: table.kind for table in schema.tables}
        assert kinds == {
            "person": "table",
            "visit": "table",
            "rooms": "view",
            "parcel": "table",
            "sales.person": "table",
            "sales.bill": "table",
        }
        ends = {(key.table, key.ref_table) for key in schema.foreign_keys}
        assert ends == {("visit", "person"), ("sales.bill", "sales.person")}


@pytest.mark.parametrize("adapter", ["", "+psycopg"])
@pytest.mark.filterwarnings("error")
def test_types_of_postgres_that_are_rare(adapter: str) -> None:
    if POSTGRES.unavailable():
        pytest.skip(POSTGRES.unavailable())
    url = POSTGRES.make_database(f"tt_{uuid4().hex[:12]}")
    for statement in (
        "CREATE DOMAIN price AS numeric CHECK (VALUE >= 0)",
        "CREATE TYPE pair AS (a integer, b text)",
        "CREATE TABLE odd (r int4range, m nummultirange, d daterange, p price, s point, c pair, v tsvector, b bit(3),"
        " i interval, n inet, x xml, k money, l pg_lsn)",
        "INSERT INTO odd VALUES ('[1,3)', '{[1,2)}', '[2024-01-01,2024-02-01)', 5, '(1,2)', (1, 'x'), 'a b', B'101',"
        " '1 day', '10.0.0.1', '<a/>', 5, '0/0')",
    ):
        POSTGRES.run(url, statement)
    prefix = "sqlalchemy+postgresql+psycopg://" if adapter else "postgresql://"
    with Database.open(url.replace("postgresql://", prefix)) as database:
        (table,) = database.schema().tables
        kinds = {column.name: column.kind for column in table.columns}
        assert {name: kinds[name] for name in "rmdsc"} == dict.fromkeys("rmdsc", "text")
        assert kinds["i"] == "time"
        assert "NULL" not in [column.type for column in table.columns]
        if not adapter:
            assert kinds["p"] == kinds["k"] == "number"
        assert database.execute("SELECT p FROM odd").rows == ((5,),)


def test_postgres_cells(postgres: str) -> None:
    with Database.open(postgres) as database:
        row = database.execute(
            "SELECT felt, tags, facts, paid, born, seen AT TIME ZONE 'UTC', active, picture, code, NULL, 10::bigint,"
            " 2.0::float8, 'NaN'::float8, 7::numeric, INTERVAL '1 day', '[1,3)'::int4range FROM person"
        ).rows[0]
    assert row == (
        *("glad", "{a,b}", '{"x": [1]}', 12.5, "1990-01-02", "2024-05-06 07:08:09", 1, b"\x00\xff"),
        *("00000000-0000-0000-0000-000000000001", None, 10, 2.0, "NaN", 7, "1 day", "[1,3)"),
    )


def test_names_outside_the_path(postgres: str) -> None:
    with Database.open(postgres) as database:
        for source in ("sales.person", '"sales.person"', "sales.person AS p"):
            assert database.execute(f"SELECT total FROM {source}").rows == ((1.5,),)
        assert database.execute('SELECT "sales.person".total FROM "sales.person"').rows == ((1.5,),)
        assert database.distinct_values("sales.person", "total", 5) == (1.5,)
    with Database.open(f"{postgres}?schema=sales") as database:
        assert {table.name for table in database.schema().tables} == {"person", "bill"}
        assert database.execute("SELECT total FROM person").rows == ((1.5,),)
        with pytest.raises(QueryFailed, match="no such table"):
            database.execute("SELECT * FROM public.person")


@pytest.mark.parametrize("name", ["north", "south"])
def test_row_level_security_by_settings(postgres: str, name: str) -> None:
    """Queries, counts, samples and distinct values show one tenant's rows alone."""
    other = {"north": "southern", "south": "northern"}[name]
    with Database.open(_as(postgres, _READER), session=Session(Identity(name))) as database:
        labels = [str(label) for (label,) in database.execute("SELECT label FROM parcel").rows]
        assert labels
        assert not any(label.startswith(other) for label in labels)
        table = database.schema().table("parcel")
        assert table is not None
        assert table.row_count == len(labels)
        assert other not in repr(database.schema())
        assert set(database.distinct_values("parcel", "label", 10)) == set(labels)
        assert database.execute("SELECT count(*) FROM parcel").rows == ((len(labels),),)


def test_nobody_sees_nothing_and_groups_count(postgres: str) -> None:
    with Database.open(_as(postgres, _READER)) as database:
        assert database.execute("SELECT count(*) FROM parcel").rows == ((0,),)
        both = Identity("x", groups=("north", "south"))
        with database.for_user(both) as member:
            assert member.execute("SELECT count(*) FROM parcel").rows == ((3,),)
            assert member.schema().version != database.schema().version
        assert database.execute("SELECT count(*) FROM parcel").rows == ((0,),)
        quoting = Identity("north'; SELECT set_config('tableturn.user', 'south', true); --", claims=(("a", "'\\\""),))
        with database.for_user(quoting) as other:
            assert other.execute("SELECT count(*) FROM parcel").rows == ((0,),)


def test_row_level_security_by_role(postgres: str) -> None:
    mapped = f"{postgres}?role=tt_{{user}}_{_SUFFIX}"
    with Database.open(mapped, session=Session(Identity("south"))) as database:
        assert database.execute("SELECT current_user, label FROM parcel").rows == ((_TENANTS[1], "southern"),)
        with database.for_user(Identity("north")) as other:
            assert other.execute("SELECT count(*) FROM parcel").rows == ((2,),)
    with pytest.raises(SettingsError, match="no person is named"):
        Database.open(mapped)
    with pytest.raises(SettingsError, match="no person may have the role"):
        Database.open(f"{postgres}?role={{user}}", session=Session(Identity("none")))
    with pytest.raises((QueryError, DatabaseUnavailable)):
        Database.open(f"{postgres}?role={{user}}", session=Session(Identity('x"; RESET ROLE; --')))


def test_column_grants_are_kept(postgres: str) -> None:
    with Database.open(_as(postgres, _READER)) as database:
        person = database.schema().table("person")
        assert person is not None
        assert [column.name for column in person.columns] == ["id", "name"]
        with pytest.raises(QueryFailed, match="does not exist"):
            database.execute("SELECT paid FROM person")


_NAMING = (
    "SELECT id, {} FROM shelf",
    "SELECT s.{} FROM shelf AS s JOIN shelf AS other ON other.id = s.id",
    "SELECT id FROM shelf WHERE {} = 'x' ORDER BY 1",
    "SELECT sum({}), zzz FROM shelf",
    "SELECT id FROM shelf WHERE {} > CURRENT_DATE",
    "WITH kept AS (SELECT * FROM shelf WHERE {} IS NOT NULL) SELECT id FROM kept",
)


@pytest.mark.parametrize("server", [POSTGRES, MARIADB], ids=["postgres", "mariadb"])
def test_hidden_columns_are_told_as_missing_ones(server: Server) -> None:
    if server.unavailable():
        pytest.skip(server.unavailable())
    url, login = server.make_database(f"tt_{uuid4().hex[:12]}"), f"tt_{uuid4().hex[:8]}"
    password = "PASSWORD" if server is POSTGRES else "IDENTIFIED BY"
    for statement in (
        "CREATE TABLE shelf (id INTEGER PRIMARY KEY, site VARCHAR(20), country VARCHAR(20))",
        "CREATE TABLE vault (id INTEGER PRIMARY KEY)",
        f"CREATE USER {login} {password} '{SECRET}'",
        f"GRANT SELECT (id, site) ON shelf TO {login}",
    ):
        server.run(url, statement)

    def told(database: Database, sql: str) -> tuple[str, str]:
        with pytest.raises(QueryError) as caught:
            database.execute(sql)
        return caught.value.kind, str(caught.value)

    parts = urlsplit(url)
    address = urlunsplit(parts._replace(netloc=f"{login}:{SECRET}@{parts.hostname}:{parts.port}"))
    try:
        with Database.open(address) as database:
            for sql in _NAMING:
                kind, message = told(database, sql.format("country"))
                assert (kind, message.replace("country", "kountry")) == told(database, sql.format("kountry"))
                assert kind == "unknown_column"
            kind, message = told(database, "SELECT 1 FROM vault")
            assert (kind, message.replace("vault", "fault")) == told(database, "SELECT 1 FROM fault")
            assert kind == "unknown_table"
            assert database.execute("SELECT * FROM shelf").columns == ("id", "site")
            server.run(url, f"REVOKE SELECT (id, site) ON shelf FROM {login}")
            server.run(url, f"GRANT SELECT ON vault TO {login}")
            assert told(database, "SELECT id FROM shelf")[0] == "unknown_table"
    finally:
        if server is POSTGRES:
            server.run(url, f"DROP OWNED BY {login}")
        server.run(url, f"DROP USER {login}")


def test_roles_are_looked_at(postgres: str, mariadb: str) -> None:
    with Database.open(postgres) as database:
        told = " ".join(database.warnings)
        assert "superuser" in told
        assert "GRANT SELECT ON ALL TABLES" in told
    with Database.open(_as(postgres, _READER)) as database:
        assert database.warnings == ()
    with Database.open(mariadb) as database:
        assert "FILE" in " ".join(database.warnings)


def test_views_whose_definition_is_denied_are_left_out(mariadb: str) -> None:
    blind = f"tt_{uuid4().hex[:12]}"
    for statement in (
        "CREATE TABLE shelf (id INTEGER PRIMARY KEY)",
        "INSERT INTO shelf VALUES (7)",
        "CREATE VIEW shelves AS SELECT id FROM shelf",
        f"CREATE USER {blind}@'%' IDENTIFIED BY '{SECRET}'",
        f"CREATE USER {blind}@localhost IDENTIFIED BY '{SECRET}'",
        f"GRANT SELECT ON shelf TO {blind}@'%'",
        f"GRANT SELECT ON shelves TO {blind}@'%'",
        f"GRANT SELECT ON shelf TO {blind}@localhost",
        f"GRANT SELECT ON shelves TO {blind}@localhost",
    ):
        MARIADB.run(mariadb, statement)
    try:
        url = f"sqlalchemy+mysql+pymysql://{blind}:{SECRET}@" + mariadb.rpartition("@")[2]
        with Database.open(url) as database:
            assert [table.name for table in database.schema().tables] == ["shelf"]
            assert database.execute("SELECT id FROM shelf").rows == ((7,),)
    finally:
        MARIADB.run(mariadb, f"DROP USER {blind}@'%'")
        MARIADB.run(mariadb, f"DROP USER {blind}@localhost")
        MARIADB.run(mariadb, "DROP VIEW shelves")
        MARIADB.run(mariadb, "DROP TABLE shelf")


def test_passwords_are_not_in_what_is_kept(postgres: str) -> None:
    """A server that trusts the login takes any password."""
    with Database.open(postgres.replace("postgres@", f"postgres:{SECRET}@")) as database:
        told = (database.location, database.name, repr(database), repr(database.engine), database.warnings)
        assert SECRET not in repr(told)
        assert SECRET not in repr(database.schema())


def test_libpq_is_asked(postgres: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Environment variables stand in for what the URL leaves out."""
    parts = urlsplit(postgres)
    monkeypatch.setenv("PGHOST", parts.hostname or "")
    monkeypatch.setenv("PGPORT", str(parts.port or 5432))
    monkeypatch.setenv("PGUSER", parts.username or "")
    with Database.open(f"postgresql:///{parts.path.strip('/')}") as database:
        assert database.location == f"postgresql://{parts.hostname}:{parts.port or 5432}{parts.path}"


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


def test_long_results_are_not_heard_out(mariadb: str) -> None:
    with Database.open(mariadb) as database:
        table = database.execute("SELECT a.n FROM big a, big b LIMIT 10000000000", Limits(rows=5))
        assert (len(table.rows), table.truncated) == (5, True)
        assert database.execute("SELECT 1").rows == ((1,),)


def test_mariadb_schema_and_cells(mariadb: str) -> None:
    with Database.open(mariadb) as database:
        person = database.schema().table("person")
        assert person is not None
        assert (person.name, person.comment) == ("Person", "People who came")
        felt, shouted = person.column("felt"), person.column("shouted")
        assert felt is not None
        assert shouted is not None
        assert felt.samples == ("sad", "it's fine")
        assert shouted.generated
        row = database.execute("SELECT felt, facts, paid, born, picture, active, NULL FROM person").rows[0]
        assert row == ("sad", '{"x": [1]}', 12.5, "1990-01-02", b"\x00\xff", 1, None)
        assert database.execute("SELECT PERSON.name FROM PERSON WHERE name REGEXP '^A'").rows == (("Ada",),)


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
            Outgoing(database).execute(sql)
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
    yield PostgresBackend(parted(postgres), Session()).connect()
    yield MySQLBackend(parted(mariadb), Session()).connect()
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
            failed = connection.failure(caught.value)
            assert isinstance(failed, QueryRejected), (type(connection), statement, failed)
        connection.close()
    for server, url in ((POSTGRES, postgres), (MARIADB, mariadb)):
        assert server.run(url, "SELECT * FROM kept") == [(1,)]
        server.run(url, "DROP TABLE kept")


def test_warnings_of_rows_that_may_not_leave_are_not_told(mariadb: str) -> None:
    sql = "SELECT count(*), max(name + 1) FROM Person"
    with Database.open(mariadb, egress={"columns": {"Person.name": "statistics"}}) as database:
        assert database.execute(sql).notes
        assert Outgoing(database).execute(sql).notes == ()


def test_what_the_server_keeps_of_queries_is_read_or_said_how(postgres: str) -> None:
    with Database.open(postgres) as database:
        assert isinstance(database.engine, ServerEngine)
        with pytest.raises(DatabaseUnavailable, match="CREATE EXTENSION pg_stat_statements"):
            database.engine.query_log(10)
        # The extension itself needs a server that was started with it; a table of its name and columns stands in.
        POSTGRES.run(postgres, "CREATE SCHEMA watch")
        POSTGRES.run(postgres, "CREATE TABLE watch.pg_stat_statements (query text, dbid oid, calls bigint)")
        POSTGRES.run(
            postgres,
            "INSERT INTO watch.pg_stat_statements SELECT q, d.oid, n FROM pg_database d,"
            f" (VALUES ('SELECT 1', 3), ('{UNREADABLE}', 2), ('SELECT 2', 9)) AS told (q, n)",
        )
        assert database.engine.query_log(10) == ("SELECT 2", "SELECT 1", UNREADABLE)
        assert database.engine.query_log(1) == ("SELECT 2",)
        POSTGRES.run(postgres, "DROP SCHEMA watch CASCADE")


def test_a_server_that_keeps_no_queries_says_what_to_set(mariadb: str) -> None:
    ((kept,),) = MARIADB.run(mariadb, "SELECT @@performance_schema")
    with Database.open(mariadb) as database:
        assert isinstance(database.engine, ServerEngine)
        if int(kept):
            assert isinstance(database.engine.query_log(10), tuple)
        else:
            with pytest.raises(DatabaseUnavailable, match="performance_schema = ON"):
                database.engine.query_log(10)


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
