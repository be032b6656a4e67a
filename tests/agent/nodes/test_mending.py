"""A misspelt name is put right without a request, unless a setting says no."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import pytest
from tableturn import SQLAgent
from tableturn.tools.database import Schema
from tableturn.tools.database.schema import ColumnSchema, TableSchema
from tableturn.tools.sql.mend import mend_enum_comparisons

from ...support.scripted import writes
from ...tools.database.servers import POSTGRES


def _shop(folder: Path) -> Path:
    path = folder / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(
            "CREATE TABLE customers(customer_id INTEGER PRIMARY KEY, city TEXT);"
            "INSERT INTO customers VALUES (1, 'Lyon'), (2, 'Bern')"
        )
    return path


def test_a_misspelt_name_costs_no_request(tmp_path: Path) -> None:
    model = writes("SELECT city FROM custmers ORDER BY city")
    with SQLAgent(_shop(tmp_path), model=model, settings={"examples": "none"}) as agent:
        answer = agent.ask("Which cities do the customers live in?")
    assert answer.sql == "SELECT city FROM customers ORDER BY city"
    assert [tuple(row) for row in answer.rows] == [("Bern",), ("Lyon",)]
    assert len(model.prompts) == 1
    assert any("custmers does not exist; read as customers" in note for note in answer.notes)


def test_it_can_be_switched_off(tmp_path: Path) -> None:
    model = writes("SELECT city FROM custmers", "SELECT city FROM customers")
    with SQLAgent(_shop(tmp_path), model=model, settings={"examples": "none", "mend_names": False}) as agent:
        agent.ask("Which cities do the customers live in?")
    assert len(model.prompts) == 2


@pytest.mark.parametrize("condition", ["\"segment\" = 'x'", "\"segment\" IN ('x', 'y')", '"segment" > 3'])
def test_a_double_quoted_name_that_no_column_has_goes_back(tmp_path: Path, condition: str) -> None:
    model = writes(f"SELECT * FROM customers WHERE {condition}", "SELECT city FROM customers")
    with SQLAgent(_shop(tmp_path), model=model, settings={"examples": "none"}) as agent:
        agent.ask("Which cities do the customers live in?")
    assert len(model.prompts) == 2
    assert "no such column: segment" in str(model.prompts[1])


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT "custmer_id" FROM customers',
        'SELECT DISTINCT upper("ctiy") FROM customers',
        'SELECT "ctiy", count(*) FROM customers GROUP BY "ctiy"',
        'SELECT city FROM customers ORDER BY "joined"',
        'SELECT sum("revenue") FROM customers',
        'SELECT count(DISTINCT "town") FROM customers',
        'SELECT max("ctiy") FROM customers',
        'SELECT city, row_number() OVER (PARTITION BY "country" ORDER BY city) FROM customers',
        "SELECT city FROM customers WHERE lower(\"ctiy\") = 'bern'",
        'SELECT a.city FROM customers a JOIN customers b ON a.customer_id = "custmer_id"',
        'WITH c AS (SELECT city FROM customers) SELECT "ctiy" FROM c',
        'SELECT city FROM customers UNION SELECT "ctiy" FROM customers',
        'SELECT "ctiy" FROM custmers',
        'SELECT "ctiy" AS town FROM customers',
        'SELECT "ctiy" AS town, customer_id FROM customers',
        'SELECT "customer_name" FROM customers',
        'SELECT city, "salary" FROM customers',
        'SELECT c.city, "monthly_wage" AS monthly_wage FROM customers c',
        'SELECT "loyalty" AS loyalty, count(*) FROM customers GROUP BY 1',
        'SELECT upper("ctiy") AS town FROM customers',
        "SELECT strftime('%Y', \"joined\") AS year, count(*) FROM customers GROUP BY year",
        'SELECT strftime("%Y", "joined") AS year FROM customers',
        'SELECT city FROM customers WHERE julianday("joined") > 3',
        'SELECT round("revenue", 2) AS revenue FROM customers',
        'SELECT CAST("revenue" AS REAL) AS revenue FROM customers',
        'SELECT city, "revenue" * 2 AS twice FROM customers',
        "SELECT sum(CASE WHEN city = 'Bern' THEN \"revenue\" ELSE 0 END) FROM customers",
        'WITH c AS (SELECT city, "custmer_id" AS id FROM customers) SELECT sum(id) FROM c',
        'SELECT avg(id * 2) FROM (SELECT city, "custmer_id" AS id FROM customers)',
        'SELECT "gender", count(*) FROM customers WHERE upper("gender") = \'F\'',
    ],
)
def test_a_name_that_sqlite_reads_as_a_text_goes_back(tmp_path: Path, sql: str) -> None:
    model = writes(sql, "SELECT city FROM customers")
    with SQLAgent(_shop(tmp_path), model=model, settings={"examples": "none"}) as agent:
        answer = agent.ask("Which cities do the customers live in?")
    assert answer.sql == "SELECT city FROM customers"
    assert "no such column: " in str(model.prompts[1])
    assert "as a text" not in answer.confidence_reason


def test_a_name_given_again_is_told_and_the_answer_is_not_sure(tmp_path: Path) -> None:
    sql = 'SELECT "ctiy" FROM customers'
    model = writes(*[f"```sql\n{sql}\n```\nSay: They live in {{ctiy}}.\nSure: 95"] * 2)
    with SQLAgent(_shop(tmp_path), model=model, settings={"examples": "none"}) as agent:
        answer = agent.ask("Which cities do the customers live in?")
    assert (len(model.prompts), answer.status, answer.sql) == (2, "converged", sql)
    assert [tuple(row) for row in answer.rows] == [("ctiy",), ("ctiy",)]
    assert answer.certainty == "unsure: “ctiy” is not a column: SQLite reads it as a text"
    assert "They live in" not in answer.text


@pytest.mark.parametrize("settings", [{"max_attempts": 1}, {"turn_calls": 1}])
def test_a_name_is_told_where_nothing_may_be_asked_again(tmp_path: Path, settings: dict[str, int]) -> None:
    model = writes('SELECT "ctiy" FROM customers')
    with SQLAgent(_shop(tmp_path), model=model, settings={"examples": "none", **settings}) as agent:
        answer = agent.ask("Which cities do the customers live in?")
    assert (len(model.prompts), len(answer.rows)) == (1, 2)
    assert answer.confidence_reason == "“ctiy” is not a column: SQLite reads it as a text"


def test_without_the_gate_what_sqlite_runs_is_run(tmp_path: Path) -> None:
    sql = 'SELECT "ctiy" FROM customers'
    model = writes(sql, sql)
    with SQLAgent(_shop(tmp_path), model=model, settings={"examples": "none", "gate": False}) as agent:
        answer = agent.ask("Which cities do the customers live in?")
    assert (answer.sql, len(answer.rows)) == (sql, 2)
    assert "no such column" not in str(model.prompts)
    assert "as a text" not in answer.confidence_reason


@pytest.mark.parametrize(
    "sql",
    [
        'SELECT customer_id FROM customers WHERE city = "Bern"',
        'SELECT customer_id FROM customers WHERE city IN ("Bern", "Paris")',
        'SELECT "Cities" AS label, count(*) FROM customers UNION ALL SELECT "Customers", count(*) FROM customers',
        'SELECT "Ctiy" AS label, count(*) FROM customers',
        'SELECT "All of them", count(*) FROM customers',
        'SELECT "Cities", count(DISTINCT city) FROM customers',
        'SELECT "city:", city FROM customers',
        'SELECT "Citys", count(*) FROM customers',
        'SELECT "Bern", count(*) FROM customers WHERE city = "Bern"',
        'SELECT city || "ctiy" FROM customers',
        'SELECT "customers", city AS place FROM customers',
        'SELECT "customer" AS kind, city FROM customers',
        'SELECT "ctiy", * FROM customers',
        'SELECT "citys" AS part, customer_id FROM customers UNION SELECT "others", customer_id FROM customers',
        'SELECT coalesce(city, "ctiy"), count("rows") FROM customers',
        'SELECT CASE WHEN customer_id = 1 THEN "Citys" ELSE "town" END FROM customers',
        'SELECT customer_id FROM customers WHERE lower(city) = lower("Citys")',
        'SELECT city AS "Citi" FROM customers ORDER BY "Citi"',
        'SELECT "customer_id", date("now", "localtime") FROM customers',
        'SELECT strftime("%Y", "now") - 2000 AS years, julianday("2024-12-31") - customer_id FROM customers',
        'SELECT EXISTS (SELECT "citys" FROM customers)',
        'SELECT count(CASE WHEN city = \'Bern\' THEN "citys" END), sum(nullif(city, "none")) FROM customers',
        'WITH c AS (SELECT "citys" AS kind, customer_id AS id FROM customers) SELECT kind, sum(id) FROM c',
        'SELECT "cities" AS kind, customer_id FROM customers',
        "SELECT \"yes\" FROM customers WHERE city = 'Bern'",
    ],
)
def test_a_text_in_double_quotes_stays(tmp_path: Path, sql: str) -> None:
    model = writes(sql)
    with SQLAgent(_shop(tmp_path), model=model, settings={"examples": "none"}) as agent:
        answer = agent.ask("Which customers live in Bern?")
    assert answer.sql == sql
    assert len(model.prompts) == 1


@pytest.mark.parametrize(
    ("condition", "mended", "text"),
    [
        ("m = 'terrible'", "m::text = 'terrible'", "No rows match: no row of surveys has 'terrible' in m."),
        ("s.m IN ('terrible')", "s.m::text IN ('terrible')", "No rows match: no row of surveys has 'terrible' in m."),
        ("m::mood = 'terrible'", "m::text = 'terrible'", "No rows match: no row of surveys has 'terrible' in m."),
        (
            "m = 'terrible' OR m = 'dire'::mood",
            "m::text = 'terrible' OR m::text = 'dire'::text",
            "No rows match: no row of surveys has 'terrible' in m and no row of surveys has 'dire' in m.",
        ),
    ],
)
def test_a_text_that_an_enumeration_lacks_is_absent(
    condition: str, mended: str, text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tableturn.agent.evidence.feedback.LOOKUP_SECONDS", 60.0)
    if POSTGRES.unavailable():
        pytest.skip(POSTGRES.unavailable())
    url = POSTGRES.make_database(f"tt_{uuid4().hex[:12]}")
    POSTGRES.run(url, "CREATE TYPE mood AS ENUM ('good', 'bad')")
    POSTGRES.run(url, "CREATE TABLE surveys (id int PRIMARY KEY, m mood)")
    POSTGRES.run(url, "INSERT INTO surveys VALUES (1, 'good'), (2, 'bad')")
    model = writes(f"SELECT id FROM surveys s WHERE {condition}")
    with SQLAgent(url, model=model, settings={"examples": "none"}) as agent:
        answer = agent.ask("Which surveys were terrible?")
    assert (answer.status, answer.sql) == ("converged", f"SELECT id FROM surveys s WHERE {mended}")
    assert answer.text == text
    assert len(model.prompts) == 1


@pytest.mark.parametrize(
    ("sql", "mended"),
    [
        ("WITH x AS (SELECT * FROM surveys) SELECT id FROM x WHERE m = 'dire'", "m::text = 'dire'"),
        ("WITH x AS (SELECT * FROM surveys) SELECT id FROM x WHERE m = 'dire' OR t = 'dire'", "OR t = 'dire'"),
        ("SELECT CASE m WHEN 'good' THEN 1 WHEN 'dire' THEN 2 END AS n FROM surveys", "CASE m::text WHEN"),
        (
            "SELECT count(*) FILTER (WHERE m IN ('good', 'dire')) FROM surveys WHERE 'dire' <> m",
            "m::text IN ('good', 'dire')",
        ),
        ("SELECT id FROM surveys WHERE m IS NOT DISTINCT FROM 'dire'", "m::text IS NOT DISTINCT FROM 'dire'"),
        ("SELECT id FROM surveys WHERE m = ANY(ARRAY['dire']::mood[])", "m::text = ANY(ARRAY['dire']::text[])"),
        ("SELECT id FROM surveys WHERE m = 'dire' AND m > 'good'::mood", "m::text = 'dire' AND m > 'good'::mood"),
    ],
)
def test_an_enumeration_is_compared_as_text_wherever_its_text_stands(sql: str, mended: str) -> None:
    column = ColumnSchema("m", "mood", "text")
    schema = Schema(
        "s", (TableSchema("surveys", (ColumnSchema("id", "integer", "number"), column)),), dialect="postgres"
    )
    query = mend_enum_comparisons(sql, 'invalid input value for enum mood: "dire"\nLINE 1: ...', schema)
    assert query is not None
    assert mended in query.sql


def test_a_value_that_an_enumeration_has_is_offered_for_a_misspelt_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tableturn.agent.evidence.feedback.LOOKUP_SECONDS", 60.0)
    if POSTGRES.unavailable():
        pytest.skip(POSTGRES.unavailable())
    url = POSTGRES.make_database(f"tt_{uuid4().hex[:12]}")
    POSTGRES.run(url, "CREATE TYPE mood AS ENUM ('splendid', 'bad')")
    POSTGRES.run(url, "CREATE TABLE surveys (id int PRIMARY KEY, m mood)")
    POSTGRES.run(url, "INSERT INTO surveys VALUES (1, 'splendid'), (2, 'bad')")
    model = writes("SELECT id FROM surveys WHERE m = 'splended'", "SELECT id FROM surveys WHERE m = 'splendid'")
    with SQLAgent(url, model=model, settings={"examples": "none"}) as agent:
        answer = agent.ask("Which surveys were splendid?")
    assert [tuple(row) for row in answer.rows] == [(1,)]
    assert "splendid" in str(model.prompts[1])
