"""SQLite queries written for other engines."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.sql import check, explain, find_used_schema_items, make_sql_skeleton, regularize, vectorize_query

from tests.support.queries import read
from tests.tools.database.translated import translate_to_dialect

from .shop import SHOP


@pytest.mark.parametrize(
    ("sql", "dialect", "expected"),
    [
        ('SELECT "birth year" FROM customer WHERE country = "France"', "postgres",
         "SELECT \"birth year\" FROM customer WHERE country = 'France'"),
        ('SELECT "birth year" FROM customer', "mysql", "SELECT `birth year` FROM customer"),
        ("SELECT NAME FROM Customer WHERE name LIKE '%a%'", "postgres",
         "SELECT name FROM customer WHERE name ILIKE '%a%'"),
        ("SELECT name FROM customer WHERE name NOT LIKE 'a'", "duckdb",
         "SELECT name FROM customer WHERE name NOT ILIKE 'a'"),
        ("SELECT name FROM customer WHERE name LIKE 'a'", "mysql",
         "SELECT name FROM customer WHERE LOWER(name) LIKE LOWER('a')"),
        ("SELECT C.name FROM customer AS c", "mysql", "SELECT c.name FROM customer AS c"),
        ("SELECT name FROM customer WHERE name = (SELECT max(id) FROM customer)", "postgres",
         "SELECT name FROM customer WHERE name = (SELECT CAST(MAX(id) AS TEXT) FROM customer)"),
        ("SELECT name FROM customer WHERE name = (SELECT id FROM customer LIMIT 1)", "postgres",
         "SELECT name FROM customer WHERE name = (SELECT CAST(id AS TEXT) FROM customer LIMIT 1)"),
        ("SELECT name FROM customer WHERE name < (SELECT avg(id) FROM customer)", "postgres",
         "SELECT name FROM customer WHERE name < (SELECT CAST(AVG(id) AS TEXT) FROM customer)"),
        ("SELECT name || country FROM customer", "mysql", "SELECT CONCAT(name, country) FROM customer"),
        ("SELECT count(*) / 2 FROM customer", "mysql", "SELECT COUNT(*) DIV 2 FROM customer"),
        ("SELECT count(*) / 2 FROM customer", "duckdb", "SELECT COUNT(*) // 2 FROM customer"),
        ("SELECT count(*) / 2 FROM customer", "postgres", "SELECT COUNT(*) / NULLIF(2, 0) FROM customer"),
        ("SELECT strftime('%Y', placed) FROM orders", "postgres",
         "SELECT TO_CHAR(CAST(placed AS TIMESTAMP), 'YYYY') FROM orders"),
        ("SELECT strftime('%Y', placed) FROM orders", "mysql", "SELECT DATE_FORMAT(placed, '%Y') FROM orders"),
        ("SELECT name, count(*) FROM customer GROUP BY id", "postgres",
         "SELECT MIN(name), COUNT(*) FROM customer GROUP BY id"),
        ("SELECT country, count(*) AS n FROM customer GROUP BY country HAVING n > 1", "postgres",
         "SELECT country, COUNT(*) AS n FROM customer GROUP BY country HAVING COUNT(*) > 1"),
        ("SELECT name FROM customer WHERE country = 3", "postgres", "SELECT name FROM customer WHERE country = '3'"),
        ("SELECT count(*) FROM (SELECT id FROM customer)", "mysql",
         "SELECT COUNT(*) FROM (SELECT id FROM customer) AS derived_0"),
    ],
)  # fmt: skip
def test_what_only_a_schema_tells_is_put_right(sql: str, dialect: str, expected: str) -> None:
    assert translate_to_dialect(sql, dialect, SHOP) == expected


def test_a_query_stays_as_it_is_in_its_own_dialect_and_works_without_a_schema() -> None:
    assert translate_to_dialect("select  1", "sqlite") == "select  1"
    assert translate_to_dialect("SELECT a FROM t WHERE a LIKE 'x'", "duckdb") == "SELECT a FROM t WHERE a ILIKE 'x'"


@pytest.mark.data
def test_gold_queries_are_read_in_every_dialect(data_dir: Path) -> None:
    """300 of Spider's development set, through every function, without an error that SQLite does not have."""
    records = json.loads((data_dir / "spider" / "dev.json").read_text())[::3][:300]
    schemas = {}
    for record in records:
        name = record["db_id"]
        if name not in schemas:
            with Database.open(data_dir / "spider" / "database" / name / f"{name}.sqlite") as database:
                schemas[name] = database.schema()
        schema = schemas[name]
        used = find_used_schema_items(record["query"], schema)
        for dialect in ("postgres", "mysql", "duckdb", "spark", "snowflake", "bigquery", "trino", "clickhouse"):
            there = replace(schema, dialect=dialect)
            sql = translate_to_dialect(record["query"], dialect, schema)
            regular = regularize(sql, there)
            assert regularize(regular, there) == regular
            assert find_used_schema_items(regular, there) == used
            assert explain(read(sql, there)).endswith(".")
            assert vectorize_query(sql, dialect).any()
            assert make_sql_skeleton(sql, dialect).count("_") > 0
            errors = [f for f in check(sql, there) if f.severity == "error" and f.kind != "always_empty"]
            assert errors == [], (dialect, sql)
