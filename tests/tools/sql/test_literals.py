"""What a query looks for, and whether the database has it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tableturn.tools.sql import find_searched_literals, is_write_statement

from tests.support.queries import read

from .shop import ROWS, SHOP


class Rows:
    """Contents of the shop's customers: only their countries and names."""

    def holds(self, table: str, column: str, text: str) -> bool:
        place = {"name": 1, "country": 2, "birth year": 3}[column]
        return table == "customer" and any(str(row[place]) == text for row in ROWS["customer"])

    def matches(self, table: str, column: str, pattern: str, *, any_case: bool = False) -> bool:
        return self.holds(table, column, pattern.strip("%"))

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        return ()


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("country = 'USA'", {("country", "usa", True)}),
        ('T1.country = "America"', {("country", "america", False)}),
        ("'Ann' = name", {("name", "ann", True)}),
        ("country IN ('France', 'Gaul')", {("country", "france", True), ("country", "gaul", False)}),
        ("country LIKE '%USA%'", {("country", "usa", True)}),
        ('"birth year" = 1980', {("birth year", "1980", True)}),
        ('"birth year" > 1980', set[tuple[str, str, bool]]()),
        ("id IN (SELECT id FROM customer WHERE country != 'Gaul')", {("country", "gaul", False)}),
        ("upper(country) = 'USA'", set[tuple[str, str, bool]]()),
    ],
)
def test_searched_literals(condition: str, found: set[tuple[str, str, bool]]) -> None:
    texts = find_searched_literals(read(f"SELECT id FROM customer AS T1 WHERE {condition}", SHOP), Rows())
    assert {(text.column, text.text, text.held) for text in texts} == found


@pytest.mark.parametrize(
    ("condition", "missing"),
    [
        ("country = 'Gaul'", {"gaul"}),
        ("country LIKE '%Gaul%'", {"gaul"}),
        ("country IN ('Gaul', 'Rome')", {"gaul", "rome"}),
        ("country IN ('France', 'Gaul')", set[str]()),
        ("country != 'Gaul'", set[str]()),
        ("country NOT IN ('Gaul')", set[str]()),
        ("NOT country LIKE 'Gaul%'", set[str]()),
        ("country = ''", set[str]()),
    ],
)
def test_a_literal_is_missing_if_rows_with_it_are_wanted(condition: str, missing: set[str]) -> None:
    texts = find_searched_literals(read(f"SELECT id FROM customer WHERE {condition}", SHOP), Rows())
    assert {text.text for text in texts if text.missing} == missing


class NearRows(Rows):
    """The same, with one value that is like any text."""

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        return ("France",)


FRENCH = "SELECT id FROM customer WHERE country = 'Gaul'"


@pytest.mark.parametrize(
    "rest",
    [
        "WHERE country = 'Gaul'",
        "WHERE name = 'Ann' AND (country IN ('Gaul'))",
        f"WHERE id IN ({FRENCH})",
        f"WHERE EXISTS ({FRENCH} AND id = c.id)",
        f"WHERE id = ({FRENCH})",
        "JOIN customer AS d ON d.id = c.id AND d.country = 'Gaul'",
        "GROUP BY country HAVING country = 'Gaul'",
        f"JOIN ({FRENCH}) AS d ON d.id = c.id",
    ],
)
def test_a_literal_is_absent_where_nothing_comes_out_without_it(rest: str) -> None:
    asked: list[str] = []
    query = read(f"SELECT c.id FROM customer AS c {rest}", SHOP)
    found = find_searched_literals(query, NearRows(), lambda sql: bool(asked.append(sql)), is_empty=True)
    assert {text.near for text in found if text.absent and text.needed} == {"France"}
    assert all(sql.startswith("SELECT 1 FROM customer") and sql.endswith(" LIMIT 1") for sql in asked)
    assert len(asked) == 1
    unknown = find_searched_literals(query, NearRows(), is_empty=True)
    kept = [*unknown, *find_searched_literals(query, NearRows(), lambda sql: True, is_empty=True)]
    assert not any(text.absent or text.near for text in kept), "of what the engine does not say nothing is said"


