"""Every named pattern of the grammar: a question that needs it, and SQL that says what the question means."""

from __future__ import annotations

from collections import Counter

import pytest
from tableturn.agent.offline.reading import STAGES
from tableturn.agent.offline.translator import Parser
from tableturn.tools.database import Database

CASES = [
    ("number_of_column", "What is the price number of all books?", "SELECT price FROM book"),
    ("count", "How many books are there?", "SELECT count(*) FROM book"),
    ("count", "number of different genres of books", "SELECT count(DISTINCT genre) FROM book"),
    ("count_rows", "How many dusty torn books do we have?", "SELECT count(*) FROM book"),
    ("count_rows", "Count the number of novels.", "SELECT count(*) FROM book WHERE genre = 'Novel'"),
    ("count_rows", "How many readers live in Oslo?", "SELECT count(*) FROM member WHERE city = 'Oslo'"),
    ("count", "What is the sum of the number of members?", "SELECT count(*) FROM member"),
    ("aggregates", "What is the average and maximum price of books?", "SELECT avg(price), max(price) FROM book"),
    ("aggregates", "What is the lowest price of a book?", "SELECT min(price) FROM book"),
    ("name_of_column", "What are the names of all cities of members?", "SELECT city FROM member"),
    ("order", "List the titles of books in descending order of pages", "SELECT title FROM book ORDER BY pages DESC"),
    ("order", "Titles of all books sorted by year", "SELECT title FROM book ORDER BY year"),
    ("order", "Titles of books ordered by descending price", "SELECT title FROM book ORDER BY price DESC"),
    ("order", "List the names of authors in alphabetical order", "SELECT name FROM author ORDER BY name"),
    (
        "several",
        "What are the titles of the two books with the highest price?",
        "SELECT title FROM book ORDER BY price DESC LIMIT 2",
    ),
    ("compare", "Titles of books with price >= 25", "SELECT title FROM book WHERE price >= 25"),
    (
        "against_average",
        "Titles of books whose price is more than the lowest price of any book of genre Science",
        "SELECT title FROM book WHERE price > (SELECT min(price) FROM book WHERE genre = 'Science')",
    ),
    ("contains", "Titles of books that contain the letter a", "SELECT title FROM book WHERE title LIKE '%a%'"),
    ("order", "Titles of books in descending lexicographical order", "SELECT title FROM book ORDER BY title DESC"),
    (
        "most_common",
        "What is the most common genre of books?",
        "SELECT genre FROM book GROUP BY genre ORDER BY count(*) DESC LIMIT 1",
    ),
    (
        "most_common",
        "Which genre of books is the most common?",
        "SELECT genre FROM book GROUP BY genre ORDER BY count(*) DESC LIMIT 1",
    ),
    (
        "most_rows",
        "Which book has the largest number of loans?",
        "SELECT title FROM book JOIN loan USING (book_id) GROUP BY book_id ORDER BY count(*) DESC LIMIT 1",
    ),
    (
        "most_things",
        "Which member has the most loans?",
        "SELECT first_name, last_name FROM member JOIN loan USING (member_id) "
        "GROUP BY member_id ORDER BY count(*) DESC LIMIT 1",
    ),
    ("top", "Show the top 3 books by price", "SELECT title FROM book ORDER BY price DESC LIMIT 3"),
    ("superlative_column", "Which book has the highest price?", "SELECT title FROM book ORDER BY price DESC LIMIT 1"),
    ("superlative_thing", "Who is the oldest member?", "SELECT first_name, last_name FROM member WHERE member_id = 4"),
    (
        "having",
        "Titles of books with at least 2 loans",
        "SELECT title FROM book JOIN loan USING (book_id) GROUP BY book_id HAVING count(*) >= 2",
    ),
    (
        "having",
        "Which genres of books have an average price above 20?",
        "SELECT genre FROM book GROUP BY genre HAVING avg(price) > 20",
    ),
    (
        "having",
        "Which genres of books appear more than 2 times?",
        "SELECT genre FROM book GROUP BY genre HAVING count(*) > 2",
    ),
    ("each", "How many books are there for each genre?", "SELECT genre, count(*) FROM book GROUP BY genre"),
    (
        "each",
        "What are the titles of books and how many loans does each have?",
        "SELECT title, count(*) FROM book JOIN loan USING (book_id) GROUP BY book_id",
    ),
    ("each", "Average price of books by genre", "SELECT genre, avg(price) FROM book GROUP BY genre"),
    (
        "between",
        "Titles of books with a price between 15 and 25",
        "SELECT title FROM book WHERE price BETWEEN 15 AND 25",
    ),
    (
        "against_average",
        "Titles of books with a price above the average",
        "SELECT title FROM book WHERE price > (SELECT avg(price) FROM book)",
    ),
    (
        "against_all",
        "Titles of books whose price is greater than that of all books in the genre 'Novel'",
        "SELECT title FROM book WHERE price > (SELECT max(price) FROM book WHERE genre = 'Novel')",
    ),
    ("contains", "Which books have a title that contains 'Tide'?", "SELECT title FROM book WHERE title LIKE '%Tide%'"),
    ("contains", "Titles of books starting with 'S'", "SELECT title FROM book WHERE title LIKE 'S%'"),
    ("most_things", "Which member took the most loans?", "SELECT 'Ann', 'Hill'"),
    ("unequal", "Books excluding Novel and Poetry", "SELECT 'Stars'"),
    ("null", "Names of authors whose country is missing", "SELECT name FROM author WHERE country IS NULL"),
    ("compare", "Titles of books whose price is at least 25", "SELECT title FROM book WHERE price >= 25"),
    (
        "against_average",
        "Titles of books whose price is less than the maximum price",
        "SELECT title FROM book WHERE price < (SELECT max(price) FROM book)",
    ),
    ("compare", "Titles of books with more than 250 pages", "SELECT title FROM book WHERE pages > 250"),
    ("compare", "Last names of members above age 35", "SELECT last_name FROM member WHERE age > 35"),
    ("compare", "Last names of members older than 35", "SELECT last_name FROM member WHERE age > 35"),
    ("compare", "Last names of members of age 41 or older", "SELECT last_name FROM member WHERE age >= 41"),
    ("unequal", "Titles of books whose genre is not 'Novel'", "SELECT title FROM book WHERE genre != 'Novel'"),
    ("unequal", "Last names of members not from Oslo", "SELECT last_name FROM member WHERE city != 'Oslo'"),
    ("equal", "Titles of books with genre Poetry", "SELECT title FROM book WHERE genre = 'Poetry'"),
    (
        "equal",
        "Names of authors with books in both genre Novel and genre Poetry",
        "SELECT name FROM author WHERE author_id = 1",
    ),
    ("value", "Last names of members from Oslo or Lima", "SELECT last_name FROM member WHERE city IN ('Oslo', 'Lima')"),
    ("count", "How many rare books are there?", "SELECT 2"),
    ("unequal", "All books but Novel", "SELECT title FROM book WHERE genre != 'Novel'"),
    ("null", "Names of authors without a country", "SELECT 'Eli Stone'"),
    ("in_year", "Titles of books from 2005", "SELECT title FROM book WHERE year = 2005"),
    ("value", "Last names of members in Lima", "SELECT last_name FROM member WHERE city = 'Lima'"),
    ("numbered", "What is the price of book 3?", "SELECT price FROM book WHERE book_id = 3"),
    ("flag", "Titles of rare books", "SELECT title FROM book WHERE rare = 'yes'"),
    (
        "without_rows",
        "Last names of members without any loans",
        "SELECT last_name FROM member WHERE member_id NOT IN (SELECT member_id FROM loan)",
    ),
    ("order", "Titles of books sorted by price from greatest to least", "SELECT title FROM book ORDER BY price DESC"),
    ("compare", "Titles of books that have 500 pages", "SELECT title FROM book WHERE pages = 500"),
    (
        "against_average",
        "Titles of books with a higher price than the average",
        "SELECT title FROM book WHERE price > (SELECT avg(price) FROM book)",
    ),
    (
        "unequal",
        "Names of authors who have not written Poetry",
        "SELECT name FROM author WHERE author_id NOT IN (SELECT author_id FROM book WHERE genre = 'Poetry')",
    ),
    (
        "except_those",
        "Titles of all books except those with at least 2 loans",
        "SELECT title FROM book WHERE book_id NOT IN (SELECT book_id FROM loan GROUP BY book_id HAVING count(*) >= 2)",
    ),
]
SHOP_CASES = [
    ("aggregates", "What is the sum of invoice totals?", "SELECT sum(total) FROM invoice"),
    ("superlative_column", "Which product costs the most?", "SELECT 'Pu-erh'"),
    ("superlative_thing", "Who is the lowest rated client?", "SELECT 'Cedar Inn'"),
    ("most_rows", "Which client has the lowest average total?", "SELECT 'Amber Cafe'"),
    ("superlative_thing", "What is the id of the most expensive invoice?", "SELECT 3"),
    ("top", "Show the first 2 clients", "SELECT client_name FROM client LIMIT 2"),
]


