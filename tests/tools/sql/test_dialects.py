"""Queries in the dialects of other engines: read, resolved, made regular, checked, explained."""

from dataclasses import replace

import pytest
from sqlglot import exp
from tableturn.prompts.find_sql import find_sql
from tableturn.tools.database.rendering.render import render_schema
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema
from tableturn.tools.errors import QueryFailed, ReplyError, SQLParseError
from tableturn.tools.sql import (
    Query,
    check,
    dialect_notes,
    explain,
    find_query_constants,
    find_used_schema_items,
    make_sql_skeleton,
    parse_query_tree,
    regularize,
    same_sql,
)

from tests.support.queries import read

from .shop import SHOP

MIXED = Schema(
    "mixed",
    (
        TableSchema("Orders", (ColumnSchema("Id", "int", "number", 1), ColumnSchema("user", "text"))),
        TableSchema("city", (ColumnSchema("id", "int", "number", 1), ColumnSchema("Order Date", "date", "time"))),
    ),
)

DIALECTS = ["sqlite", "postgres", "duckdb", "mysql"]
OTHERS = ["sqlite", "duckdb", "mysql"]  # where a call has no name of its own


def test_a_quote_written_twice_is_one_text_in_spark() -> None:
    for sql in ("SELECT name FROM customer WHERE name = 'it''s'", r"SELECT name FROM customer WHERE name = 'it\'s'"):
        assert [text.this for text in parse_query_tree(sql, "spark").find_all(exp.Literal)] == ["it's"]
    assert regularize("SELECT name FROM customer WHERE name = 'it''s'", shop("spark")).endswith("= 'it''s'")


def shop(dialect: str) -> Schema:
    return replace(SHOP, dialect=dialect)


@pytest.mark.parametrize(
    ("dialect", "sql"),
    [
        ("postgres", "SELECT name FROM customer WHERE country ILIKE 'fr%' AND id::text = '1'"),
        ("postgres", "SELECT DISTINCT ON (country) country, name FROM customer ORDER BY country, id DESC"),
        ("postgres", "SELECT c.name, l.n FROM customer c CROSS JOIN LATERAL (SELECT count(*) AS n FROM orders o"
         " WHERE o.customer_id = c.id) l"),
        ("postgres", "SELECT count FROM (SELECT count(*) FROM orders) t"),
        ("postgres", "SELECT g FROM generate_series(1, 3) AS g"),
        ("postgres", "SELECT v.a FROM (VALUES (1, 2)) AS v(a, b)"),
        ("duckdb", "WITH p AS (PIVOT orders ON id USING sum(total) GROUP BY customer_id) SELECT customer_id FROM p"),
        ("duckdb", "SELECT n FROM (UNPIVOT orders ON total INTO NAME n VALUE v) AS p WHERE p.v > 3"),
        ("postgres", "SELECT count(*) FILTER (WHERE total > 3) FROM orders FETCH FIRST 3 ROWS WITH TIES"),
        ("postgres", "SELECT ctid, extract(year FROM placed) FROM orders"),
        ("postgres", "SELECT relname FROM pg_class"),
        ("postgres", "SELECT table_name FROM information_schema.tables"),
        ("mysql", "SELECT `name`, \"x\" FROM `customer` WHERE country <=> 'x' LIMIT 1, 2"),
        ("mysql", "SELECT country, count(*) AS n FROM customer GROUP BY country HAVING n > 1"),
        ("mysql", "SELECT group_concat(name ORDER BY name SEPARATOR ', '), year(placed) FROM customer, orders"
         " WHERE customer.id = customer_id GROUP BY 2"),
        ("duckdb", "SELECT country, count(*) FROM customer GROUP BY ALL ORDER BY ALL"),
        ("duckdb", "SELECT id AS n, n + 1 FROM customer"),
        ("duckdb", "SELECT t.name FROM (SELECT * EXCLUDE (country) FROM customer) t"),
        ("duckdb", "FROM customer"),
        ("duckdb", "SELECT name FROM customer QUALIFY row_number() OVER (PARTITION BY country ORDER BY id) = 1"),
        ("duckdb", "SELECT customer.name.first FROM customer"),
        ("duckdb", "SELECT u.x FROM customer, unnest([1, 2]) AS u(x)"),
        ("bigquery", "SELECT name FROM `customer` WHERE SAFE_CAST(country AS INT64) IS NULL"),
        ("oddsql", "SELECT name FROM customer"),
    ],
)  # fmt: skip
def test_what_an_engine_takes_is_without_error(dialect: str, sql: str) -> None:
    schema = shop(dialect)
    assert [finding for finding in check(sql, schema) if finding.severity == "error"] == []
    regular = regularize(sql, schema)
    assert regularize(regular, schema) == regular
    assert find_used_schema_items(regular, schema) == find_used_schema_items(sql, schema)
    assert explain(read(sql, schema)).endswith(".")
    assert "_" in make_sql_skeleton(sql, dialect)


