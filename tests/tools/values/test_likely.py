"""Values shown to a model: what a question likely means, best first, and no coincidences."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tableturn.tools.database import Database
from tableturn.tools.values import ValueIndex, select_likely_values

_ROWS = """
    CREATE TABLE employee(id INTEGER PRIMARY KEY, name TEXT, rank TEXT, state TEXT, manager_note TEXT);
    INSERT INTO employee VALUES (1, 'Frank', 'senior', 'CA', 'do'), (2, 'John', 'junior', 'IN', 'in'),
        (3, 'May', 'senior', 'TX', 'join us'), (4, 'Title 1', 'lead', 'CA', 'x');
    CREATE TABLE plant(code TEXT PRIMARY KEY, reactor TEXT, outcome TEXT, country TEXT);
    INSERT INTO plant VALUES ('a', 'PWR', 'Unable to prosecute', 'United States'), ('b', 'BWR', 'Closed', 'France'),
        ('c', 'PWR', 'Open', 'France'), ('d', 'FBR', '8', 'Peru');
    CREATE TABLE visit(id INTEGER PRIMARY KEY, country TEXT REFERENCES country(name));
    CREATE TABLE country(name TEXT PRIMARY KEY);
    INSERT INTO country VALUES ('Peru'), ('France'); INSERT INTO visit VALUES (1, 'Peru'), (2, 'France');
