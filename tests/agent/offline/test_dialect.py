"""Queries leave in the dialect of the database's engine, and are read back from it."""

from __future__ import annotations

import pytest
from tableturn.agent.offline.dialect import from_engine, to_engine
from tableturn.agent.offline.frames import build, read_sql
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema

QUERIES = [
    "SELECT Name FROM Singer WHERE Age > 20 ORDER BY Age DESC LIMIT 3",
    'SELECT "group" FROM Singer WHERE "group" LIKE \'%a%\'',
    "SELECT COUNT(*) FROM Singer WHERE Age BETWEEN 20 AND 30",
]


def _schema(dialect: str) -> Schema:
    columns = (
        ColumnSchema("Name", "TEXT"),
        ColumnSchema("Age", "INTEGER", kind="number"),
        ColumnSchema("group", "TEXT"),
    )
    return Schema("shop", (TableSchema("Singer", columns),), dialect=dialect)


@pytest.mark.parametrize("sql", QUERIES)
def test_sqlite_is_left_as_it_is(sql: str) -> None:
    assert to_engine(sql, _schema("sqlite")) == sql
    assert from_engine(sql, _schema("sqlite")) == sql


@pytest.mark.parametrize("dialect", ["postgres", "duckdb", "mysql"])
@pytest.mark.parametrize("sql", QUERIES)
def test_what_leaves_is_read_back(sql: str, dialect: str) -> None:
    schema = _schema(dialect)
    frame = read_sql(sql, schema)
    assert frame is not None
    written = to_engine(build(frame, schema).sql("sqlite"), schema)
    assert read_sql(from_engine(written, schema), schema) == frame


def test_names_keep_their_case_where_an_engine_folds_it() -> None:
    assert '"Name" FROM "Singer"' in to_engine(QUERIES[0], _schema("postgres"))
    assert "Name FROM Singer" in to_engine(QUERIES[0], _schema("mysql"))


def test_what_is_no_sql_of_the_engine_is_not_read() -> None:
    assert from_engine("SELECT (", _schema("postgres")) == ""
