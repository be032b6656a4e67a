"""Whatever a model writes, an analysis ends: with what it found, or with the one error that callers know."""

from __future__ import annotations

import random
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest
from tableturn.tools import sql as analyses
from tableturn.tools.database.dialects import MOST_PARTS
from tableturn.tools.errors import SQLParseError
from tableturn.tools.sql.parse import MAX_LENGTH, guard_nesting_depth, parse, return_default_if_unparsable
from tableturn.tools.sql.reads import get_values_of_read_columns

from .shop import SHOP

_PARTS = [
    "SELECT",
    "FROM",
    "WHERE",
    "customer",
    "orders",
    "name",
    "email",
    "*",
    "(",
    ")",
    ",",
    "AS",
    "j(a,b)",
    "LATERAL",
    "JOIN",
    "ON true",
    "USING(id)",
    "NATURAL",
    "GROUP BY",
    "ORDER BY",
    "1",
    "count(*)",
    "ROWS FROM (f(1))",
    "ROWS FROM (generate_series(1,2), f(1)) WITH ORDINALITY x(a,b)",
    "TABLESAMPLE (10)",
    "(customer JOIN orders ON true) AS j(a,n)",
    "PIVOT (count(*) FOR name IN ('a'))",
    "UNPIVOT (x FOR y IN (a))",
    "VALUES (1)",
    "UNION",
    "x.*",
    "TABLE(f(1))",
    "unnest(name)",
    "MATCH_RECOGNIZE (PATTERN (a))",
    "FOR SYSTEM_TIME AS OF 1",
    "@a",
    ":p",
    "?",
    "$1",
    "'s'",
    "{d '2020-01-01'}",
    "CASE WHEN 1 THEN 2 END",
    "CAST(name AS",
    "OVER (PARTITION BY id)",
    "WITH q AS (SELECT 1)",
    "EXISTS",
    "IN",
    "ONLY customer",
    "LIMIT",
    "JSON_TABLE(name, '$' COLUMNS(a INT PATH '$'))",
    "XMLTABLE('/a' PASSING name COLUMNS b INT)",
    "WINDOW w AS (ORDER BY id)",
    "INTERVAL '1' DAY",
    "::int",
    "[1]",
    "=>",
    "->",
    "->>",
    "COLLATE nocase",
    "FILTER (WHERE 1)",
    "AT TIME ZONE 'x'",
    "INDEXED BY ix",
    "STRAIGHT_JOIN",
    "OPENJSON(x) WITH (a int)",
    "GENERATE_SERIES(1,3)",
    "a.b.c.d",
    '"q"',
    "`b`",
    "[c]",
    "LIKE ESCAPE",
    "GROUPING SETS ((a),())",
    "ROLLUP(name)",
    "QUALIFY 1",
    "FETCH FIRST 1 ROWS WITH TIES",
    "FOR UPDATE",
    "INTO x",
    "DISTINCT ON (name)",
    "TOP 3",
    "ARRAY[1,2]",
    "x -> x+1",
    "EXCLUDE (name)",
    "REPLACE (1 AS name)",
    "COLUMNS('a')",
    "#3",
    "()",
    "(,)",
    "''",
    "0x1",
    "1e999",
    "EXTRACT(x FROM name)",
    "POSITION('a' IN name)",
    "ANY(ARRAY[1])",
    "ROW(1,2)",
    "IS DISTINCT FROM",
    "BETWEEN 1",
    "SUMMARIZE customer",
    "DESCRIBE customer",
    "SEMI JOIN",
    "ASOF JOIN",
    "POSITIONAL JOIN",
    "U&'\\0061'",
]
_SHAPES = (
    "SELECT {0} FROM {1}",
    "SELECT {0} FROM customer {1} {2}",
    "SELECT b FROM {0} {1}, orders",
    "SELECT {0} {1} {2} FROM customer",
    "SELECT * FROM (customer {0}) {1}",
    "WITH x AS (SELECT {0} FROM {1}) SELECT * FROM x {2}",
    "SELECT name FROM customer WHERE {0} {1} {2}",
    "SELECT name FROM customer JOIN {0} {1} {2}",
    "SELECT name FROM {0}({1}) {2}",
    "SELECT name FROM customer GROUP BY {0} {1} ORDER BY {2}",
    "{0} {1} {2} {3} {4}",
)
_KNOWN = (
    "SELECT b FROM ROWS FROM (generate_series(1,2)) WITH ORDINALITY x(a,b)",
    "SELECT b FROM ASOF JOIN ROWS FROM (f(1)), orders",
    "SELECT XMLTABLE('/a' PASSING name COLUMNS b INT) FROM customer REPLACE (1 AS name) LATERAL FLATTEN(name)",
    "SELECT name FROM ''([1]) TABLESAMPLE (10)",
)


class Nothing:
    """Columns without values."""

    def holds(self, table: str, column: str, text: str) -> bool:
        return False

    def matches(self, table: str, column: str, pattern: str, *, any_case: bool = False) -> bool:
        return False

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        return ()


def _statements(dialect: str) -> Iterator[str]:
    yield from _KNOWN
    chance = random.Random(dialect)
    for _ in range(80):
        yield chance.choice(_SHAPES).format(*(chance.choice(_PARTS) for _ in range(5)))