def _rows(database: Database, sql: str) -> Counter[tuple[object, ...]]:
    return Counter(database.execute(sql).rows)


def _assert_pattern(engine: Parser, database: Database, pattern: str, question: str, expected: str) -> None:
    answer = engine.answer(question)

    fired = next(note for note in answer.notes if note.startswith("patterns: ")).removeprefix("patterns: ").split(", ")
    assert pattern in fired, (fired, answer.sql)
    if "ORDER BY" in expected and "LIMIT" not in expected:
        assert database.execute(answer.sql).rows == database.execute(expected).rows, answer.sql
    else:
        assert _rows(database, answer.sql) == _rows(database, expected), answer.sql


@pytest.mark.parametrize(("pattern", "question", "expected"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)])
def test_pattern(engine: Parser, library: Database, pattern: str, question: str, expected: str) -> None:
    _assert_pattern(engine, library, pattern, question, expected)


@pytest.mark.parametrize(
    ("pattern", "question", "expected"), SHOP_CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(SHOP_CASES)]
)
def test_pattern_of_a_shop(clerk: Parser, shop: Database, pattern: str, question: str, expected: str) -> None:
    _assert_pattern(clerk, shop, pattern, question, expected)


def test_totals_are_listed_where_no_sum_is_asked_for(clerk: Parser) -> None:
    assert clerk.answer("List the totals of all invoices").sql == "SELECT total FROM invoice"