@pytest.mark.parametrize(
    "rest",
    [
        "WHERE country = 'Gaul' OR id < 0",
        f"WHERE id NOT IN ({FRENCH})",
        f"WHERE NOT EXISTS ({FRENCH})",
        f"WHERE id > 9 OR id IN ({FRENCH})",
        "WHERE (SELECT count(*) FROM customer WHERE country = 'Gaul') = 0",
        "LEFT JOIN customer AS d ON d.id = c.id AND d.country = 'Gaul'",
        f"LEFT JOIN ({FRENCH}) AS d ON d.id = c.id",
        f"EXCEPT {FRENCH}",
        f"UNION {FRENCH}",
        "JOIN (SELECT (SELECT max(id) FROM customer WHERE country = 'Gaul') AS id) AS d ON d.id = c.id",
        "ORDER BY country = 'Gaul'",
    ],
)
def test_a_literal_proves_nothing_where_rows_come_without_it(rest: str) -> None:
    query = read(f"SELECT c.id FROM customer AS c {rest}", SHOP)
    found = find_searched_literals(query, NearRows(), lambda sql: False, is_empty=True)
    assert [(text.near, text.needed) for text in found] == [("France", False)], "it is told, and proves nothing"


@pytest.mark.parametrize(
    ("condition", "absent"),
    [
        ("country <> 'Frence'", {"frence": "France"}),
        ("country NOT IN ('USA', 'Frence')", {"frence": "France"}),
        ("country IN ('USA', 'Gaul')", {"gaul": "France"}),
        ("country IN ('France', 'Frence')", dict[str, str]()),
        ("country = 'France' OR country = 'Frence'", dict[str, str]()),
        ("country NOT IN ('USA', 'France')", dict[str, str]()),
        ("country <> ''", dict[str, str]()),
    ],
)
def test_an_absent_literal_is_told_beside_rows_unless_the_value_like_it_is_asked_for(
    condition: str, absent: dict[str, str]
) -> None:
    asked: list[str] = []
    query = read(f"SELECT c.id FROM customer AS c WHERE {condition}", SHOP)
    found = find_searched_literals(query, NearRows(), lambda sql: bool(asked.append(sql)))
    assert {text.text: text.near for text in found if text.absent} == absent
    assert not any(text.needed for text in found)
    assert all(sql.endswith(("country = 'Frence' LIMIT 1", "country = 'Gaul' LIMIT 1")) for sql in asked)


@pytest.mark.parametrize(
    ("condition", "asked"),
    [
        ("lower(country) = 'frence'", "LOWER(country) = 'frence'"),
        ("lower(country) <> 'frence'", "LOWER(country) = 'frence'"),
        ("'FRENCE' = upper(trim(country))", "UPPER(TRIM(country)) = 'FRENCE'"),
        ("upper(country) = upper('Frence')", "UPPER(country) = UPPER('Frence')"),
        ("country COLLATE NOCASE = 'frence'", "country COLLATE NOCASE = 'frence'"),
        ("lower(country) NOT IN ('frence')", "LOWER(country) = 'frence'"),
        ("lower(country) LIKE '%frence%'", "LOWER(country) LIKE '%frence%'"),
        ("country NOT LIKE '%Frence%'", "country LIKE '%Frence%'"),
    ],
)
def test_the_engine_says_what_a_column_holds_in_another_case(condition: str, asked: str) -> None:
    query, searches = read(f"SELECT id FROM customer WHERE {condition}", SHOP), list[str]()
    found = find_searched_literals(query, NearRows(), lambda sql: bool(searches.append(sql)))
    assert [(text.absent, text.near) for text in found] == [(True, "France")]
    assert {*searches} == {f"SELECT 1 FROM customer WHERE {asked} LIMIT 1"}
    held = find_searched_literals(query, NearRows(), lambda sql: True)
    assert not any(text.absent or text.missing for text in held)


