"""Every content word is used by the query that is answered, or named as left out."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from tableturn import SQLAgent
from tableturn.agent.offline.translator import Parser
from tableturn.tools.database import Database
from tableturn.tools.errors import NotUnderstood
from tableturn.tools.values import ValueIndex

from .conftest import SHOP


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("Which products are out of stock?", "stock"),
        ("Names of products with a purple lid", "purple"),
        ("Names of products sorted", "sort"),
        ("Most expensive invoice of each client", "each"),
        ("Which clients have the same rating?", "same"),
        ("Which products were not bought by rich clients?", "rich"),
    ],
)
def test_what_has_no_part_in_the_query_is_named(clerk: Parser, question: str, word: str) -> None:
    answer = clerk.answer(question)

    assert word in " ".join(answer.unread)
    assert any(note.startswith("not used: ") and word in note for note in answer.notes)


@pytest.mark.parametrize(
    "question",
    [
        "Find out the names of all products",
        "Names of products with more than 10 units in stock",
        "Which client has the most invoices?",
        "How many clients have no invoices?",
        "Names of products with price above 5 sorted by price",
    ],
)
def test_nothing_is_named_where_all_was_read(clerk: Parser, question: str) -> None:
    assert clerk.answer(question).unread == ()


def test_what_was_left_out_lowers_the_confidence(clerk: Parser) -> None:
    read = clerk.answer("Which products are there?")
    assert clerk.answer("Which products are out of stock?").confidence < read.confidence - 0.1


def test_an_edit_that_drops_a_word_says_so(clerk: Parser) -> None:
    base = "SELECT product_name FROM product WHERE unit_price > 4"
    assert clerk.answer("only those with a price above 6", base).unread == ()
    assert "purple" in clerk.answer("only those with a purple lid and a price above 6", base).unread


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("What is the average unit price of products?", "SELECT AVG(unit_price) FROM product"),
        ("List the names of products", "SELECT product_name FROM product"),
        ("How many products are there?", "SELECT COUNT(*) FROM product"),
    ],
)
def test_a_table_comes_before_a_view_that_serves_as_well(clerk: Parser, question: str, sql: str) -> None:
    assert clerk.answer(question).sql == sql


def test_a_view_that_is_named_is_used(clerk: Parser) -> None:
    assert clerk.answer("How many rows are in the full list of products?").sql == (
        'SELECT COUNT(*) FROM "full list of products"'
    )


@pytest.mark.parametrize(
    ("question", "word"),
    [
        ("What is the median unit price of products?", "median"),
        ("Show their names", "their"),
        ("Which of those have a rating above 4?", "those"),
    ],
)
def test_what_cannot_be_computed_or_known_is_declined(clerk: Parser, question: str, word: str) -> None:
    with pytest.raises(NotUnderstood) as caught:
        clerk.answer(question)
    assert caught.value.words == (word,)


@pytest.mark.parametrize(
    ("gone", "question", "text"),
    [
        ("client", "Names of all clients", "I did not understand: clients"),
        ("client", "Which client has the most invoices?", "I did not understand: client"),
        ("client", "clients with more than 1 invoice", "I did not understand: clients"),
        ("invoice", "How many invoices were there in 2023?", "I did not understand: 2023, invoices"),
        ("product", "How many products are there?", "I did not understand: products"),
        ("product", "Average quantity of products", "I did not understand: products"),
        ("client", "What is the client of invoice 3?", "Client id: 2."),
    ],
)
def test_no_other_table_answers_for_one_that_is_hidden_or_missing(
    tmp_path: Path, gone: str, question: str, text: str
) -> None:
    view = "full list of products"
    whole, less = tmp_path / "whole.sqlite", tmp_path / "less.sqlite"
    for path, drop in ((whole, ""), (less, f'DROP VIEW "{view}"; DROP TABLE {gone};')):
        with closing(sqlite3.connect(path)) as made:
            made.executescript(SHOP + drop)
    with SQLAgent(whole, model="offline", deny=[gone, view]) as narrow, SQLAgent(less, model="offline") as other:
        hidden, missing = narrow.ask(question).text, other.ask(question).text
    assert hidden.startswith(text)
    assert hidden == missing


def test_rows_without_a_name_are_known_by_their_key(tmp_path: Path) -> None:
    path = tmp_path / "bills.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE bill(bill_id INTEGER PRIMARY KEY, billing_address TEXT, total REAL)")
    with Database.open(path) as bills:
        answer = Parser(bills, None).answer("Show the five most expensive bills")
    assert answer.sql == "SELECT bill_id FROM bill ORDER BY total DESC LIMIT 5"


def test_rows_are_not_known_by_yes_or_no(tmp_path: Path) -> None:
    path = tmp_path / "visits.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE visit(visit_id INTEGER PRIMARY KEY, paid TEXT, cost REAL)")
        made.executemany("INSERT INTO visit(paid, cost) VALUES (?, ?)", [("yes", 1.0), ("no", 2.0)])
        made.commit()
    with Database.open(path) as visits:
        sql = Parser(visits, None).answer("visits with a cost above 1").sql
    assert sql == "SELECT visit_id FROM visit WHERE cost > 1"


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Parser]:
    """Dates in columns that are declared as such, which SQLite compares with a mere year as with a number."""
    path = tmp_path / "clinic.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            """CREATE TABLE doctor(doctor_id INTEGER PRIMARY KEY, name TEXT, hired_on DATE, salary INTEGER);
            INSERT INTO doctor VALUES (1, 'Ada', '2015-03-01', NULL), (2, 'Bo', '2018-12-31', 10),
                (3, 'Cy', '2019-01-01', 20);
            CREATE TABLE visit(visit_id INTEGER PRIMARY KEY, doctor_id INTEGER REFERENCES doctor(doctor_id),
                scheduled_at DATETIME, "room no." TEXT, topic TEXT);
            INSERT INTO visit VALUES (1, 1, '2022-05-01 10:00', 'A', 'Knee'), (2, 3, '2023-05-01 10:00', 'B', 'Eye');"""
        )
    with Database.open(path) as database:
        yield Parser(database, ValueIndex.open(database, cache=tmp_path))


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        ("Doctors hired after 2018", ["Cy"]),
        ("Doctors hired since 2018", ["Bo", "Cy"]),
        ("Doctors hired before 2018", ["Ada"]),
        ("Doctors hired in 2018", ["Bo"]),
        ("Doctors hired in 2015 or 2019", ["Ada", "Cy"]),
        ("Doctors hired before 2016 or after 2018", ["Ada", "Cy"]),
        ("Doctors hired between 2015 and 2018", ["Ada", "Bo"]),
        ("How many visits were there in 2023?", [1]),
        ("Which doctor has the lowest salary?", ["Bo"]),
        ("show the room no. for Eye", ["B"]),
    ],
)
def test_years_of_dates_and_what_is_missing(clinic: Parser, question: str, rows: list[object]) -> None:
    database = clinic._database  # pyright: ignore[reportPrivateUsage]
    assert [row[0] for row in database.execute(clinic.answer(question).sql).rows] == rows


@pytest.mark.parametrize("question", ["non-fiction books", "Non-Fiction books", 'books of genre "Non-Fiction"'])
def test_what_is_called_non_something_is_not_denied(tmp_path: Path, question: str) -> None:
    path = tmp_path / "shelf.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript(
            """CREATE TABLE book(book_id INTEGER PRIMARY KEY, title TEXT, genre TEXT);
            INSERT INTO book VALUES (1, 'Dune', 'Fiction'), (2, 'Salt', 'Non-Fiction'), (3, 'Odes', 'Poetry');"""
        )
    with Database.open(path) as shelf:
        answer = Parser(shelf, ValueIndex.open(shelf, cache=tmp_path)).answer(question)
        assert shelf.execute(answer.sql).rows == (("Salt",),), answer.sql


def test_rows_are_not_known_by_what_many_share(tmp_path: Path) -> None:
    path = tmp_path / "visits.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE visit(visit_id INTEGER PRIMARY KEY, status TEXT, cost REAL)")
        kinds = ["held", "held", "moved", "moved", "called off"]
        made.executemany("INSERT INTO visit(status, cost) VALUES (?, ?)", [(kind, 1.0) for kind in kinds])
        made.commit()
    with Database.open(path) as visits:
        answer = Parser(visits, ValueIndex.open(visits, cache=tmp_path)).answer("Show all visits that were moved")
    assert answer.sql == "SELECT * FROM visit WHERE status = 'moved'"


@pytest.mark.parametrize("question", ["Who bought Amber Cafe?", "Which client name is Amber Cafe?"])
def test_what_would_only_be_repeated_is_declined(clerk: Parser, question: str) -> None:
    with pytest.raises(NotUnderstood, match="Name what to show or count"):
        clerk.answer(question)


def test_the_key_that_is_said_joins(tmp_path: Path) -> None:
    path = tmp_path / "desk.sqlite"
    with closing(sqlite3.connect(path)) as made:
        made.executescript("""
            CREATE TABLE staff(staff_id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE ticket(ticket_id INTEGER PRIMARY KEY, subject TEXT,
                closed_by_staff_id INTEGER REFERENCES staff(staff_id),
                reported_by_staff_id INTEGER REFERENCES staff(staff_id));
        """)
    with Database.open(path) as desk:
        sql = Parser(desk, None).answer("Show the ticket ids that are reported by the staff named 'Ann'").sql
    assert "ticket.reported_by_staff_id = staff.staff_id" in sql


def test_only_typed_words_are_quoted_and_other_languages_are_told_so(shop: Database) -> None:
    with SQLAgent(shop, model="offline") as agent:
        assert agent.ask("products per zork").text.startswith("I did not understand: per, zork.")
        german = "Ohne Modell verstehe ich nur Englisch. Bitte auf Englisch fragen oder ein Modell wählen."
        assert agent.ask("Welche Kunden haben am meisten bestellt?").text == german
        assert agent.ask("Combien de clients ont commandé ?").text.startswith("Without a model I understand only")