BY_GENRE = "SELECT genre, count(*) FROM book GROUP BY genre"
FOLLOWED = [
    (
        "pointed",
        "SELECT name FROM author WHERE country = 'France'",
        "Show the birth years of those authors",
        "SELECT birth_year FROM author WHERE country = 'France'",
    ),
    (
        "cut",
        "SELECT title FROM book ORDER BY price",
        "only the last 2 of them",
        "SELECT title FROM book WHERE price >= 30",
    ),
    ("most_shown", BY_GENRE, "Which has the most?", f"{BY_GENRE} ORDER BY count(*) DESC LIMIT 1"),
    ("most_shown", "SELECT title FROM book ORDER BY price", "And the lowest?", "SELECT 'Blue Tide'"),
    ("most_shown", "SELECT title FROM book ORDER BY price", "And the highest?", "SELECT 'Stars'"),
]


@pytest.mark.parametrize(
    ("pattern", "base", "question", "expected"), FOLLOWED, ids=[f"{c[0]}-{i}" for i, c in enumerate(FOLLOWED)]
)
def test_pattern_of_a_follow_up(
    engine: Parser, library: Database, pattern: str, base: str, question: str, expected: str
) -> None:
    answer = engine.answer(question, base)

    fired = next(note for note in answer.notes if note.startswith("patterns: "))
    assert pattern in fired.removeprefix("patterns: ").split(", ")
    assert Counter(library.execute(answer.sql).rows) == Counter(library.execute(expected).rows), answer.sql


def test_every_pattern_is_tested() -> None:
    named = {pattern.name for stage in STAGES.values() for pattern in stage}
    assert named == {case[0] for case in (*CASES, *SHOP_CASES, *FOLLOWED)}
