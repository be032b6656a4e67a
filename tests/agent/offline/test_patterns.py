"""Every named pattern of the grammar: a question that needs it, and SQL that says what the question means."""

from __future__ import annotations

from collections import Counter

import pytest
from tableturn.agent.offline.engine import Engine
from tableturn.agent.offline.filters import FILTERS
from tableturn.agent.offline.negation import NEGATION
from tableturn.agent.offline.ordering import ORDERING
from tableturn.agent.offline.terms import TERMS
from tableturn.tools.database import Database

CASES = [
    ("count", "How many books are there?", "SELECT count(*) FROM book"),
    ("count", "number of different genres of books", "SELECT count(DISTINCT genre) FROM book"),
    ("count_described", "How many dusty torn books do we have?", "SELECT count(*) FROM book"),
    ("count_values", "Count the number of novels.", "SELECT count(*) FROM book WHERE genre = 'Novel'"),
    ("count_rest", "How many readers live in Oslo?", "SELECT count(*) FROM member WHERE city = 'Oslo'"),
    ("sum_of_count", "What is the sum of the number of members?", "SELECT count(*) FROM member"),
    ("aggregates", "What is the average and maximum price of books?", "SELECT avg(price), max(price) FROM book"),
    ("aggregates", "What is the lowest price of a book?", "SELECT min(price) FROM book"),
    ("name_of_column", "What are the names of all cities of members?", "SELECT city FROM member"),
    ("sort_command", "Sort the titles of books by price.", "SELECT title FROM book ORDER BY price"),
    (
        "direction_of",
        "List the titles of books in descending order of pages",
        "SELECT title FROM book ORDER BY pages DESC",
    ),
    ("sort_by", "Titles of all books sorted by year", "SELECT title FROM book ORDER BY year"),
    ("sort_descending", "Titles of books ordered by descending price", "SELECT title FROM book ORDER BY price DESC"),
    ("direction_only", "List the names of authors in alphabetical order", "SELECT name FROM author ORDER BY name"),
    (
        "several",
        "What are the titles of the two books with the highest price?",
        "SELECT title FROM book ORDER BY price DESC LIMIT 2",
    ),
    (
        "most_common",
        "What is the most common genre of books?",
        "SELECT genre FROM book GROUP BY genre ORDER BY count(*) DESC LIMIT 1",
    ),
    (
        "is_most_common",
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
    ("top_by", "Show the top 3 books by price", "SELECT title FROM book ORDER BY price DESC LIMIT 3"),
    ("superlative_column", "Which book has the highest price?", "SELECT title FROM book ORDER BY price DESC LIMIT 1"),
    ("superlative_thing", "Who is the oldest member?", "SELECT first_name, last_name FROM member WHERE member_id = 4"),
    (
        "spent_most",
        "Which member paid the most?",
        "SELECT first_name, last_name FROM member WHERE member_id = 1",
    ),
    (
        "having_count",
        "Titles of books with at least 2 loans",
        "SELECT title FROM book JOIN loan USING (book_id) GROUP BY book_id HAVING count(*) >= 2",
    ),
    (
        "having_term",
        "Which genres of books have an average price above 20?",
        "SELECT genre FROM book GROUP BY genre HAVING avg(price) > 20",
    ),
    (
        "times",
        "Which genres of books appear more than 2 times?",
        "SELECT genre FROM book GROUP BY genre HAVING count(*) > 2",
    ),
    ("each", "How many books are there for each genre?", "SELECT genre, count(*) FROM book GROUP BY genre"),
    (
        "each_one",
        "What are the titles of books and how many loans does each have?",
        "SELECT title, count(*) FROM book JOIN loan USING (book_id) GROUP BY book_id",
    ),
    ("by_group", "Average price of books by genre", "SELECT genre, avg(price) FROM book GROUP BY genre"),
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
    ("null", "Names of authors whose country is missing", "SELECT name FROM author WHERE country IS NULL"),
    ("compare", "Titles of books whose price is at least 25", "SELECT title FROM book WHERE price >= 25"),
    (
        "compare_term",
        "Titles of books whose price is less than the maximum price",
        "SELECT title FROM book WHERE price < (SELECT max(price) FROM book)",
    ),
    ("compare_after", "Titles of books with more than 250 pages", "SELECT title FROM book WHERE pages > 250"),
    ("compare_inside", "Last names of members above age 35", "SELECT last_name FROM member WHERE age > 35"),
    ("compare_hinted", "Last names of members older than 35", "SELECT last_name FROM member WHERE age > 35"),
    ("or_more", "Last names of members of age 41 or older", "SELECT last_name FROM member WHERE age >= 41"),
    (
        "unequal",
        "Titles of books whose genre is not 'Novel'",
        "SELECT title FROM book WHERE genre != 'Novel'",
    ),
    ("unequal_bare", "Last names of members not from Oslo", "SELECT last_name FROM member WHERE city != 'Oslo'"),
    ("equal", "Titles of books with genre Poetry", "SELECT title FROM book WHERE genre = 'Poetry'"),
    (
        "both",
        "Names of authors with books in both genre Novel and genre Poetry",
        "SELECT name FROM author WHERE author_id = 1",
    ),
    (
        "either",
        "Last names of members from Oslo or Lima",
        "SELECT last_name FROM member WHERE city IN ('Oslo', 'Lima')",
    ),
    ("in_year", "Titles of books from 2005", "SELECT title FROM book WHERE year = 2005"),
    ("value", "Last names of members in Lima", "SELECT last_name FROM member WHERE city = 'Lima'"),
    ("numbered", "What is the price of book 3?", "SELECT price FROM book WHERE book_id = 3"),
    ("flag", "Titles of rare books", "SELECT title FROM book WHERE rare = 'yes'"),
    (
        "without_rows",
        "Last names of members without any loans",
        "SELECT last_name FROM member WHERE member_id NOT IN (SELECT member_id FROM loan)",
    ),
    (
        "range_direction",
        "Titles of books sorted by price from greatest to least",
        "SELECT title FROM book ORDER BY price DESC",
    ),
    ("number_of", "Titles of books that have 500 pages", "SELECT title FROM book WHERE pages = 500"),
    (
        "comparative_column",
        "Titles of books with a higher price than the average",
        "SELECT title FROM book WHERE price > (SELECT avg(price) FROM book)",
    ),
    (
        "without_value",
        "Names of authors who have not written Poetry",
        "SELECT name FROM author WHERE author_id NOT IN (SELECT author_id FROM book WHERE genre = 'Poetry')",
    ),
    (
        "self_reference",
        "Names of authors whose mentor is Ada Noor",
        "SELECT name FROM author WHERE mentor_id = 1",
    ),
    (
        "except_those",
        "Titles of all books except those with at least 2 loans",
        "SELECT title FROM book WHERE book_id NOT IN (SELECT book_id FROM loan GROUP BY book_id HAVING count(*) >= 2)",
    ),
]
SHOP_CASES = [
    ("total_of", "What is the total of all invoices?", "SELECT sum(total) FROM invoice"),
    ("total_of", "What is the total for Amber Cafe's invoices?", "SELECT 42.0"),
    ("total_money", "What is the total revenue?", "SELECT sum(total) FROM invoice"),
    ("total_money", "How much revenue did we make?", "SELECT sum(total) FROM invoice"),
    ("aggregates", "What is the sum of invoice totals?", "SELECT sum(total) FROM invoice"),
    ("superlative_thing", "What is the id of the most expensive invoice?", "SELECT 3"),
    ("first_rows", "Show the first 2 clients", "SELECT client_name FROM client LIMIT 2"),
]


def _rows(database: Database, sql: str) -> Counter[tuple[object, ...]]:
    return Counter(database.execute(sql).rows)


@pytest.mark.parametrize(("pattern", "question", "expected"), CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(CASES)])
def test_pattern(engine: Engine, library: Database, pattern: str, question: str, expected: str) -> None:
    answer = engine.answer(question)

    fired = next(note for note in answer.notes if note.startswith("patterns: ")).removeprefix("patterns: ").split(", ")
    assert pattern in fired, (fired, answer.sql)
    if "ORDER BY" in expected and "LIMIT" not in expected:
        assert library.execute(answer.sql).rows == library.execute(expected).rows, answer.sql
    else:
        assert _rows(library, answer.sql) == _rows(library, expected), answer.sql


@pytest.mark.parametrize(
    ("pattern", "question", "expected"), SHOP_CASES, ids=[f"{c[0]}-{i}" for i, c in enumerate(SHOP_CASES)]
)
def test_pattern_of_a_shop(clerk: Engine, shop: Database, pattern: str, question: str, expected: str) -> None:
    test_pattern(clerk, shop, pattern, question, expected)


def test_totals_are_listed_where_no_sum_is_asked_for(clerk: Engine) -> None:
    assert clerk.answer("List the totals of all invoices").sql == "SELECT total FROM invoice"


def test_every_pattern_is_tested() -> None:
    named = {pattern.name for grammar in (TERMS, NEGATION, ORDERING, FILTERS) for pattern in grammar.patterns}
    assert named - {case[0] for case in (*CASES, *SHOP_CASES)} <= {"number_of_column", "count_them", "top", "title"}
