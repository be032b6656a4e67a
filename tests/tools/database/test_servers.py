"""What only engines on servers promise: passwords kept, drivers named, connections taken up again, roles looked at."""

from __future__ import annotations

from urllib.parse import urlsplit, urlunsplit
from uuid import uuid4

import pytest
from tableturn.tools.database import Database, Identity, Session
from tableturn.tools.database.server.engine import ServerEngine
from tableturn.tools.errors import DatabaseUnavailable, QueryError, QueryFailed, SettingsError

from .people import READER, SUFFIX, TENANTS
from .servers import MARIADB, POSTGRES, Server

SECRET = "s3cr3t-horse"


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
            *("number", "text", "text", "text", "text", "number", "time", "time", "text", "boolean", "binary", "text")
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
    with Database.open(_as(postgres, READER), session=Session(Identity(name))) as database:
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
    with Database.open(_as(postgres, READER)) as database:
        assert database.execute("SELECT count(*) FROM parcel").rows == ((0,),)
        both = Identity("x", groups=("north", "south"))
        with database.for_user(both) as member:
            assert member.execute("SELECT count(*) FROM parcel").rows == ((3,),)
            assert member.schema().version != database.schema().version
        assert database.execute("SELECT count(*) FROM parcel").rows == ((0,),)
        quoting = Identity("north'; SELECT set_config('tableturn.user', 'south', true); --", claims=(("a", "'\\\""),))
        with database.for_user(quoting) as other:
            assert other.execute("SELECT count(*) FROM parcel").rows == ((0,),)


def test_tables_with_rows_for_named_people_are_known(postgres: str) -> None:
    """Through views too: one reads as its owner, whom no policy binds here, or as whoever asks."""
    for statement in (
        "CREATE VIEW as_owner AS SELECT id FROM parcel",
        "CREATE VIEW as_asker WITH (security_invoker) AS SELECT id FROM parcel",
        "CREATE VIEW above AS SELECT id FROM as_asker",
        f"GRANT SELECT ON as_owner, as_asker, above TO {READER}",
        "CREATE VIEW as_reader AS SELECT id FROM parcel",
        f"ALTER VIEW as_reader OWNER TO {READER}",
    ):
        POSTGRES.run(postgres, statement)
    try:
        with Database.open(_as(postgres, READER)) as database:
            assert database.execute("SELECT count(*) FROM as_owner").rows == ((3,),)
            for view in ("as_asker", "above", "as_reader"):
                assert database.execute(f"SELECT count(*) FROM {view}").rows == ((0,),)
            assert database.personal_tables == {"parcel", "as_asker", "above", "as_reader"}
            with database.for_user(Identity("north")) as north:
                assert north.personal_tables == frozenset()
        with Database.open(postgres) as database:
            assert database.personal_tables == {"as_reader"}, "nothing else hides rows from this login"
    finally:
        for view in ("above", "as_asker", "as_owner", "as_reader"):
            POSTGRES.run(postgres, f"DROP VIEW {view}")


@pytest.mark.parametrize(
    ("policies", "ruled", "personal"),
    [
        (["USING (true)"], False, False),
        (["FOR INSERT WITH CHECK (id > 1)", "FOR SELECT USING (true)"], False, False),
        (["USING (tenant = 'north')", "USING (true)"], False, False),
        (["USING (true)", "AS RESTRICTIVE USING (tenant = 'north')"], True, True),
        (["FOR SELECT TO pg_monitor USING (true)"], True, True),
        (["USING (tenant = current_user)"], True, True),
        (["USING (tenant = current_setting('app.other', true))"], True, True),
        (["USING (tenant = current_setting('tableturn.user', true))"], True, True),
        (["USING (tenant = current_setting('app.tenant', true))"], True, False),
        (["USING (tenant = current_setting('app.tenant'))", "USING (tenant = current_user)"], True, True),
    ],
)
def test_rules_that_let_every_row_through_or_are_fixed_by_the_connection_ask_for_no_person(
    postgres: str, policies: list[str], ruled: bool, personal: bool
) -> None:
    POSTGRES.run(postgres, "CREATE TABLE box AS SELECT * FROM parcel")
    try:
        POSTGRES.run(postgres, "ALTER TABLE box ENABLE ROW LEVEL SECURITY")
        POSTGRES.run(postgres, f"GRANT SELECT ON box TO {READER}")
        for number, policy in enumerate(policies):
            POSTGRES.run(postgres, f"CREATE POLICY own{number} ON box {policy}")
        with Database.open(f"{_as(postgres, READER)}?options=-c%20app.tenant%3Dnorth") as database:
            assert (len(database.execute("SELECT * FROM box").rows) < 3) is ruled
            assert isinstance(database.engine, ServerEngine)
            assert ("box" in database.engine.ruled_tables, "box" in database.personal_tables) == (ruled, personal)
    finally:
        POSTGRES.run(postgres, "DROP TABLE box")


def test_row_level_security_by_role(postgres: str) -> None:
    mapped = f"{postgres}?role=tt_{{user}}_{SUFFIX}"
    with Database.open(mapped, session=Session(Identity("south"))) as database:
        assert database.execute("SELECT current_user, label FROM parcel").rows == ((TENANTS[1], "southern"),)
        with database.for_user(Identity("north")) as other:
            assert other.execute("SELECT count(*) FROM parcel").rows == ((2,),)
    with pytest.raises(SettingsError, match="no person is named"):
        Database.open(mapped)
    with pytest.raises(SettingsError, match="is not allowed for a person"):
        Database.open(f"{postgres}?role={{user}}", session=Session(Identity("none")))
    with pytest.raises((QueryError, DatabaseUnavailable)):
        Database.open(f"{postgres}?role={{user}}", session=Session(Identity('x"; RESET ROLE; --')))


def test_column_grants_are_kept(postgres: str) -> None:
    with Database.open(_as(postgres, READER)) as database:
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
    with Database.open(_as(postgres, READER)) as database:
        assert database.warnings == ()
    with Database.open(mariadb) as database:
        assert "FILE" in " ".join(database.warnings)


def test_views_whose_definition_is_denied_can_be_read(mariadb: str) -> None:
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
            assert [(table.name, table.definition) for table in database.schema().tables] == [
                ("shelf", ""),
                ("shelves", ""),
            ]
            assert database.execute("SELECT id FROM shelves").rows == ((7,),)
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
