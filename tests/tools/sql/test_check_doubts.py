"""Queries that run, and of which it can be proved that they find nothing."""

from contextlib import closing
from dataclasses import replace

import pytest
from tableturn.tools.database.schema import ColumnKind, ColumnSchema, TableSchema
from tableturn.tools.sql import check

from .shop import ROWS, SHOP, connect

_COLUMNS = {table.name: [column.name for column in table.columns] for table in SHOP.tables}


class Held:
    """What the shop's columns hold."""

    def _values(self, table: str, column: str) -> list[str]:
        index = _COLUMNS[table].index(column)
        return [str(row[index]) for row in ROWS[table] if row[index] is not None]

    def holds(self, table: str, column: str, text: str) -> bool:
        return text in self._values(table, column)

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        alike = [value for value in dict.fromkeys(self._values(table, column)) if value[:2].lower() == text[:2].lower()]
        return tuple(alike[:limit])


def _found(sql: str) -> list[tuple[str, str, str]]:
    return [(finding.kind, finding.severity, finding.suggestion) for finding in check(sql, SHOP, values=Held())]


@pytest.mark.parametrize(
    ("sql", "kind", "severity", "suggestion"),
    [
        ("SELECT name FROM customer WHERE country = 'france'", "unknown_value", "warning", "use 'France'"),
        ('SELECT name FROM customer WHERE country IN ("Franc")', "unknown_value", "warning", "use 'France'"),
        ("SELECT c.name FROM orders o JOIN customer c ON c.country = 'FR'", "unknown_value", "warning", "use 'France'"),
        ("SELECT name FROM customer WHERE country = NULL", "always_empty", "error", "write country IS NULL"),
        ("SELECT name FROM customer WHERE country <> NULL", "always_empty", "error", "write country IS NOT NULL"),
        ("SELECT name FROM product WHERE price BETWEEN 9 AND 2", "always_empty", "error", ""),
        ("SELECT id FROM orders WHERE placed BETWEEN '2024-03-31' AND '2024-01-01'", "always_empty", "error", ""),
        (
            "SELECT name FROM customer WHERE name = 'Ann' AND name = 'Cy'",
            "always_empty",
            "error",
            "use OR or IN for either, or INTERSECT for both",
        ),
    ],
)
def test_what_finds_nothing(sql: str, kind: str, severity: str, suggestion: str) -> None:
    assert _found(sql) == [(kind, severity, suggestion)]


@pytest.mark.parametrize(
    "sql", ["SELECT id FROM orders WHERE total = 'dear'", "SELECT 1 FROM orders WHERE total IN ('dear')"]
)
def test_a_column_of_numbers_holds_no_word(sql: str) -> None:
    held = replace(
        SHOP,
        tables=tuple(
            replace(table, columns=tuple(replace(column, samples=(3.5, 20)) for column in table.columns))
            for table in SHOP.tables
        ),
    )
    (finding,) = check(sql, held, values=Held())
    assert (finding.kind, finding.proof) == ("type_mismatch", True)
    assert finding.message == "No row of orders has 'dear' in total, which holds numbers."
    assert check(sql, SHOP, values=Held()) == (), "what a column is declared to hold proves nothing"
    assert check(sql.replace("dear", ""), held, values=Held()) == ()


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name FROM customer WHERE country IN ('France', 'Frances')",
        "SELECT name FROM customer WHERE country = 'Singapore'",
        "SELECT name FROM customer WHERE country <> 'Franc'",
        "SELECT name FROM customer WHERE country = 'France' OR country = 'Franc'",
        "SELECT name FROM customer WHERE country = ''",
        "SELECT name FROM customer WHERE country = 'France' OR country = 'USA'",
        "SELECT name FROM customer WHERE name = 'Ann' AND EXISTS (SELECT 1 FROM customer WHERE name = 'Cy')",
        "SELECT name FROM product WHERE price BETWEEN '9' AND '10'",
        "SELECT name FROM product WHERE price > '1.5'",
        "SELECT name FROM customer WHERE name LIKE 'z%'",
        "SELECT name FROM product WHERE 1 = 0",
        "SELECT name FROM product LIMIT 0",
        "SELECT customer.name FROM customer, orders",
        "SELECT c.name, (SELECT count(*) FROM orders o WHERE o.customer_id = c.id) FROM customer c",
        "SELECT sum(o.total) FROM orders o JOIN item i ON i.order_id = o.id",
    ],
)
def test_what_may_be_meant_is_not_remarked_on(sql: str) -> None:
    assert _found(sql) == []


