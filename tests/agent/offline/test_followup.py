"""Follow-ups edit the query that answered before, whoever wrote it."""

from __future__ import annotations

from collections import Counter

import pytest
from tableturn.agent.offline.translator import Parser
from tableturn.tools.database import Database
from tableturn.tools.errors import NotUnderstood

OSLO = "SELECT last_name FROM member WHERE city = 'Oslo'"
BY_PRICE = "SELECT title FROM book ORDER BY price DESC"
CASES = [
    (
        "by-table",
        "SELECT count(*) FROM book",
        "by author?",
        "SELECT name, count(*) FROM author NATURAL JOIN book GROUP BY author_id",
    ),
    ("per-column", "SELECT sum(pages) FROM book", "per genre", "SELECT genre, sum(pages) FROM book GROUP BY genre"),
    ("sort-counted", "SELECT count(*) FROM book", "sort them by price", "SELECT title FROM book ORDER BY price"),
    (
        "highest-of-computed",
        "SELECT genre, avg(price) FROM book GROUP BY genre",
        "which genre has the highest?",
        "SELECT 'Science'",
    ),
    ("has", "SELECT name FROM author", "only those who have a mentor", "SELECT name FROM author WHERE author_id > 1"),
    ("narrow", OSLO, "only those older than 35", "SELECT last_name FROM member WHERE city = 'Oslo' AND age > 35"),
    ("swap-value", OSLO, "What about Lima?", "SELECT last_name FROM member WHERE city = 'Lima'"),
    ("swap-column", "SELECT avg(price) FROM book", "How about pages?", "SELECT avg(pages) FROM book"),
    ("replaced-value", OSLO, "And from Quito?", "SELECT last_name FROM member WHERE city = 'Quito'"),
    ("sort", "SELECT title FROM book", "sort them by price", "SELECT title FROM book ORDER BY price"),
    ("count", OSLO, "How many are there?", "SELECT count(*) FROM member WHERE city = 'Oslo'"),
    (
        "count-groups",
        "SELECT genre, count(*) FROM book GROUP BY genre",
        "How many are there?",
        "SELECT count(DISTINCT genre) FROM book",
    ),
    ("add", OSLO, "Show their ages too", "SELECT last_name, age FROM member WHERE city = 'Oslo'"),
    ("show", OSLO, "What are their ages?", "SELECT age FROM member WHERE city = 'Oslo'"),
    (
        "different",
        "SELECT last_name FROM member",
        "What are their different cities?",
        "SELECT DISTINCT city FROM member",
    ),
    ("best-of", OSLO, "Which of them is the oldest?", "SELECT 'Park'"),
    (
        "turn",
        "SELECT title FROM book ORDER BY price DESC LIMIT 1",
        "Which of them has the least?",
        "SELECT title FROM book ORDER BY price LIMIT 1",
    ),
    (
        "aliases",
        "SELECT T1.title FROM book AS T1 JOIN author AS T2 ON T1.author_id = T2.author_id WHERE T2.country = 'France'",
        "only those after 2005",
        "SELECT title FROM book WHERE book_id = 4",
    ),
    ("fresh-list", OSLO, "Show me a list of all the cities", "SELECT city FROM member"),
    (
        "third-condition",
        "SELECT title FROM book WHERE (price > 9 AND pages > 100) AND year > 1900",
        "only those of the genre Poetry",
        "SELECT title FROM book WHERE genre = 'Poetry'",
    ),
    ("plain", "SELECT genre, count(*) FROM book GROUP BY genre", "Show the titles", "SELECT title FROM book"),
    ("not-each", OSLO, "How old is each of them?", "SELECT age FROM member WHERE city = 'Oslo'"),
    ("pointed", "SELECT country FROM author", "How many books come from those countries?", "SELECT 6"),
    (
        "none-of-them",
        "SELECT name FROM author WHERE country = 'France'",
        "Which ones have no books?",
        "SELECT name FROM author WHERE 0",
    ),
    (
        "of-the-groups",
        "SELECT genre FROM book GROUP BY genre ORDER BY count(*) DESC LIMIT 1",
        "What are their titles?",
        "SELECT title FROM book WHERE genre = 'Novel'",
    ),
    ("other-count", "SELECT count(*) FROM author", "How about books?", "SELECT count(*) FROM book"),
    ("group", "SELECT count(*) FROM book", "Show it for each genre", "SELECT genre, count(*) FROM book GROUP BY genre"),
    ("fresh", OSLO, "How many books are there?", "SELECT count(*) FROM book"),
    ("fresh-their", OSLO, "List the titles of books and their prices", "SELECT title, price FROM book"),
    ("fresh-only", OSLO, "Which authors have only one book?", "SELECT name FROM author WHERE author_id IN (2, 3)"),
    ("top", BY_PRICE, "Show the top 5", f"{BY_PRICE} LIMIT 5"),
    ("first", BY_PRICE, "the first 3", f"{BY_PRICE} LIMIT 3"),
    ("only-top", BY_PRICE, "only the top two of them please", f"{BY_PRICE} LIMIT 2"),
    ("first-one", BY_PRICE, "Just the first one", f"{BY_PRICE} LIMIT 1"),
    ("top-named", BY_PRICE, "show the top 3 books", f"{BY_PRICE} LIMIT 3"),
    ("last", BY_PRICE, "show me the last one", "SELECT title FROM book ORDER BY price LIMIT 1"),
    ("first-unordered", "SELECT title FROM book", "show the first 2", "SELECT title FROM book LIMIT 2"),
    (
        "top-groups",
        "SELECT genre, count(*) FROM book GROUP BY genre",
        "the top one",
        "SELECT genre, count(*) FROM book GROUP BY genre ORDER BY count(*) DESC LIMIT 1",
    ),
]


@pytest.mark.parametrize(
    ("base", "question", "expected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_follow_up(engine: Parser, library: Database, base: str, question: str, expected: str) -> None:
    answer = engine.answer(question, base)

    rows, wanted = library.execute(answer.sql).rows, library.execute(expected).rows
    if "ORDER BY" in expected:
        assert rows == wanted, answer.sql
    else:
        assert Counter(rows) == Counter(wanted), answer.sql


def test_a_base_that_no_frame_can_hold_is_left_alone(engine: Parser) -> None:
    base = "WITH t AS (SELECT 1 AS a) SELECT a FROM t"

    assert engine.answer("How many books are there?", base).sql == "SELECT COUNT(*) FROM book"


def test_the_last_of_what_has_no_order_is_declined(engine: Parser) -> None:
    with pytest.raises(NotUnderstood, match="order"):
        engine.answer("show the last 2", "SELECT title FROM book")
