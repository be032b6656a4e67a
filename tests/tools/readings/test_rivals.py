"""What a question leaves open, over the sample database: derived, run and told."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from uuid import uuid4

import duckdb
import pytest
from tableturn.tools.database import Database
from tableturn.tools.database.schema import ColumnSchema, Schema, TableSchema
from tableturn.tools.database.table import Cell
from tableturn.tools.readings import Outcome, QuestionContext, ReadingResult, Rival, outcome_of, rivals, summarize
from tableturn.tools.sample import build_sample

from tests.tools.database.servers import POSTGRES

REVENUE = (
    """SELECT SUM(ol.quantity * ol."unit price") FROM orders o JOIN "order lines" ol ON ol.order_id = o.order_id"""
)


@pytest.fixture(scope="module")
def kestrel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Database]:
    path: Path = build_sample(tmp_path_factory.mktemp("sample") / "kestrel.sqlite")
    with Database.open(path) as database:
        yield database


def outcomes(database: Database, sql: str, question: str, beside: str = "") -> dict[str, Outcome]:
    """What each reading gives, by its words."""
    here = database.execute(sql)
    found: dict[str, Outcome] = {}
    for rival in rivals(sql, database.schema(), QuestionContext(question, beside)):
        there = database.execute(rival.sql)
        outcome = outcome_of(
            rival, ReadingResult(here.rows, here.truncated), ReadingResult(there.rows, there.truncated), ordered=False
        )
        if outcome is not None:
            found[outcome.words] = outcome
    return found


@pytest.mark.parametrize(
    ("question", "sql", "words"),
    [
        ("How many orders?", "SELECT COUNT(*) FROM orders", "without cancelled and returned orders"),
        ("Average price of our products", "SELECT AVG(price) FROM products", "without discontinued products"),
        ("How many employees?", "SELECT COUNT(*) FROM employees", "without employees who left"),
        ("Revenue of all time", REVENUE, "after the discount"),
        ("Sales in 2023", "SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2023%'", "by shipped date"),
        (
            "Orders by city",
            "SELECT s.city, COUNT(*) FROM orders o JOIN stores s ON s.store_id = o.store_id GROUP BY 1",
            "by the city of customers",
        ),
        (
            "How many customers have written a review?",
            "SELECT COUNT(customer_id) FROM reviews",
            "different customers, each counted once",
        ),
        (
            "How many customers are not Gold?",
            "SELECT COUNT(*) FROM customers WHERE loyalty_tier <> 'Gold'",
            "with customers whose loyalty tier is missing",
        ),
        (
            "Customers in each country",
            "SELECT co.name, COUNT(*) FROM customers c JOIN countries co ON co.country_code = c.country_code"
            " WHERE co.currency <> 'JPY' GROUP BY co.country_code",
            "with countries that have none",
        ),
        (
            "Which country has the most stores, Germany aside?",
            "SELECT country_code, COUNT(*) n FROM stores WHERE country_code <> 'DE' GROUP BY 1 ORDER BY n DESC LIMIT 1",
            "with those that share the first place",
        ),
    ],
)
def test_what_is_open_is_read_the_other_way_and_changes_the_answer(
    kestrel: Database, question: str, sql: str, words: str
) -> None:
    found = outcomes(kestrel, sql, question)
    assert words in found
    assert not found[words].same


@pytest.mark.parametrize(
    ("question", "sql", "matter"),
    [
        ("How many orders, returned ones too?", "SELECT COUNT(*) FROM orders", "left_out"),
        ("How many orders were open?", "SELECT COUNT(*) FROM orders WHERE status = 'open'", "left_out"),
        ("How many employees have left?", "SELECT COUNT(*) FROM employees", "left_out"),
        (
            "How many people were hired in 2020?",
            "SELECT COUNT(*) FROM employees WHERE hired_on LIKE '2020%'",
            "left_out",
        ),
        ("Products by price", "SELECT price, COUNT(*) FROM products GROUP BY price", "left_out"),
        ("Which products cost more than 100?", "SELECT name FROM products WHERE price > 100", "left_out"),
        (
            "What did each product sell?",
            "SELECT p.name, SUM(i.quantity) FROM order_items i JOIN products p ON p.product_id = i.product_id"
            " GROUP BY 1",
            "left_out",
        ),
        ("Tiers of customers", "SELECT COUNT(*) FROM customers WHERE loyalty_tier <> ''", "missing"),
        ("Gross revenue", REVENUE, "net"),
        ("Orders placed in 2023", "SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2023%'", "date"),
        (
            "Orders by city of the store",
            "SELECT s.city, COUNT(*) FROM orders o JOIN stores s ON s.store_id = o.store_id GROUP BY 1",
            "like",
        ),
        ("How many reviews?", "SELECT COUNT(*) FROM reviews", "count"),
        ("Customers of known tier but Gold", "SELECT COUNT(*) FROM customers WHERE loyalty_tier <> 'Gold'", "missing"),
        (
            "Countries with at least one customer",
            "SELECT co.name, COUNT(*) FROM customers c JOIN countries co ON co.country_code = c.country_code"
            " GROUP BY co.country_code HAVING COUNT(*) >= 1",
            "zeros",
        ),
        ("Cheapest product", "SELECT name FROM products ORDER BY product_id LIMIT 1", "ties"),
        ("Is it one?", "SELECT 1", "count"),
    ],
)
def test_what_the_question_or_the_query_settles_is_left_alone(
    kestrel: Database, question: str, sql: str, matter: str
) -> None:
    assert matter not in {rival.matter for rival in rivals(sql, kestrel.schema(), QuestionContext(question))}


def test_what_stands_beside_the_question_settles_too(kestrel: Database) -> None:
    sql = "SELECT COUNT(*) FROM orders"
    assert rivals(sql, kestrel.schema(), QuestionContext("How many orders?"))
    assert not rivals(
        sql, kestrel.schema(), QuestionContext("How many orders?", "orders count whether cancelled or not")
    )


def test_a_rival_of_a_long_chain_of_joins_keeps_every_group(kestrel: Database) -> None:
    sql = (
        "SELECT c.name, COUNT(*) FROM categories c JOIN products p ON p.category_id = c.category_id"
        ' JOIN "order lines" ol ON ol.product_id = p.product_id WHERE ol.quantity > 1 GROUP BY c.category_id'
    )
    rival = next(
        one for one in rivals(sql, kestrel.schema(), QuestionContext("lines by category")) if one.matter == "zeros"
    )
    before, after = ({str(row[0]): row[1] for row in kestrel.execute(one).rows} for one in (sql, rival.sql))
    assert {name: count for name, count in after.items() if count} == before
    assert len(after) == 19


def test_what_cannot_be_read_leaves_nothing_open(kestrel: Database) -> None:
    for sql in ("SELECT FROM", "SELECT * FROM nowhere WHERE x <> 1", "SELECT 1 UNION SELECT 2"):
        assert rivals(sql, kestrel.schema(), QuestionContext("?")) == ()


def test_hidden_columns_and_withheld_values_tell_nothing(kestrel: Database) -> None:
    location = kestrel.location
    with Database.open(location, deny=["orders.status"]) as hidden:
        assert not rivals("SELECT COUNT(*) FROM orders", hidden.schema(), QuestionContext("orders"))
    with Database.open(location, egress={"columns": {"orders.status": "none"}}) as kept:
        assert not rivals("SELECT COUNT(*) FROM orders", kept.schema(), QuestionContext("orders"))


def test_the_line_says_what_changes_alone() -> None:
    changed = Outcome("left_out", "without returned orders", "returned orders are in", "", says="11.1 M")
    same = Outcome("date", "by shipped date", "by ordered date", "")
    assert summarize([changed, same]) == "11.1 M without returned orders."
    assert summarize([same]) == ""
    assert summarize([]) == ""


def test_a_date_that_the_rows_do_not_have_is_no_reading(kestrel: Database) -> None:
    sql = "SELECT COUNT(*) FROM orders WHERE status = 'cancelled' AND ordered_on LIKE '2022%'"
    assert "by shipped date" not in outcomes(kestrel, sql, "How many orders of 2022 were cancelled?")


def matters(database: Database, sql: str, question: str) -> dict[str, str]:
    """The query of each reading, by its words."""

    def look(query: str) -> list[Cell]:
        return [row[0] for row in database.execute(query).rows]

    return {one.words: one.sql for one in rivals(sql, database.schema(), QuestionContext(question), look=look)}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 100.0 * (SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2023%') / (SELECT COUNT(*) FROM orders)",
        "WITH a AS (SELECT COUNT(*) n FROM orders WHERE ordered_on LIKE '2022%'),"
        " b AS (SELECT COUNT(*) n FROM orders WHERE ordered_on LIKE '2023%') SELECT b.n - a.n FROM a, b",
        "SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2022%'"
        " UNION ALL SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2023%'",
        "SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2022%' UNION ALL SELECT COUNT(*) FROM reviews",
    ],
)
def test_no_part_of_a_query_is_read_otherwise_than_the_rest(kestrel: Database, sql: str) -> None:
    assert matters(kestrel, sql, "the share or the growth of orders") == {}


SHOP = """
CREATE TABLE products (product_id INTEGER PRIMARY KEY, name TEXT);
CREATE TABLE orders (order_id INTEGER PRIMARY KEY, status TEXT, ordered_on DATE, cancelled_on DATE, deleted_at DATE);
CREATE TABLE order_lines (
    line_id INTEGER PRIMARY KEY, order_id INT REFERENCES orders, product_id INT REFERENCES products, quantity INT,
    unit_price REAL, {discount} REAL
);
CREATE TABLE students (student_id INTEGER PRIMARY KEY, dob DATE, enrolled_on DATE);
CREATE TABLE enrolments (enrolment_id INTEGER PRIMARY KEY, student_id INT REFERENCES students, status TEXT, grade INT);
INSERT INTO products VALUES (1, 'a'), (2, 'b'), (3, 'c');
INSERT INTO orders VALUES (1, 'delivered', '2023-01-01', NULL, NULL), (2, 'open', '2023-02-01', '2023-02-03', NULL);
INSERT INTO order_lines VALUES (1, 1, 1, 2, 5, {values[0]}), (2, 2, 1, 7, 5, {values[1]}), (3, 2, 2, 1, 5, {values[1]});
INSERT INTO students VALUES (1, '2002-01-01', '2020-01-01'), (2, '2003-01-01', '2021-01-01');
INSERT INTO enrolments VALUES (1, 1, 'passed', 1), (2, 1, 'failed', 4), (3, 2, 'withdrawn', NULL);
"""


def shop(folder: Path, discount: str = "discount", values: tuple[float, float] = (0, 0.1)) -> Database:
    path = folder / "shop.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SHOP.format(discount=discount, values=values))
    return Database.open(path)


LINES = "FROM products p JOIN order_lines l ON l.product_id = p.product_id"
ORDERS = f"{LINES} JOIN orders o ON o.order_id = l.order_id WHERE o.status = 'delivered' GROUP BY p.product_id"


def test_groups_without_any_keep_the_numbers_of_the_others(tmp_path: Path) -> None:
    with shop(tmp_path) as database:
        question = "units delivered for each product, zero if there are none"
        assert "with products that have none" not in matters(
            database, f"SELECT p.name, SUM(l.quantity) {ORDERS}", question
        ), "lines of orders that were not delivered would count"
        found = matters(database, f"SELECT p.name, COUNT(*) {ORDERS}", question)["with products that have none"]
        assert sorted(database.execute(found).rows) == [("a", 1), ("b", 0), ("c", 0)]
        found = matters(database, f"SELECT p.name, SUM(l.quantity) {LINES} GROUP BY p.product_id", question)
        assert "with products that have none" in found
        odd = f"SELECT p.name, SUM(CASE WHEN l.quantity > 1 THEN 1 ELSE 0 END) {LINES} GROUP BY p.product_id"
        assert "with products that have none" not in matters(database, odd, question)


def test_no_more_groups_are_the_same_groups() -> None:
    rival = Rival("zeros", "with products that have none", "", "")
    outcome = outcome_of(rival, ReadingResult((("a", 1.0),)), ReadingResult((("a", 1.5),)), ordered=False)
    assert outcome is not None
    assert outcome.same


@pytest.mark.parametrize(
    ("discount", "values", "taken_off"),
    [
        ("discount", (0, 0.1), True),
        ("discount_percent", (0, 25), True),
        ("discount_rate", (0, 0.25), True),
        ("discount", (0, 2.5), False),
        ("discount_amount", (0, 0.5), False),
        ("discount_percent", (0, 250), False),
        ("discount", (0, 0), False),
    ],
)
def test_only_a_share_is_taken_off_as_one(
    tmp_path: Path, discount: str, values: tuple[float, float], taken_off: bool
) -> None:
    with shop(tmp_path, discount, values) as database:
        found = matters(database, "SELECT SUM(quantity * unit_price) FROM order_lines", "total revenue")
    assert any(words.startswith("after the discount") for words in found) is taken_off


def test_nobody_counts_by_a_cancellation_or_a_birthday_or_without_who_failed(tmp_path: Path) -> None:
    with shop(tmp_path) as database:
        asked = "SELECT COUNT(*) FROM orders WHERE ordered_on LIKE '2023%'"
        assert not [words for words in matters(database, asked, "orders in 2023") if words.startswith("by ")]
        born = "SELECT COUNT(*) FROM students WHERE dob LIKE '2002%'"
        assert matters(database, born, "How many students are from 2002?") == {}
        assert matters(database, "SELECT AVG(grade) FROM enrolments", "the average grade") == {}


@pytest.mark.parametrize("kind", ["duckdb", "csv"])
def test_a_status_is_looked_up_where_nobody_counted_its_values(tmp_path: Path, kind: str) -> None:
    rows = "SELECT i AS order_id, CASE WHEN i % 9 = 0 THEN 'cancelled' ELSE 'paid' END AS status FROM range(700) t(i)"
    path = tmp_path / f"orders.{kind}"
    with duckdb.connect(str(path) if kind == "duckdb" else ":memory:") as connection:
        connection.execute(f"CREATE TABLE orders AS {rows}")
        if kind == "csv":
            connection.execute(f"COPY orders TO '{path}'")
    with Database.open(path) as database:
        found = matters(database, "SELECT COUNT(*) FROM orders", "How many orders?")
        assert database.execute(found["without cancelled orders"]).rows == ((622,),)


def test_a_status_on_a_server_is_looked_up_too() -> None:
    if POSTGRES.unavailable():
        pytest.skip(POSTGRES.unavailable())
    url = POSTGRES.make_database(f"tt_{uuid4().hex[:12]}")
    status = "CASE WHEN i % 9 = 0 THEN 'cancelled' ELSE 'paid' END"
    POSTGRES.run(url, f"CREATE TABLE orders AS SELECT i AS id, {status} AS status FROM generate_series(0, 699) t(i)")
    with Database.open(url) as database:
        found = matters(database, "SELECT COUNT(*) FROM orders", "How many orders?")
        assert database.execute(found["without cancelled orders"]).rows == ((622,),)


@pytest.mark.parametrize("held", [None, ["paid", "cancelled", "returned"], [str(number) for number in range(21)]])
def test_a_look_that_fails_leaves_what_the_schema_tells(tmp_path: Path, held: list[str] | None) -> None:
    status = ColumnSchema("status", "TEXT", samples=("paid", "cancelled"))
    schema = Schema("s", (TableSchema("orders", (ColumnSchema("id", "INT", "number", primary_key=1), status)),))
    found = rivals("SELECT COUNT(*) FROM orders", schema, QuestionContext("How many orders?"), look=lambda sql: held)
    expected = {0: ["without cancelled orders"], 3: ["without cancelled and returned orders"], 21: []}
    assert [one.words for one in found] == expected[len(held or ())]


def test_a_thing_s_own_number_or_manager_is_no_other_thing() -> None:
    flight = TableSchema(
        "av_flight",
        (ColumnSchema("leg_id", "INT", "number", primary_key=1), ColumnSchema("flight_no"), ColumnSchema("status")),
    )
    person = TableSchema(
        "hr_employee",
        (ColumnSchema("emp_id", "INT", "number", primary_key=1), ColumnSchema("manager_emp_id", "INT", "number")),
    )
    schema = Schema("air", (flight, person))
    for question, sql in (
        ("How many flights were cancelled?", "SELECT COUNT(*) FROM av_flight WHERE status = 'X'"),
        ("How many employees are there?", "SELECT COUNT(*) FROM hr_employee"),
    ):
        assert [
            rival.matter for rival in rivals(sql, schema, QuestionContext(question, "")) if rival.matter == "count"
        ] == []


@pytest.mark.parametrize(
    ("table", "column", "other"),
    [
        *(
            ("orders", name, "delivered_at")
            for name in ("created_at", "placed_on", "purchase_ts", "ordered_on", "booked_at", "creation_date")
        ),
        ("tickets", "opened_at", "solved_at"),
        ("support_tickets", "received_on", "solved_at"),
        ("invoices", "issued_on", "paid_on"),
        ("members", "signed_up_at", "visited_at"),
    ],
)
def test_rows_counted_by_the_date_on_which_they_came_into_being_are_counted_by_their_own(
    table: str, column: str, other: str
) -> None:
    columns = (ColumnSchema("id", "INT", "number", primary_key=1), ColumnSchema(column, "DATE", "time"))
    schema = Schema("s", (TableSchema(table, (*columns, ColumnSchema(other, "DATE", "time"))),))
    sql = f"SELECT strftime('%Y-%m', {column}), COUNT(*) FROM {table} WHERE {column} >= '2024-01-01' GROUP BY 1"

    def by_dates(question: str) -> list[str]:
        return [one.words for one in rivals(sql, schema, QuestionContext(question)) if one.matter == "date"]

    noun, event = table.split("_")[-1], other.split("_")[0]
    assert by_dates(f"Number of {noun} per month in 2024") == []
    assert by_dates(f"Number of {noun} {event} per month in 2024") == [f"by {event} date"]
    assert by_dates(f"Number of {event} {noun} opened per month in 2024") == []
    assert by_dates("What did we earn per month in 2024?"), "earnings are not those rows"


@pytest.mark.parametrize(
    ("question", "sql", "may_tie"),
    [
        ("maximum order total", "SELECT id, total FROM orders ORDER BY total DESC LIMIT 1", False),
        ("What is the maximum order total?", "SELECT id, total FROM orders ORDER BY total DESC LIMIT 1", False),
        ("Which is the maximum order total?", "SELECT total FROM orders ORDER BY total DESC LIMIT 1", False),
        ("newest order", "SELECT id FROM orders ORDER BY ordered_on DESC LIMIT 1", False),
        ("What is the newest order?", "SELECT id FROM orders ORDER BY ordered_on DESC LIMIT 1", False),
        ("Which order is the newest?", "SELECT id FROM orders ORDER BY ordered_on DESC LIMIT 1", True),
        ("What is our largest order?", "SELECT id FROM orders ORDER BY total DESC LIMIT 1", True),
        ("The order with the highest total", "SELECT id FROM orders ORDER BY total DESC LIMIT 1", True),
        ("The three newest orders", "SELECT id FROM orders ORDER BY ordered_on DESC LIMIT 3", True),
    ],
)
def test_what_shares_the_first_place_matters_where_it_is_asked_which_is_first(
    question: str, sql: str, may_tie: bool
) -> None:
    columns = (
        ColumnSchema("id", "INT", "number"),
        ColumnSchema("total", "REAL", "number"),
        ColumnSchema("ordered_on", "DATE", "time"),
    )
    schema = Schema("s", (TableSchema("orders", columns),))
    assert ("ties" in {one.matter for one in rivals(sql, schema, QuestionContext(question))}) is may_tie
