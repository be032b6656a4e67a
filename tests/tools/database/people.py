"""The databases that tests of servers share: people who came, and parcels of two tenants."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from .servers import MARIADB, POSTGRES


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    if POSTGRES.unavailable():
        pytest.skip(POSTGRES.unavailable())
    url = POSTGRES.make_database(f"tt_{uuid4().hex[:12]}")
    for statement in _POSTGRES:
        POSTGRES.run(url, statement)
    yield url
    for role in (READER, *TENANTS):
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


SUFFIX = uuid4().hex[:8]
READER = f"tt_reader_{SUFFIX}"
TENANTS = (f"tt_north_{SUFFIX}", f"tt_south_{SUFFIX}")
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
    " OR pg_has_role(current_user, 'tt_' || tenant || '_" + SUFFIX + "', 'MEMBER'))",
    f"CREATE ROLE {READER} LOGIN",
    *(f"CREATE ROLE {tenant}" for tenant in TENANTS),
    *(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}" for role in (READER, *TENANTS)),
    f"REVOKE SELECT ON person FROM {READER}",
    f"GRANT SELECT (id, name) ON person TO {READER}",
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