@pytest.mark.parametrize(
    ("condition", "dialect"),
    [
        ("coalesce(country, 'none') = 'Frence'", "sqlite"),
        ("ifnull(lower(country), '') = 'frence'", "sqlite"),
        ("cast(country AS text) = 'Frence'", "sqlite"),
        ("country IS 'Frence'", "sqlite"),
        ("(country, name) = ('Frence', 'Ann')", "sqlite"),
        ("(name, country) IN (('Ann', 'Frence'), ('Ann', 'Gaul'))", "sqlite"),
        ("country IN ('Frence', 'Gaul')", "sqlite"),
        ("country = 'Frence' OR country = 'Gaul'", "sqlite"),
        ("name = 'Ann' AND (country = 'Frence' OR lower(country) = 'gaul' OR country LIKE 'Gaul%')", "sqlite"),
        ("country::text = 'Frence'", "postgres"),
        ("country = 'Frence'::text", "postgres"),
        ("country = ANY(ARRAY['Frence', 'Gaul'])", "postgres"),
        ("country IS NOT DISTINCT FROM 'Frence'", "postgres"),
        ("country = $$Frence$$", "postgres"),
        ("country <=> 'Frence'", "mysql"),
    ],
)
def test_other_ways_to_write_equals_prove_as_much(condition: str, dialect: str) -> None:
    query = read(f"SELECT id FROM customer WHERE {condition}", replace(SHOP, dialect=dialect))
    found = find_searched_literals(query, NearRows(), lambda sql: "name" in sql, is_empty=True)
    absent = [text for text in found if text.column == "country"]
    assert absent
    assert all(text.needed and text.near == "France" and text.absent for text in absent)
    there = find_searched_literals(query, NearRows(), lambda sql: True, is_empty=True)
    assert not any(text.absent or text.needed for text in there)


@pytest.mark.parametrize(
    ("condition", "dialect"),
    [
        ("country = 'Frence' OR name = 'Gaul'", "sqlite"),
        ("country = 'Frence' OR \"birth year\" IN (1, 2)", "sqlite"),
        ("NOT (country = 'Frence' OR country = 'Gaul')", "sqlite"),
        ("(country, name) <> ('Frence', 'Ann')", "sqlite"),
        ("country IS NOT 'Frence'", "sqlite"),
        ("country IS DISTINCT FROM 'Frence'", "postgres"),
    ],
)
def test_what_other_rows_may_meet_proves_nothing(condition: str, dialect: str) -> None:
    query = read(f"SELECT id FROM customer WHERE {condition}", replace(SHOP, dialect=dialect))
    found = find_searched_literals(query, NearRows(), lambda sql: False, is_empty=True)
    assert found
    assert not any(text.needed for text in found)


@pytest.mark.parametrize("condition", ["lower(country) = 'France'", "'France' <> lower(country)"])
def test_a_stored_spelling_is_absent_from_a_column_in_another_case(condition: str) -> None:
    query = read(f"SELECT id FROM customer WHERE {condition}", SHOP)
    found = find_searched_literals(query, NearRows(), lambda sql: False)
    assert [(each.absent, each.describe_condition("country")) for each in found] == [
        (True, "'France' in LOWER(country) (it has 'France')")
    ]


class Spellings(Rows):
    """The same, with a value in two spellings that is like any text."""

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        return ("France", "FRANCE ")[:limit]


@pytest.mark.parametrize(
    ("condition", "near"),
    [
        ("lower(country) = 'frence'", "France"),
        ("country ILIKE 'frence'", "France"),
        ("country = 'frence'", ""),
        ("coalesce(country, '') = 'frence'", ""),
    ],
)
def test_spellings_that_do_not_count_are_one_near_value(condition: str, near: str) -> None:
    query = read(f"SELECT id FROM customer WHERE {condition}", SHOP)
    found = find_searched_literals(query, Spellings(), lambda sql: False, is_empty=True)
    assert [(text.near, text.needed) for text in found] == [(near, True)]


