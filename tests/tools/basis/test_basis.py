"""What a query says of itself: filters and their words, dates, grain, duplicates, missing values, cuts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from tableturn.tools.basis import Basis, Newest, basis_of
from tableturn.tools.database import Database, Limits, Schema, Table
from tableturn.tools.sample import build_sample


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
        ('SELECT quantity FROM "order lines"', "one row per order line", "kept"),
        ("SELECT order_id, status FROM orders", "one row per order", "none"),
        ("SELECT DISTINCT city FROM customers", "one row per different value", "removed"),
        ("SELECT DISTINCT city, country_code FROM customers", "each row once", "removed"),
        ("SELECT COUNT(*) FROM customers", "a single row", "none"),
        ("SELECT s.name, COUNT(*) FROM stores s GROUP BY s.store_id", "one row per store", "kept"),
        ("SELECT city, name, COUNT(*) FROM stores GROUP BY 1, 2", "one row per city and name", "none"),
        ("SELECT o.order_id, c.city FROM orders o JOIN customers c USING (customer_id)", "one row per order", "none"),
        ("SELECT label, price FROM tags JOIN products ON price > 5", "one row per pairing of tag and product", "kept"),
        ("SELECT city FROM customers UNION SELECT city FROM stores", "", "removed"),
        ("SELECT city FROM customers UNION ALL SELECT city FROM stores", "", "kept"),
        ("SELECT n FROM (SELECT COUNT(*) AS n FROM orders)", "", "kept"),
    ],
)  # fmt: skip
def test_grain(schema: Schema, sql: str, grain: str, duplicates: str) -> None:
    basis = basis_of(sql, schema, "")
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
    ],
)
def test_a_condition_comes_from_words_of_the_question_or_from_none(
    schema: Schema, condition: str, question: str, words: str | None
) -> None:
    (told,) = basis_of(f"SELECT COUNT(*) FROM orders WHERE {condition}", schema, question).filters
    assert told.words == words


def test_conditions_of_joins_are_none_and_those_on_groups_are(schema: Schema) -> None:
    sql = (
        "SELECT c.city, COUNT(*) FROM customers c JOIN orders o ON o.customer_id = c.customer_id AND o.status = 'open'"
        " GROUP BY 1 HAVING COUNT(*) > 2"
    )
    told = basis_of(sql, schema, "cities with more than two open orders").filters
    assert [(one.words, one.groups, one.columns) for one in told] == [
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
        ("ordered_on > '2023-05-06'", "2023-05-06", ""),
        ("ordered_on = 'soon'", "", ""),
    ],
)
def test_the_range_of_a_date(schema: Schema, condition: str, first: str, last: str) -> None:
    date = basis_of(f"SELECT COUNT(*) FROM orders WHERE {condition}", schema, "").date
    assert date is not None
    assert (date.column, date.used, date.first, date.last) == ("ordered_on", True, first, last)


def test_years_are_read_in_other_dialects(schema: Schema) -> None:
    for dialect, year in (("mysql", "YEAR(ordered_on)"), ("postgres", "EXTRACT(YEAR FROM ordered_on)")):
        other = replace(schema, dialect=dialect)
        date = basis_of(f"SELECT COUNT(*) FROM orders WHERE {year} = 2023", other, "").date
        assert date is not None
        assert (date.first, date.last) == ("2023-01-01", "2023-12-31")


def test_what_goes_missing_is_cut_or_ties(schema: Schema) -> None:
    basis = basis_of("SELECT AVG(cost) FROM repairs", schema, "")
    assert basis.nulls == ("missing cost is not counted",)
    out = basis_of("SELECT first_name FROM customers WHERE loyalty_tier <> 'Gold' ORDER BY 1 LIMIT 5", schema, "")
    assert out.nulls == ("rows whose loyalty tier is missing are out",)
    assert (out.cut, bool(out.ties)) == ("the first 5 rows", True)
    assert basis_of("SELECT name FROM stores LIMIT 5", schema, "").cut == "any 5 rows, in no order"


def test_about_three_lines_of_plain_words(schema: Schema) -> None:
    sql = (
        "SELECT s.name, COUNT(*) FROM orders o JOIN stores s ON s.store_id = o.store_id"
        " WHERE o.status = 'shipped' AND o.ordered_on LIKE '2023%' GROUP BY s.store_id"
    )
    assert basis_of(sql, schema, "Orders of each store in 2023").text().splitlines() == [
        "A generated query over stores and orders; one row per store; ordered on 2023-01-01 to 2023-12-31.",
        "Only where status of orders is 'shipped' (not in the question).",
    ]
    assert Basis().text() == "A generated query."


def test_the_newest_date_is_looked_up_once_and_again_when_the_data_changes(kestrel: Database) -> None:
    asked: list[str] = []
    state = ["one"]

    def execute(sql: str, limits: Limits) -> Table:
        asked.append(sql)
        return kestrel.execute(sql, limits)

    newest = Newest(execute, lambda: state[0], "sqlite")
    assert newest.of("orders", "ordered_on") == newest.of("orders", "ordered_on") == "2024-12-31"
    assert len(asked) == 1
    state[0] = "two"
    newest.of("orders", "ordered_on")
    assert len(asked) == 2
    assert newest.of("no_such_table", "ordered_on") == ""
