"""Queries are written in the dialect of the database's engine, and read back from it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tableturn.agent.offline.frame import Column, Operand, Predicate, QueryFrame
from tableturn.agent.offline.sql import convert_frame_to_sql, read_sql
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema

COLUMNS = (
    ColumnSchema("Name", "TEXT"),
    ColumnSchema("Age", "INTEGER", kind="number"),
    ColumnSchema("group", "TEXT"),
    ColumnSchema("paid", "BOOLEAN", kind="boolean"),
)
SHOP = Schema("shop", (TableSchema("Singer", COLUMNS),))
NAME, AGE, GROUP, PAID = (Operand(Column("Singer", column.name)) for column in COLUMNS)

FRAMES = [
    QueryFrame((NAME,), ("Singer",), ((Predicate(AGE, ">", 20),),), order=((AGE, True),), limit=3),
    QueryFrame((GROUP,), ("Singer",), ((Predicate(GROUP, "like", "%a%"),),)),
    QueryFrame((Operand(None, "count"),), ("Singer",), ((Predicate(AGE, "between", (20, 30)),),)),
    QueryFrame((NAME,), ("Singer",), ((Predicate(PAID, "=", 1),),)),
]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb", "mysql"])
@pytest.mark.parametrize("frame", FRAMES)
def test_what_is_written_is_read_back(frame: QueryFrame, dialect: str) -> None:
    schema = replace(SHOP, dialect=dialect)
    assert read_sql(convert_frame_to_sql(frame, schema), schema) == frame


@pytest.mark.parametrize(
    ("frame", "dialect", "written"),
    [
        (FRAMES[0], "postgres", 'SELECT "Name" FROM "Singer" WHERE "Age" > 20 ORDER BY "Age" DESC NULLS LAST LIMIT 3'),
        (FRAMES[1], "sqlite", 'SELECT "group" FROM Singer WHERE "group" LIKE \'%a%\''),
        (FRAMES[1], "duckdb", 'SELECT "group" FROM Singer WHERE "group" ILIKE \'%a%\''),
        (FRAMES[1], "mysql", "SELECT `group` FROM Singer WHERE LOWER(`group`) LIKE LOWER('%a%')"),
        (FRAMES[3], "postgres", 'SELECT "Name" FROM "Singer" WHERE paid = TRUE'),
        (
            QueryFrame((NAME, Operand(None, "count")), ("Singer",), group=(AGE.column,) if AGE.column else ()),
            "postgres",
            'SELECT MIN("Name"), COUNT(*) FROM "Singer" GROUP BY "Age"',
        ),
        (
            QueryFrame((AGE,), ("Singer",), ((Predicate(NAME, "=", 7),),)),
            "duckdb",
            "SELECT Age FROM Singer WHERE Name = '7'",
        ),
        (
            QueryFrame((NAME,), ("Singer",), ((Predicate(AGE, "like", "%2%"),),)),
            "duckdb",
            "SELECT Name FROM Singer WHERE CAST(Age AS TEXT) ILIKE '%2%'",
        ),
    ],
)
def test_each_engine_gets_its_own_sql(frame: QueryFrame, dialect: str, written: str) -> None:
    assert convert_frame_to_sql(frame, replace(SHOP, dialect=dialect)) == written


def test_what_is_no_sql_of_the_engine_is_not_read() -> None:
    assert read_sql("SELECT (", replace(SHOP, dialect="postgres")) is None