@pytest.mark.parametrize(
    ("dialect", "sql", "kind", "suggestion"),
    [
        ("postgres", 'SELECT name FROM customer WHERE country = "France"', "unknown_column", ""),
        ("postgres", "SELECT nme FROM customer", "unknown_column", "use name"),
        ("postgres", "SELECT id + 1 AS n FROM customer WHERE n > 3", "unknown_column",
         "an alias cannot be used here: write id + 1"),
        ("postgres", "SELECT rowid FROM customer", "unknown_column", None),
        ("mysql", "SELECT name FROM custmer", "unknown_table", "use customer"),
    ],
)  # fmt: skip
def test_what_an_engine_refuses_is_an_error_without_asking_it(
    dialect: str, sql: str, kind: str, suggestion: str | None
) -> None:
    finding = check(sql, shop(dialect))[0]
    assert (finding.kind, finding.severity) == (kind, "error")
    if suggestion:
        assert finding.suggestion == suggestion


@pytest.mark.parametrize(
    ("order", "refusing"),
    [
        ("SELECT c.name FROM customer AS c, product AS p ORDER BY name", ["sqlite"]),
        ("SELECT p.* FROM customer AS c, product AS p ORDER BY (name) DESC", ["sqlite"]),
        ("SELECT DISTINCT c.name FROM customer AS c, product AS p ORDER BY name COLLATE x", ["sqlite", "postgres"]),
        ("SELECT CAST(c.name AS text) FROM customer AS c, product AS p ORDER BY name", ["sqlite", "duckdb", "mysql"]),
        ("SELECT c.name, p.name FROM customer AS c, product AS p ORDER BY name", DIALECTS),
        ("SELECT c.name FROM customer AS c, product AS p ORDER BY upper(name)", DIALECTS),
        ("SELECT c.name FROM customer AS c, product AS p ORDER BY rank() OVER (ORDER BY name)", DIALECTS),
        ("SELECT note, count(*) FILTER (WHERE id > 1) FROM orders GROUP BY note ORDER BY count", OTHERS),
        ("SELECT note, string_agg(note, '-') OVER () FROM orders ORDER BY string_agg", OTHERS),
        ("SELECT (SELECT max(total) FROM orders) FROM customer ORDER BY max", OTHERS),
    ],
)
def test_a_result_column_comes_first_in_order_by_with_or_without_an_alias(order: str, refusing: list[str]) -> None:
    resolutions = {dialect: Query.of(order, dialect, SHOP).resolution for dialect in DIALECTS}
    bad = {"ambiguous", "unknown"}
    assert [d for d, found in resolutions.items() if bad & {one.kind for one in found.references}] == refusing


@pytest.mark.parametrize("dialect", ["postgres", "duckdb"])
def test_a_column_that_is_not_grouped_by_is_named_where_the_engine_refuses_it(dialect: str) -> None:
    sql = "SELECT name, count(*) FROM customer GROUP BY country"
    assert check(sql, shop(dialect)) == (), "whether it does is for the engine to say"
    refused = QueryFailed("must be grouped by", "aggregate_misuse")
    (finding,) = check(sql, shop(dialect), compiles=lambda sql, tables: refused)
    assert (finding.place, finding.suggestion) == ("name", "add name to GROUP BY, or aggregate it")


def test_postgres_tells_names_in_quotes_by_case() -> None:
    schema = replace(MIXED, dialect="postgres")
    assert check('SELECT "Id" FROM "Orders"', schema) == ()
    unknown_table, *_ = check("SELECT id FROM Orders", schema)
    assert (unknown_table.kind, unknown_table.suggestion) == ("unknown_table", 'use "Orders"')
    (unknown_column,) = check('SELECT Id FROM "Orders"', schema)
    assert (unknown_column.kind, unknown_column.suggestion) == ("unknown_column", 'write "Id"')


@pytest.mark.parametrize(
    ("dialect", "sql", "regular"),
    [
        ("postgres", 'select "Id", o."user" from "Orders" as o where "Id" <> 1',
         'SELECT "Orders"."Id", "Orders"."user" FROM "Orders" WHERE "Orders"."Id" != 1'),
        ("postgres", "select ID from City where $$a  B$$ = E'x'",
         "SELECT city.id FROM city WHERE $$a  B$$ = E'x'"),
        ("mysql", 'select `Order Date`, ID from city as C where ID = "x"',
         "SELECT city.`order date`, city.id FROM city WHERE city.id = 'x'"),
        ("mysql", "select ID from ORDERS as x", "SELECT Orders.id FROM Orders"),
        ("duckdb", 'select "Order Date" from CITY', 'SELECT city."order date" FROM city'),
    ],
)  # fmt: skip
def test_regular_forms(dialect: str, sql: str, regular: str) -> None:
    assert regularize(sql, replace(MIXED, dialect=dialect)) == regular