@pytest.mark.parametrize("join", ["RIGHT", "FULL"])
def test_a_join_that_an_outer_join_follows_empties_nothing(join: str) -> None:
    joined = "SELECT p.name FROM customer AS c JOIN orders AS o ON o.customer_id = c.id AND o.placed = NULL"
    assert [kind for kind, *_ in _found(joined.replace("p.name", "c.name"))] == ["always_empty"]
    assert _found(f"{joined} {join} JOIN product AS p ON p.id = o.id") == []
    within = "SELECT p.name FROM product AS p LEFT JOIN (customer AS c JOIN orders AS o ON o.customer_id = c.id AND {})"
    assert _found(f"{within.format('o.placed = NULL')} ON p.id = o.id") == []
    before = f"SELECT p.name FROM customer AS c {join} JOIN product AS p ON p.id = c.id"
    after = f"{before} JOIN orders AS o ON o.customer_id = p.id AND o.placed = NULL"
    assert [kind for kind, *_ in _found(after)] == ["always_empty"], "what comes after it is required"


EMPTY = "SELECT id FROM orders WHERE placed = NULL"


@pytest.mark.parametrize(
    ("rest", "is_empty"),
    [
        (f"JOIN ({EMPTY}) AS q ON q.id = c.id", True),
        (f"LEFT JOIN ({EMPTY}) AS q ON q.id = c.id", False),
        (f"LEFT JOIN (orders AS o JOIN ({EMPTY}) AS q ON q.id = o.id) ON o.id = c.id", False),
        (f"JOIN (orders AS o JOIN ({EMPTY}) AS q ON q.id = o.id) ON o.id = c.id", True),
        ("JOIN ((orders AS o JOIN item AS i ON i.order_id = o.id AND o.placed = NULL)) ON o.id = c.id", True),
        (f"JOIN (SELECT count(*) AS n FROM ({EMPTY})) AS q", False),
        ("JOIN (SELECT id, count(*) AS n FROM orders WHERE placed = NULL GROUP BY id) AS q", True),
        (f"WHERE EXISTS ({EMPTY})", True),
        (f"WHERE NOT EXISTS ({EMPTY})", False),
        (f"WHERE c.id IN ({EMPTY})", True),
        (f"WHERE c.id NOT IN ({EMPTY})", False),
        (f"WHERE c.id IN (1, ({EMPTY}))", False),
        (f"WHERE c.id = ({EMPTY})", True),
        (f"WHERE ({EMPTY}) IS NULL", False),
        ("WHERE (SELECT count(*) FROM orders WHERE placed = NULL) = 0", False),
        (f"WHERE EXISTS (SELECT max(id) FROM ({EMPTY}))", False),
        (f"WHERE EXISTS (SELECT (SELECT sum(q.id)) FROM ({EMPTY}) AS q)", False),
        (f"WHERE EXISTS (SELECT (SELECT sum(o.id) FROM orders AS o) FROM ({EMPTY}) AS q)", True),
        (f"UNION {EMPTY}", False),
        (f"INTERSECT {EMPTY}", True),
        (f"EXCEPT {EMPTY}", False),
        (f"GROUP BY c.id HAVING c.id > ({EMPTY})", True),
    ],
)
def test_only_a_query_without_rows_is_called_empty(rest: str, is_empty: bool) -> None:
    sql = f"SELECT c.id FROM customer AS c {rest}"
    assert [kind for kind, *_ in _found(sql)] == ["always_empty" if is_empty else "never_holds"]
    with closing(connect()) as connection:
        assert bool(connection.execute(sql).fetchall()) != is_empty
        through = f"WITH q AS ({EMPTY}) SELECT c.id FROM customer AS c {rest.replace(EMPTY, 'SELECT id FROM q')}"
        assert bool(connection.execute(through).fetchall()) != is_empty
    if EMPTY in rest:
        assert [kind for kind, *_ in _found(through)] == ["always_empty" if is_empty else "never_holds"]