class CountedRows(NearRows):
    """The same, with the texts that were looked up."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def holds(self, table: str, column: str, text: str) -> bool:
        self.asked.append(text)
        return super().holds(table, column, text)


GAULS = tuple(f"Gaul {number}" for number in range(3_000))


@pytest.mark.parametrize("condition", [f"country IN {(*GAULS, 'France')}", f"name = 'Ann' OR country IN {GAULS}"])
def test_of_a_long_list_only_the_first_members_are_looked_up(condition: str) -> None:
    contents, asked = CountedRows(), list[str]()
    query = read(f"SELECT id FROM customer WHERE {condition}", SHOP)
    found = find_searched_literals(query, contents, lambda sql: bool(asked.append(sql)))
    assert len(contents.asked) == len(found) == 100
    assert asked == []
    assert not any(text.missing for text in found), "a row may have one of the others"


@pytest.mark.parametrize(("length", "told"), [(10, 9), (11, 0)])
def test_absent_members_are_told_of_short_lists(length: int, told: int) -> None:
    asked: list[str] = []
    query = read(f"SELECT id FROM customer WHERE country IN {('France', *GAULS[1:length])}", SHOP)
    found = find_searched_literals(query, Rows(), lambda sql: bool(asked.append(sql)))
    assert sum(text.absent for text in found) == len(asked) == told


def test_a_long_list_of_which_the_engine_has_none_is_told() -> None:
    asked: list[str] = []
    query = read(f"SELECT id FROM customer WHERE country IN {GAULS}", SHOP)
    found = find_searched_literals(query, Rows(), lambda sql: bool(asked.append(sql)), is_empty=True)
    assert len(asked) == 1
    assert all(text.absent and text.needed and text.missing for text in found)


@pytest.mark.parametrize(
    ("inner", "needed"),
    [
        ("SELECT id {}", True),
        ("SELECT max(id) {}", True),
        ("SELECT max(n) FROM (SELECT id AS n {})", True),
        ("SELECT count(*) {}", False),
        ("SELECT coalesce(max(id), 0) {}", False),
        ("SELECT total(id) + 1 {}", False),
        ("SELECT max(n) FROM (SELECT count(*) AS n {})", False),
    ],
)
def test_only_what_is_null_of_nothing_is_equal_to_nothing(inner: str, *, needed: bool) -> None:
    sql = f"SELECT id FROM orders WHERE id = ({inner})".format("FROM customer WHERE country = 'Franc'")
    found = find_searched_literals(read(sql, SHOP), NearRows(), lambda sql: False, is_empty=True)
    assert [text.needed for text in found] == [needed]


def test_a_literal_of_a_cte_is_absent_where_the_cte_is() -> None:
    for use, needed in (("JOIN f ON f.id = c.id", True), ("WHERE id NOT IN (SELECT id FROM f)", False)):
        sql = f"WITH f AS ({FRENCH}) SELECT c.id FROM customer AS c {use}"
        found = find_searched_literals(read(sql, SHOP), NearRows(), lambda sql: False, is_empty=True)
        assert [text.needed for text in found] == [needed]
    again = f"WITH RECURSIVE f AS ({FRENCH} UNION ALL SELECT id FROM f) SELECT id FROM f"
    found = find_searched_literals(read(again, SHOP), NearRows(), lambda sql: False, is_empty=True)
    assert not any(text.needed for text in found)


CHANGING = (
    "TRUNCATE TABLE t",
    "MERGE INTO t USING u ON t.a = u.a WHEN MATCHED THEN DELETE",
    "GRANT SELECT ON t TO ada",
    "REVOKE ALL ON t FROM ada",
    "CALL tidy(1)",
    "VACUUM FULL t",
    "REINDEX TABLE t",
    "ANALYZE t",
    "COPY t FROM '/tmp/t.csv'",
    "DO $$ BEGIN DELETE FROM t; END $$",
    "REFRESH MATERIALIZED VIEW t",
    "LOCK TABLE t",
    "COMMENT ON TABLE t IS 'x'",
    "SET ROLE admin",
    "RENAME TABLE t TO u",
    "INSTALL httpfs",
    "EXPORT DATABASE '/tmp/t'",
)


@pytest.mark.parametrize(
    ("sql", "changes"),
    [
        ("DELETE FROM t", True),
        ("WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone", True),
        ("SELECT replace(a, 'x', 'y') FROM t", False),
        ("SELECT 'DELETE FROM t'", False),
        ("PRAGMA table_info(t)", False),
        ("SELECT FROM (", False),
        ("SELECT a INTO OUTFILE '/tmp/a' FROM t", True),
        ("EXPLAIN ANALYZE DELETE FROM t", True),
        ("SELECT a INTO kept FROM t", True),
        ("SELECT nextval('s')", True),
        ("SELECT setval('s', 5)", True),
        ("PRAGMA user_version = 5", True),
        ("SELECT comment, call, lock FROM t", False),
        *((sql, True) for sql in CHANGING),
    ],
)
def test_statements_that_change_something_are_known(sql: str, *, changes: bool) -> None:
    assert is_write_statement(sql, "duckdb") is changes
