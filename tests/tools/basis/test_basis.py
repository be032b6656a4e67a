"""What a query says of itself: filters and their words, dates, grain, duplicates, missing values, cuts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from tableturn.tools.basis import Basis, NewestDateCache, build_query_basis
from tableturn.tools.database import Database, Limits, Schema, Table
from tableturn.tools.sample import build_sample

from tests.support.queries import read


@pytest.fixture(scope="module")
def kestrel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    with Database.open(build_sample(tmp_path_factory.mktemp("sample") / "kestrel.sqlite")) as database:
        yield database


@pytest.fixture(scope="module")
def schema(kestrel: Database) -> Schema:
    return kestrel.schema()


@pytest.mark.parametrize(
    ("sql", "grain", "duplicates"),
    [
        ('SELECT quantity FROM "order lines"', "one row per row of order lines", "kept"),
        ("SELECT order_id, status FROM orders", "one row per row of orders", "none"),
        ("SELECT DISTINCT city FROM customers", "one row per different value", "removed"),
        ("SELECT DISTINCT city, country_code FROM customers", "each row once", "removed"),
        ("SELECT COUNT(*) FROM customers", "a single row", "none"),
        ("SELECT s.name, COUNT(*) FROM stores s GROUP BY s.store_id", "one row per row of stores", "kept"),
        ("SELECT city, name, COUNT(*) FROM stores GROUP BY 1, 2", "one row per city and name", "none"),
        ("SELECT store_id FROM stores FULL JOIN orders USING (store_id) GROUP BY 1", "one row per store id", "none"),
        ("SELECT store_id FROM stores RIGHT JOIN orders USING (store_id) GROUP BY 1",
         "one row per store id of orders", "none"),
        ("SELECT o.order_id, c.city FROM orders o JOIN customers c USING (customer_id)",
         "one row per row of orders", "none"),
        ("SELECT label, price FROM tags JOIN products ON price > 5",
         "one row per pairing of rows of tags and products", "kept"),
        ("SELECT city FROM customers UNION SELECT city FROM stores", "", "removed"),
        ("SELECT city FROM customers UNION ALL SELECT city FROM stores", "", "kept"),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM orders)", "", "kept"),
        ("SELECT o.order_id FROM customers LEFT JOIN orders o USING (customer_id)", "", "kept"),
        ("SELECT o.order_id FROM orders o LEFT JOIN customers USING (customer_id)",
         "one row per row of orders", "none"),
        ("SELECT COUNT(*) FROM customers LEFT JOIN orders o USING (customer_id) GROUP BY o.order_id",
         "one row per order id of orders", "kept"),
        # The ON of a LEFT JOIN does not say of every row that it is of one customer.
        ("SELECT s.store_id FROM stores s JOIN customers c ON c.city = s.city"
         " LEFT JOIN orders o ON o.order_id = 1 AND c.customer_id = 1", "", "kept"),
        ("SELECT s.store_id FROM stores s JOIN customers c ON c.city = s.city AND c.customer_id = 1"
         " LEFT JOIN orders o ON o.order_id = 1", "one row per row of stores", "none"),
        ("SELECT c.* FROM orders JOIN customers c USING (customer_id)", "one row per row of orders", "kept"),
        ("SELECT o.* FROM orders o JOIN customers c USING (customer_id)", "one row per row of orders", "none"),
        # USING takes a source that has the column, here not the first.
        ("SELECT s.name FROM stores s JOIN orders o ON o.store_id = s.store_id JOIN orders p USING (order_id)",
         "one row per row of orders", "kept"),
        ("SELECT order_id FROM orders, json_each('[1, 2]')", "", "kept"),
        ("SELECT RANK() OVER (ORDER BY SUM(order_id)) FROM orders", "", "kept"),
    ],
)  # fmt: skip
def test_grain(schema: Schema, sql: str, grain: str, duplicates: str) -> None:
    basis = build_query_basis(read(sql, schema), "")
    assert (basis.grain, basis.duplicates) == (grain, duplicates)


@pytest.mark.parametrize(
    ("condition", "question", "words"),
    [
        ("status = 'cancelled'", "How many were cancelled?", "cancelled"),
        ("status = 'cancelled'", "How many cancellations?", "cancellations"),
        ("status = 'shipped'", "What did we earn?", None),
        ("ordered_on BETWEEN '2023-03-01' AND '2023-03-31'", "orders of March 2023", "March 2023"),
        ("ordered_on < '2024-01-01'", "orders up to 2023", "2023"),
        ("order_id > 9000", "orders over 9,000", "9,000"),
        ("customer_id IN (3, 4)", "of customers three and 4", "three, 4"),
        ("shipped_on IS NULL", "not shipped yet", "shipped"),
        ("employee_id IS NOT NULL", "orders by people", None),
        ("ordered_on LIKE '2022%'", "orders of 2023", None),
        ("ordered_on >= '2022-03-01'", "orders since March 2023", None),
        ("ordered_on >= '2024-01-01'", "orders after 2023", "2023"),
        ("ordered_on >= '2024-01-01'", "orders in 2023", None),
        ("CAST(strftime('%Y', ordered_on) AS INTEGER) = 2022", "ordered in 2023", None),
        ("strftime('%m', ordered_on) = '03'", "orders in March", "March"),
        ("strftime('%m', ordered_on) IN ('01', '02')", "orders of January or Feb", "January, Feb"),
        ("strftime('%m', ordered_on) = '03'", "orders in April", None),
    ],
)
def test_a_condition_comes_from_words_of_the_question_or_from_none(
    schema: Schema, condition: str, question: str, words: str | None
) -> None:
    (told,) = build_query_basis(read(f"SELECT COUNT(*) FROM orders WHERE {condition}", schema), question).filters
    assert told.words == words


def test_conditions_of_joins_are_none_and_those_on_groups_are(schema: Schema) -> None:
    sql = (
        "SELECT c.city, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.customer_id AND o.status = 'open'"
        " GROUP BY 1 HAVING COUNT(*) > 2"
    )
    filters = build_query_basis(read(sql, schema), "cities with more than two open orders").filters
    assert [(one.words, one.groups, one.columns) for one in filters] == [
        ("open", False, ("orders.status",)),
        ("two", True, ()),
    ]


@pytest.mark.parametrize(
    ("condition", "first", "last"),
    [
        ("ordered_on >= '2023-01-01' AND ordered_on < '2024-01-01'", "2023-01-01", "2023-12-31"),
        ("strftime('%Y', ordered_on) = '2023'", "2023-01-01", "2023-12-31"),
        ("ordered_on LIKE '2024-02%'", "2024-02-01", "2024-02-29"),
        ("ordered_on < '2018-03-17 07:13:53'", "", "2018-03-17"),
        ("date(ordered_on) = '2023-05-06'", "2023-05-06", "2023-05-06"),
        ("ordered_on > '2023-05-06'", "2023-05-07", ""),
        ("ordered_on NOT LIKE '2023%'", "", ""),
        ("ordered_on >= '2023' AND ordered_on <= '2024'", "2023-01-01", "2023-12-31"),
        ("ordered_on BETWEEN '2023-01' AND '2023-06'", "2023-01-01", "2023-05-31"),
        ("ordered_on = '2023'", "", ""),
        ("strftime('%Y', ordered_on) = 2023", "", ""),
        ("ordered_on <= '2023-02-30'", "", ""),
        ("ordered_on = 'soon'", "", ""),
    ],
)
def test_the_range_of_a_date(schema: Schema, condition: str, first: str, last: str) -> None:
    date = build_query_basis(read(f"SELECT COUNT(*) FROM orders WHERE {condition}", schema), "").date
    assert date is not None
    assert (date.column, date.used, date.first, date.last) == ("ordered_on", True, first, last)


@pytest.mark.parametrize(
    ("sql", "grain"),
    [
        ("SELECT DISTINCT ON (store_id) order_id FROM orders", "one row per store id"),
        ("SELECT s.name FROM orders s, orders o JOIN orders p USING (order_id)",
         "one row per pairing of rows of orders, orders and orders"),
        ("SELECT order_id, UNNEST(tags) FROM orders", ""),
        ("SELECT order_id, generate_series(1, 2) FROM orders", ""),
        ("SELECT order_id, jsonb_array_elements(tags) FROM orders", ""),
        ("SELECT order_id FROM orders CROSS JOIN UNNEST(tags) AS t(tag)", ""),
        ("SELECT status, COUNT(*) FROM orders GROUP BY ROLLUP (status)", ""),
        ("SELECT status, COUNT(*) FROM orders GROUP BY CUBE (status, store_id)", ""),
        ("SELECT status, COUNT(*) FROM orders GROUP BY GROUPING SETS ((status), ())", ""),
        ("SELECT status, COUNT(*) FROM orders GROUP BY store_id, ROLLUP (status)", ""),
        ("SELECT COUNT(*) FROM orders GROUP BY DATE_TRUNC('month', ordered_on)",
         "one row per month of ordered on"),
    ],
)  # fmt: skip
def test_grain_in_postgresql(schema: Schema, sql: str, grain: str) -> None:
    assert build_query_basis(read(sql, replace(schema, dialect="postgres")), "").grain == grain


def told(schema: Schema, sql: str, question: str = "orders of 2023") -> list[str]:
    return build_query_basis(read(sql, schema), question).text().splitlines()[1:]


@pytest.mark.parametrize(
    ("condition", "line"),
    [
        ("ordered_on <> '2023-05-05'", "Only where ordered on is not '2023-05-05' (from “2023”)."),
        ("ordered_on < date('2023-01-01', '+1 year')",
         "Only where “ordered_on < DATE('2023-01-01', '+1 year')” (from “2023”)."),
        ("ordered_on > (SELECT MIN(shipped_on) FROM orders)",
         "Only where ordered on is more than (the earliest shipped on from orders) (from “orders”)."),
    ],
)  # fmt: skip
def test_only_what_the_range_says_is_left_to_it(schema: Schema, condition: str, line: str) -> None:
    sql = f"SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2023%' AND {condition}"
    assert told(schema, sql) == [line]
    assert "ordered on 1 Jan 2023 to 31 Dec 2023." in build_query_basis(read(sql, schema), "orders of 2023").text()


def held(schema: Schema, *samples: str) -> Schema:
    """The schema, where orders were ordered at such times."""
    tables = tuple(
        replace(table, columns=tuple(replace(one, samples=samples) if one.name == "ordered_on" else one
                                     for one in table.columns))
        for table in schema.tables
    )  # fmt: skip
    return replace(schema, tables=tables)


@pytest.mark.parametrize(
    ("samples", "condition", "first", "last", "ranged"),
    [
        (("2023-05-06 10:00:00",), "<= '2023-12-31'", "", "2023-12-31 00:00", True),
        (("2023-05-06 10:00:00",), "< '2024-01-01'", "", "2023-12-31", True),
        (("2023-05-06 10:00:00",), "<= '2023-12-31 23:59:59'", "", "2023-12-31", True),
        (("2023-05-06 10:00:00",), "<= '2023-12-31 12:00:00'", "", "2023-12-31", False),
        (("2023-05-06T10:00:00",), "<= '2023-12-31 23:59:59'", "", "", False),
        (("2023-05-06 10:00:00",), "= '2023-05-06'", "", "", False),
        (("2023-05-06 10:00:00",), "> '2023-12-31 12:00:00'", "2023-12-31", "", False),
        (("2023-05-06",), ">= '2023-01-01 00:00:00'", "2023-01-02", "", True),
        (("06/05/2023", "31/12/2022"), ">= '2023-01-01'", "", "", False),
        ((), ">= '2023-01-01'", "", "", False),
    ],
)
def test_a_range_is_as_the_column_holds_its_dates(
    schema: Schema, samples: tuple[str, ...], condition: str, first: str, last: str, ranged: bool
) -> None:
    basis = build_query_basis(
        read(f"SELECT COUNT(*) FROM orders WHERE ordered_on {condition}", held(schema, *samples)), ""
    )
    assert basis.date is not None
    assert (basis.date.first, basis.date.last) == (first, last)
    assert [one.ranged for one in basis.filters] == [ranged]


def test_a_day_of_which_only_midnight_is_in_is_told(schema: Schema) -> None:
    sql = "SELECT COUNT(*) FROM orders WHERE ordered_on BETWEEN '2023-01-01' AND '2023-12-31'"
    text = build_query_basis(read(sql, held(schema, "2023-05-06 10:00:00")), "orders of 2023").text()
    assert text.endswith("ordered on 1 Jan 2023 to 31 Dec 2023 (the rest of that day is left out).")


@pytest.mark.parametrize(
    ("sql", "lines"),
    [
        ("SELECT city FROM customers WHERE loyalty_tier = 'Gold' UNION SELECT city FROM stores",
         ["In a part of the query only where loyalty tier is 'Gold' (not in the question)."]),
        ("SELECT (SELECT COUNT(*) FROM orders WHERE status = 'open') * 1.0 / COUNT(*) FROM orders",
         ["In a part of the query only where status is 'open' (not in the question)."]),
        ("WITH a AS (SELECT COUNT(*) AS n FROM orders WHERE ordered_on LIKE '2023%'),"
         " b AS (SELECT COUNT(*) AS n FROM orders) SELECT a.n - b.n FROM a, b",
         ["In a part of the query only where ordered on starts with '2023' (from “2023”)."]),
        ("SELECT s.name, COUNT(o.order_id) FROM stores s"
         " LEFT JOIN orders o ON o.store_id = s.store_id AND o.status = 'open' GROUP BY s.store_id",
         ["In a part of the query only where status of orders is 'open' (not in the question)."]),
        ("SELECT SUM(CASE WHEN status = 'open' THEN 1 ELSE 0 END) FROM orders",
         ["In a part of the query only where status is 'open' (not in the question)."]),
        ("SELECT SUM(CASE status WHEN 'open' THEN 1 ELSE 0 END) FROM orders",
         ["In a part of the query only where 1 if status is 'open'; otherwise 0 (not in the question)."]),
        ("SELECT COUNT(*) FILTER (WHERE status = 'open') FROM orders",
         ["In a part of the query only where status is 'open' (not in the question)."]),
        ("SELECT COUNT(*) FROM orders JOIN (SELECT store_id FROM stores WHERE city = 'Graz') USING (store_id)",
         ["In a part of the query only where city is 'Graz' (not in the question)."]),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM orders WHERE status = 'open')",
         ["Only where status is 'open' (not in the question)."]),
        ("SELECT status, COUNT(*) FROM orders WHERE store_id = 1 GROUP BY 1 HAVING COUNT(*) > 5",
         ["Only where store id is 1 (not in the question); only groups where the number of rows is more than 5 "
          "(not in the question)."]),
    ],
)  # fmt: skip
def test_what_holds_in_a_part_alone_is_told_as_that(schema: Schema, sql: str, lines: list[str]) -> None:
    assert told(schema, sql) == lines


def test_a_condition_on_windows_is_told(schema: Schema) -> None:
    sql = "SELECT order_id FROM orders QUALIFY ROW_NUMBER() OVER (PARTITION BY store_id ORDER BY ordered_on) = 1"
    (one,) = build_query_basis(read(sql, replace(schema, dialect="duckdb")), "").filters
    assert (one.groups, one.part) == (False, False)


def test_years_are_read_in_other_dialects(schema: Schema) -> None:
    for dialect, year in (("mysql", "YEAR(ordered_on)"), ("postgres", "EXTRACT(YEAR FROM ordered_on)")):
        other = replace(schema, dialect=dialect)
        date = build_query_basis(read(f"SELECT COUNT(*) FROM orders WHERE {year} = 2023", other), "").date
        assert date is not None
        assert (date.first, date.last) == ("2023-01-01", "2023-12-31")


def test_what_goes_missing_is_cut_or_ties(schema: Schema) -> None:
    basis = build_query_basis(read("SELECT AVG(cost) FROM repairs", schema), "")
    assert basis.nulls == ("missing cost is not counted",)
    out = build_query_basis(
        read("SELECT first_name FROM customers WHERE loyalty_tier <> 'Gold' ORDER BY 1 LIMIT 5", schema), ""
    )
    assert out.nulls == ("rows whose loyalty tier is missing are left out",)
    assert (out.cut, bool(out.ties)) == ("the first 5 rows", True)


@pytest.mark.parametrize(
    "condition",
    [
        "loyalty_tier <> 'Gold' OR loyalty_tier IS NULL",
        "(loyalty_tier <> 'Gold') IS NOT 0",
        "loyalty_tier IS NOT 'Gold'",
        "COALESCE(loyalty_tier, '') <> 'Gold'",
        "loyalty_tier NOT IN (SELECT name FROM stores WHERE 1 = 0)",
    ],
)
def test_missing_values_are_said_to_be_out_only_where_they_are(schema: Schema, condition: str) -> None:
    assert build_query_basis(read(f"SELECT first_name FROM customers WHERE {condition}", schema), "").nulls == ()
    negated = f"SELECT first_name FROM customers WHERE loyalty_tier NOT LIKE 'Gold' AND ({condition})"
    assert build_query_basis(read(negated, schema), "").nulls == ("rows whose loyalty tier is missing are left out",)


@pytest.mark.parametrize(
    ("sql", "cut", "ties"),
    [
        ("SELECT name FROM stores LIMIT 5", "any 5 rows, in no order", ""),
        ("SELECT name FROM stores ORDER BY 1 LIMIT 3 OFFSET 3", "rows 4 to 6", "may be left out"),
        ("SELECT name FROM stores LIMIT 3 OFFSET 3", "any 3 rows after 3 others, in no order", ""),
        ("(SELECT name FROM stores ORDER BY 1 LIMIT 3 OFFSET 3)", "rows 4 to 6", "may be left out"),
        ("SELECT name FROM stores ORDER BY store_id DESC LIMIT 1", "the first row", ""),
        ("SELECT store_id AS id FROM stores ORDER BY name, id LIMIT 3", "the first 3 rows", ""),
        ("SELECT city, COUNT(*) FROM stores GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 3", "the first 3 rows", ""),
        ("SELECT city, COUNT(*) FROM stores GROUP BY 1 ORDER BY 2 DESC LIMIT 3", "the first 3 rows", "may be left out"),
        ("SELECT city, name FROM stores GROUP BY 1, 2 ORDER BY 1 LIMIT 3", "the first 3 rows", "may be left out"),
        (
            "SELECT o.status FROM stores s JOIN orders o USING (store_id) ORDER BY s.store_id LIMIT 1",
            "the first row",
            "may be left out",
        ),
        ("SELECT COUNT(*) FROM stores ORDER BY 1 LIMIT 1", "", ""),
        ("SELECT COUNT(*) FROM stores LIMIT 0", "any 0 rows, in no order", ""),
        ("SELECT name FROM stores ORDER BY 1 FETCH FIRST 3 ROWS WITH TIES", "the first 3 rows", "are included"),
    ],
)
def test_what_a_bound_of_rows_leaves_out(schema: Schema, sql: str, cut: str, ties: str) -> None:
    basis = build_query_basis(read(sql, replace(schema, dialect="postgres")), "")
    assert basis.cut == cut
    assert basis.ties.endswith(ties) if ties else not basis.ties


def test_days_that_do_not_sort_have_no_newest(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "visits.db")) as connection, connection:
        connection.execute("CREATE TABLE visits (seen_on TEXT)")
        connection.executemany("INSERT INTO visits VALUES (?)", [("31/01/2022",), ("06/05/2023",)])
    with Database.open(tmp_path / "visits.db") as database:
        assert NewestDateCache(database.execute, lambda: "", "sqlite").find("visits", "seen_on") == ""


def test_about_three_lines_of_plain_words(schema: Schema) -> None:
    sql = (
        "SELECT s.name, COUNT(*) FROM orders o JOIN stores s ON s.store_id = o.store_id"
        " WHERE o.status = 'shipped' AND o.ordered_on LIKE '2023%' GROUP BY s.store_id"
    )
    assert build_query_basis(read(sql, schema), "Orders of each store in 2023").text().splitlines() == [
        "A generated query over stores and orders; one row per row of stores; ordered on 1 Jan 2023 to 31 Dec 2023.",
        "Only where status of orders is 'shipped' (not in the question).",
    ]
    assert Basis().text() == "A generated query."
    assert Basis(tables=("kunden_2024",)).text() == "A generated query over kunden_2024.", "a name as the schema has it"


def test_the_newest_date_is_looked_up_once_and_again_when_the_data_changes(kestrel: Database) -> None:
    asked: list[str] = []
    state = ["one"]

    def execute(sql: str, limits: Limits) -> Table:
        asked.append(sql)
        return kestrel.execute(sql, limits)

    newest = NewestDateCache(execute, lambda: state[0], "sqlite")
    assert newest.find("orders", "ordered_on") == newest.find("orders", "ordered_on") == "2024-12-31"
    assert len(asked) == 1
    state[0] = "two"
    newest.find("orders", "ordered_on")
    assert len(asked) == 2
    assert newest.find("no_such_table", "ordered_on") == ""