@pytest.mark.parametrize("group", ["()", "(), ()", "ROLLUP (id)", "GROUPING SETS ((), (id))"])
def test_an_empty_grouping_set_gives_a_row_of_nothing(group: str) -> None:
    sql = f"SELECT count(*) FROM customer WHERE country = NULL GROUP BY {group}"
    for dialect in ("postgres", "duckdb"):
        found = check(sql, replace(SHOP, dialect=dialect))
        assert [finding.kind for finding in found] == ["never_holds"]


@pytest.mark.parametrize(
    ("condition", "contradicts"),
    [
        ("note BETWEEN 10 AND 9", False),
        ("id >= 9007199254740992 AND id < 9007199254740993", False),
        ("id >= 1234567890123456768 AND id < 1234567890123456799", False),
        ("total = 0.1 AND total = 0.10000000149", False),
        ("total >= 5 AND total < 5", True),
        ("id BETWEEN '2024-02-01' AND '2024-01-01'", False),
        ("strftime('%Y', placed) BETWEEN '2024-02-01' AND '2024-01-01'", False),
        ("note > 10 AND note < 9", False),
        ("id = '5' AND id = '5.0'", False),
        ("id = '5' AND id = '6'", True),
        ("placed = '2020-1-5' AND placed = '2020-01-05'", False),
        ("placed = '2020-01-06' AND placed = '2020-01-05'", True),
        ("note = 'De ' AND note = 'de'", False),
        ("note = 'De ' AND note = 'da'", True),
        ("note = 'ol' AND note = 'øl'", False),
        ("total = 'NaN' AND total = 'NaN'", False),
        ("id = '1' AND id = '1.4'", False),
        ("placed > 10 AND placed < 9", False),
        ("placed BETWEEN 10 AND 9", False),
        ("(SELECT note) BETWEEN 10 AND 9", False),
        ("note COLLATE nocase BETWEEN 10 AND 9", False),
        ("id + 1 BETWEEN 10 AND 9", True),
        ("placed BETWEEN '2020-01-06' AND '2020-01-05'", True),
        ("placed BETWEEN '2024-01-02 00:30+05' AND '2024-01-01 23:00+00'", False),
        ("placed >= '2024-01-02T00:30:00+05' AND placed <= '2024-01-01T23:00:00Z'", False),
    ],
)
def test_two_spellings_of_one_value_contradict_nothing(condition: str, contradicts: bool) -> None:
    found = check(f"SELECT id FROM orders WHERE {condition}", SHOP)
    assert [finding.kind for finding in found] == ["always_empty"] * contradicts