def test_same_sql_follows_the_case_rules_of_the_dialect() -> None:
    one, other = "SELECT name FROM customer", 'SELECT "NAME" FROM customer'
    assert same_sql(one, other, shop("duckdb"))
    assert not same_sql(one, other, shop("postgres"))


def test_double_quotes_are_texts_in_mysql_and_sqlite_only() -> None:
    sql = 'SELECT name FROM customer WHERE country = "France"'
    assert {d for d in ("sqlite", "mysql", "postgres", "duckdb") if find_query_constants(sql, d).texts} == {
        "sqlite",
        "mysql",
    }


def test_the_databases_own_refusal_is_explained_in_its_dialect() -> None:
    def refuse(sql: str, tables: object) -> QueryFailed:
        return QueryFailed("function strftime(unknown, date) does not exist", "unknown_function")

    (finding,) = check("SELECT strftime('%Y', placed) FROM orders", shop("postgres"), compiles=refuse)
    assert finding.suggestion.startswith("PostgreSQL has to_char")


@pytest.mark.parametrize(
    ("dialect", "message", "sql", "suggestion"),
    [
        ("postgres", 'syntax error at or near "`"', "SELECT `name` FROM customer", "double quotes"),
        ("mysql", "You have an error in your SQL syntax near 'FULL JOIN orders ON 1' at line 1",
         "SELECT 1 FROM customer FULL JOIN orders ON 1", "LEFT JOIN, UNION"),
        ("duckdb", 'syntax error at or near "2"', "SELECT TOP 2 name FROM customer", "LIMIT"),
        ("postgres", 'syntax error at or near "order"', "SELECT order FROM product", '"order"'),
        ("mysql", "near 'order FROM product' at line 1", "SELECT order FROM product", "`order`"),
    ],
)  # fmt: skip
def test_advice_on_syntax(dialect: str, message: str, sql: str, suggestion: str) -> None:
    error = QueryFailed(message, "syntax")
    finding = check(sql, shop(dialect), compiles=lambda sql, tables: error)[0]
    assert finding.kind == "syntax"
    assert suggestion in finding.suggestion


def test_a_query_that_cannot_be_read_and_not_be_asked_about_is_a_warning() -> None:
    (finding,) = check("SELECT FROM WHERE", shop("duckdb"))
    assert (finding.kind, finding.severity) == ("syntax", "warning")
    assert "DuckDB" in finding.message


def test_explanations_say_what_the_dialect_means() -> None:
    sql = "SELECT name FROM customer ORDER BY country DESC NULLS LAST"
    assert "missing values last" in explain(read(sql, shop("postgres")))
    assert "missing" not in explain(read(sql, SHOP))
    assert "in any case" in explain(read("SELECT name FROM customer WHERE name ILIKE '%a%'", shop("postgres")))


def test_names_in_prompts_are_quoted_as_the_dialect_needs() -> None:
    shown = {d: render_schema(replace(MIXED, dialect=d)) for d in ("sqlite", "postgres", "mysql", "duckdb")}
    assert "Orders(Id*" in shown["sqlite"]
    assert '"Orders"("Id"*' in shown["postgres"]
    assert '"user" text' in shown["postgres"]
    assert "`Order Date`" in shown["mysql"]
    assert "Orders(Id*" in shown["duckdb"]


def test_replies_are_read_in_the_dialect() -> None:
    reply = "The query is SELECT `a`, 'it\\'s; so' FROM t; it lists all."
    assert find_sql(reply, "mysql").sql == "SELECT `a`, 'it\\'s; so' FROM t"
    with pytest.raises(ReplyError) as caught:
        find_sql("No idea.", "postgres")
    assert "one PostgreSQL SELECT statement" in caught.value.hint


def test_notes_are_few_and_short_and_none_for_sqlite() -> None:
    assert dialect_notes("sqlite") == dialect_notes("oddsql") == ()
    for notes in (dialect_notes("postgres"), dialect_notes("mysql"), dialect_notes("duckdb")):
        assert 4 <= len(notes) <= 7
        assert all(len(note) < 240 for note in notes)
    assert dialect_notes("mysql", "10.11.6-MariaDB") != dialect_notes("mysql", "8.0.36")


def test_each_dialect_is_read_by_its_own_grammar() -> None:
    parse_query_tree("SELECT a::int FROM t", "postgres")
    with pytest.raises(SQLParseError):
        parse_query_tree("SELECT a FROM t LIMIT 1, 2, 3", "mysql")