@pytest.mark.parametrize("dialect", ["sqlite", "postgres", "duckdb", "mysql", "bigquery", "tsql"])
def test_every_analysis_ends(dialect: str) -> None:
    schema = replace(SHOP, dialect=dialect)
    columns = {(table.name, column.name): "none" for table in schema.tables for column in table.columns}
    statements = list(_statements(dialect))
    assert len(statements) == len(_KNOWN) + 80
    for sql in statements:
        # These never raise.
        analyses.check(sql, schema)
        query = analyses.read_query(sql, schema)
        analyses.headings(query, ["a"])
        analyses.find_query_constants(sql, dialect)
        if query is not None:
            analyses.find_searched_literals(query, Nothing())
            with suppress(SQLParseError):
                analyses.explain(query)
        analyses.mend_names(sql, schema)
        analyses.same_sql(sql, "SELECT 1", schema)
        analyses.is_ordered(sql, dialect)
        get_values_of_read_columns(sql, schema, columns)
        for raising in (analyses.find_used_schema_items, analyses.regularize):
            with suppress(SQLParseError):
                raising(sql, schema)
        with suppress(SQLParseError):
            analyses.vectorize_query(sql, dialect)
        with suppress(SQLParseError):
            analyses.make_sql_skeleton(sql, dialect)


def test_a_fault_of_an_analysis_is_no_fault_of_the_statement() -> None:
    def fails(sql: str) -> str:
        raise KeyError(sql)

    with pytest.raises(KeyError):
        guard_nesting_depth(fails)("SELECT 1")
    with pytest.raises(KeyError):
        return_default_if_unparsable("nothing")(fails)("SELECT 1")


def test_what_is_nested_too_deeply_is_one_kind_of_error() -> None:
    def falls(sql: str) -> str:
        return falls(sql)

    with pytest.raises(SQLParseError, match="nested too deeply"):
        guard_nesting_depth(falls)("SELECT 1")
    assert return_default_if_unparsable("nothing")(falls)("SELECT 1") == "nothing"


def test_what_the_parser_stumbles_over_is_no_sql(monkeypatch: pytest.MonkeyPatch) -> None:
    def stumbles(*_: object) -> None:
        raise AttributeError("in the library")

    monkeypatch.setattr("sqlglot.dialects.dialect.Dialect.parser", stumbles)
    with pytest.raises(SQLParseError, match="the SQL parser failed"):
        parse("SELECT 'never read before'")


@pytest.mark.parametrize(
    "sql",
    [
        " UNION ".join(["SELECT 1"] * (MOST_PARTS + 1)),
        "SELECT 1 FROM a" + "".join(f" JOIN b AS b{at} ON b{at}.x = a.x" for at in range(MOST_PARTS)),
        "SELECT '" + "x" * MAX_LENGTH + "'",
    ],
)
def test_what_would_take_long_is_not_parsed(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        pytest.fail("it was read")

    monkeypatch.setattr("sqlglot.tokens.Tokenizer.tokenize", fails)
    with pytest.raises(SQLParseError, match=r"at most|more than"):
        parse(sql)


@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM a" + " JOIN a" * 40,
        "SELECT 1 FROM a JOIN a JOIN (" * 20 + "SELECT 1" + ")" * 20,
        "SELECT " + "DATE(" * 40 + "1" + ")" * 40,
        "SELECT " + "[" * 40 + "1" + "]" * 40,
        "SELECT " + "CASE WHEN " * 200 + "1" + " THEN 1 END" * 200,
        "SELECT CAST(a AS " + "STRUCT<a " * 200 + "INT" + ">" * 200 + ")",
        "FROM " * 200 + "a",
        "SELECT a" + ".f(1)" * 2_000,
        "SELECT a" + ".f(1) OVER ()" * 2_000,
        "SELECT a" + "[1]" * 2_000,
    ],
    ids=lambda sql: f"{sql[:24]}...",
)
def test_what_would_keep_the_parser_busy_is_not_parsed(sql: str, dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        pytest.fail("it was parsed")

    parse("SELECT 1", dialect)  # a dialect's rules are read once
    monkeypatch.setattr("sqlglot.dialects.dialect.Dialect.parser", fails)
    with pytest.raises(SQLParseError, match="nested too deeply"):
        parse(sql, dialect)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1 FROM a" + " CROSS JOIN a" * 40,
        "SELECT 1 FROM a" + " JOIN b ON 1 = 1" * 40,
        "SELECT " + ", ".join(["f(a)[1].b[2]"] * 100),
        "SELECT " + ", ".join(["CASE DATE(a) WHEN b THEN 1 END"] * 200),
    ],
    ids=lambda sql: f"{sql[:24]}...",
)
def test_what_is_only_long_is_parsed(sql: str) -> None:
    assert parse(sql, "duckdb").tree


def test_hints_nested_too_deeply_are_not_parsed() -> None:
    with pytest.raises(SQLParseError, match="nested too deeply"):
        parse("SELECT /*+ " + "a(" * 200 + "1" + ")" * 200 + " */ 1", "spark")