"""


Find = Callable[[str], list[tuple[str, str, str]]]


@pytest.fixture(name="found")
def _found(tmp_path: Path) -> Iterator[Find]:
    path = tmp_path / "mixed.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript(_ROWS)
    connection.close()
    with Database.open(path) as database:
        index = ValueIndex.open(database, cache=tmp_path)

        def find(question: str) -> list[tuple[str, str, str]]:
            matches = select_likely_values(question, index.find(question, 100), database.schema())
            return [(match.table, match.column, match.value) for match in matches]

        yield find


@pytest.mark.parametrize(
    "question",
    [
        "What is the rank of each employee?",
        "Join each plant with its country.",
        "IN which order DO employees come, and what is the rank?",
        "Which plants await prosecution?",
        "Which plants have a capacity over 2.8?",
    ],
)
def test_ordinary_words_mean_no_value(found: Find, question: str) -> None:
    assert found(question) == []


def test_words_stand_for_codes(found: Find) -> None:
    assert ("employee", "state", "CA") in found("Who lives in the state of California?")


def test_a_name_is_found_as_a_whole(found: Find) -> None:
    assert found("Show the rank of 'Title 1'.") == [("employee", "name", "Title 1")]
    assert ("employee", "name", "May") in found("What rank does May have?")


def test_a_copy_over_a_key_is_listed_once(found: Find) -> None:
    places = [place for *place, value in found("How many visits to Peru were there?") if value == "Peru"]
    assert len([table for table, _ in places if table in ("visit", "country")]) == 1


@pytest.fixture(name="states")
def _states(tmp_path: Path) -> Iterator[Callable[[str], set[str]]]:
    path = tmp_path / "stores.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE stores(store_id INTEGER PRIMARY KEY, name TEXT, state TEXT, opened INTEGER)")
        codes = ("IN", "OR", "ME", "TX", "HI", "OK")
        rows = [(i, f"Store {i}", codes[i % 6], 2000 + i) for i in range(1, 41)]
        connection.executemany("INSERT INTO stores VALUES (?, ?, ?, ?)", rows)
    connection.close()
    with Database.open(path) as database:
        index = ValueIndex.open(database, cache=tmp_path)
        schema = database.schema()
        yield lambda asked: {
            m.value for m in select_likely_values(asked, index.find(asked, 100), schema) if m.column == "state"
        }


@pytest.mark.parametrize(
    "question",
    [
        "HOW MANY STORES OPENED IN 2010 OR 2011?",
        "SHOW ME ALL STORES",
        "WHICH STATE IN THE LIST HAS STORES?",
        "Hi, how many stores are there?",
        "OK, how many stores are there?",
        "How many stores opened in 2010 OR 2011?",
        "How many stores were opened IN 2010?",
        "Which state is the store in?",
        "Which state in the list has most stores?",
        "Show ME the stores of every state",
        "How many stores are there per state OR name?",
        "stores opened before 2005 AND NOT IN Boston, show ME the names",
    ],
)
def test_small_words_in_capitals_mean_no_value(states: Callable[[str], set[str]], question: str) -> None:
    assert states(question) == set()


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("How many stores are in ME?", "ME"),
        ("Show me the stores of OR and their names", "OR"),
        ("Show the stores with state IN", "IN"),
        ("Stores whose state is OR", "OR"),
        ("stores of 'in'", "IN"),
        ("How many stores are in HI?", "HI"),
    ],
)
def test_small_words_in_the_place_of_a_name_mean_a_value(
    states: Callable[[str], set[str]], question: str, code: str
) -> None:
    assert states(question) == {code}


def test_values_found_further_on_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "people.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript("CREATE TABLE people (name TEXT); INSERT INTO people VALUES ('May'), ('IN')")
    connection.close()
    question, beside = "Where is May?", "Give me May, who is IN."
    with Database.open(path) as database:
        values = ValueIndex.open(database, cache=tmp_path).find(f"{question}\n{beside}")
        assert {match.value for match in values} == {"May", "IN"}
        assert not select_likely_values("", values, database.schema())
        assert select_likely_values(f"{question}\n{beside}", values, database.schema()) == select_likely_values(
            question, values, database.schema()
        )


def test_letters_that_fold_to_nothing_are_no_words(tmp_path: Path) -> None:
    path = tmp_path / "marks.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript("CREATE TABLE marks (name TEXT); INSERT INTO marks VALUES ('ͺ rue ﹰ verte'), ('ͺ')")
    connection.close()
    with Database.open(path) as database:
        index = ValueIndex.open(database, cache=tmp_path)
        assert [match.value for match in index.find("which ﹰ ͺ rue verte")] == ["ͺ rue ﹰ verte"]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which five drivers had the longest trips in 2023?", []),
        ("Show the ids of drivers with at least 3 trips.", []),
        ("How many trips did the driver with id 3 make?", [("trip", "driver_id", "3")]),
        ("How many slots are there in all?", []),
    ],
)
def test_numbers_and_small_words_are_no_hints_by_chance(
    tmp_path: Path, question: str, expected: list[tuple[str, str, str]]
) -> None:
    path = tmp_path / "trips.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            CREATE TABLE trip(driver_id TEXT, km TEXT); CREATE TABLE slot(code TEXT, in_use TEXT);
            INSERT INTO trip VALUES ('3', 'far'), ('5', 'near'); INSERT INTO slot VALUES ('x', 'Y'), ('y', 'N');
        """)
    connection.close()
    with Database.open(path) as database:
        matches = select_likely_values(
            question, ValueIndex.open(database, cache=tmp_path).find(question, 100), database.schema()
        )
        assert [(match.table, match.column, match.value) for match in matches] == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is the total price of all books?", []),
        ("Which line of the report is total?", [("report", "line", "Total")]),
        ("How many bills were sent in 2024?", [("bill", "status", "Sent")]),
        ("How many were sent in 2024?", [("bill", "status", "Sent"), ("report", "status", "Sent")]),
    ],
)
def test_an_ordinary_word_is_a_value_of_what_the_question_names(
    tmp_path: Path, question: str, expected: list[tuple[str, str, str]]
) -> None:
    path = tmp_path / "bills.sqlite"
    with sqlite3.connect(path) as connection:
        connection.executescript("""
            CREATE TABLE bill(id INTEGER PRIMARY KEY, status TEXT);
            CREATE TABLE book(id INTEGER PRIMARY KEY, price REAL);
            CREATE TABLE report(id INTEGER PRIMARY KEY, line TEXT, status TEXT);
            INSERT INTO bill VALUES (1, 'Sent'), (2, 'Paid');
            INSERT INTO report VALUES (1, 'Total', 'Sent'), (2, 'Net', 'Open'), (3, 'Tax', 'Open');
        """)
    connection.close()
    with Database.open(path) as database:
        matches = select_likely_values(
            question, ValueIndex.open(database, cache=tmp_path).find(question, 100), database.schema()
        )
        assert sorted((match.table, match.column, match.value) for match in matches) == expected