@pytest.mark.parametrize(
    ("type_", "condition"),
    [
        ("inet", "x = '10.0.0.1' AND x = '10.0.0.1/32'"),
        ("jsonb", """x = '{"a":1}' AND x = '{"a":1.0}'"""),
        ("int4range", "x = '[1,2]' AND x = '[1,3)'"),
        ("STRING", "x = '007' AND x = '7'"),
        ("year", "x = 24 AND x = 2024"),
        ("year(4)", "x = 24 AND x = 2024"),
        ("year(4)", "x = '24' AND x = '2024'"),
        ("text_day", "x BETWEEN '2024-02-01' AND '2024-01-01'"),
        ("text[]", "x = '{a}' AND x = '[1:1]={a}'"),
        ("STRUCT(k VARCHAR, j VARCHAR)", "x = '(x, y)' AND x = '{k: x, j: y}'"),
        ("text", "x = 'c' AND x = 'ch'"),
        ("mood", "x BETWEEN '2024-02-01' AND '2024-01-01'"),
        ('"char"', "x = 'ab' AND x = 'ac'"),
        ("text", "x = 'jul' AND x = 'iul'"),
        ("text", "x = 'a1' AND x = 'a01'"),
        ("double", "x = '9007199254740993' AND x = '9007199254740992'"),
        ("decimal(40,25)", "x >= 0.1 AND x < 0.10000000000000000001"),
        ("timestamp", "x BETWEEN '2024-01-05' AND '2024-01-04 24:00'"),
        ("timestamp", "x = '2024-01-05' AND x = '2024-01-04 23:59:59.9999999'"),
        ("year", "x BETWEEN 98 AND 3"),
        ("year", "x > 98 AND x < 3"),
        ("time", "x BETWEEN '2024-02-01 08:00' AND '2024-01-01 17:00'"),
        ("time", "x = '2024-01-01 10:00' AND x = '2024-01-02 10:00'"),
    ],
)
def test_values_of_other_types_are_not_told_apart_by_their_spelling(type_: str, condition: str) -> None:
    kinds: dict[str, ColumnKind] = {
        "year": "number",
        "doub": "number",
        "deci": "number",
        "time": "time",
        "date": "time",
    }
    column = ColumnSchema("x", type_, kinds.get(type_[:4], "text"))
    schema = replace(SHOP, tables=(TableSchema("t", (column,)),))
    assert check(f"SELECT x FROM t WHERE {condition}", schema) == ()


def test_days_of_no_calendar_are_told_and_not_taken_for_bounds() -> None:
    schema = replace(SHOP, tables=(TableSchema("t", (ColumnSchema("x", "date", "time"),)),))
    (found,) = check("SELECT x FROM t WHERE x >= '2024-13-01' AND x <= '2024-02-15'", schema)
    assert (found.kind, found.severity, found.message) == ("never_holds", "info", "2024-13-01 is not a date.")


@pytest.mark.parametrize("type_", ["ENUM", "enum('done','left')", "varchar(20)", "character varying(9)", "TEXT"])
def test_texts_of_one_column_are_told_apart(type_: str) -> None:
    schema = replace(SHOP, tables=(TableSchema("t", (ColumnSchema("x", type_, "text"),)),))
    assert [finding.kind for finding in check("SELECT x FROM t WHERE x = 'done' AND x = 'left'", schema)] == [
        "always_empty"
    ]


@pytest.mark.parametrize("value", ["DATE_ADD(placed, INTERVAL 1 DAY)", "LAST_DAY(placed)", "placed + INTERVAL 1 DAY"])
def test_mysql_reads_numbers_beside_dates_as_dates(value: str) -> None:
    schema = replace(SHOP, dialect="mysql")
    assert check(f"SELECT id FROM orders WHERE {value} BETWEEN 991231 AND 240101", schema) == ()


def test_a_join_in_two_parentheses_is_read() -> None:
    sql = "SELECT c.name FROM ((customer AS c JOIN orders AS o ON o.customer_id = c.id) JOIN item AS i ON {})"
    assert _found(sql.format("i.order_id = o.id")) == []
    assert [kind for kind, *_ in _found(sql.format("o.placed = NULL"))] == ["always_empty"]
    assert _found("SELECT name, total FROM (((customer)) JOIN ((SELECT total FROM orders) AS o))") == []


def test_errors_come_first_and_nothing_comes_twice() -> None:
    sql = "SELECT 1 FROM customer WHERE country = 'Franc' AND country = 'Franc' AND name = NULL"
    findings = check(sql, SHOP, values=Held())
    assert [finding.severity for finding in findings] == ["error", "warning"]
