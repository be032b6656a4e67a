"""Questions whose words contradict a query."""

import pytest
from tableturn.tools.sql import Asked, Finding, check, question_alone
from tableturn.tools.values import ValueMatch

from .shop import SHOP


def contradictions(question: str, sql: str) -> list[Finding]:
    return [found for found in check(sql, SHOP, asked=Asked(question)) if found.kind == "question_contradicted"]


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which product has the highest price?", "SELECT name FROM product"),
        ("Which product has the highest price?", "SELECT name FROM product ORDER BY price LIMIT 1"),
        ("the product with the lowest price", "SELECT name FROM product ORDER BY price DESC LIMIT 1"),
        ("products that cost more than 2", "SELECT name FROM product WHERE price < 2"),
        ("orders below 10", "SELECT id FROM orders WHERE total >= 10"),
    ],
)
def test_contradictions(question: str, sql: str) -> None:
    (finding,) = contradictions(question, sql)
    assert finding.proof


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("Which product has the highest price?", "SELECT name FROM product ORDER BY price DESC LIMIT 1"),
        ("What is the highest price?", "SELECT max(price) FROM product"),
        ("customers with at most 3 orders", "SELECT customer_id FROM orders GROUP BY 1 HAVING count(*) <= 3"),
        ("products from the highest to the lowest price", "SELECT name FROM product"),
        ("who was born most recently?", 'SELECT name FROM customer ORDER BY "birth year" LIMIT 1'),
        ("products that do not cost more than 2", "SELECT name FROM product WHERE price <= 2"),
        ("products that cost more than 2", "SELECT name FROM product WHERE price > 2"),
        ("orders between more than 2 and less than 5", "SELECT id FROM orders WHERE total < 5 AND total > 2"),
    ],
)
def test_what_is_no_contradiction(question: str, sql: str) -> None:
    assert contradictions(question, sql) == []


def mentioned(question: str, words: str, sql: str, table: str = "customer", column: str = "country") -> Finding | None:
    start = question.index(words)
    match = ValueMatch(table, column, words, words, start, start + len(words), 1.0, "exact")
    findings = check(sql, SHOP, asked=Asked(question, (match,)))
    return next((found for found in findings if found.kind == "unused_value"), None)


@pytest.mark.parametrize(
    ("question", "words", "proof"),
    [
        ("Who lives in France?", "France", True),
        ("who lives in 'france'?", "france", True),
        ("Send France the names of the customers", "France", False),
        ("customers, France included", "France", False),
        ("customers of order 1624", "1624", True),
        ("the 3 customers", "3", False),
        ("list the star customers", "star", False),
        ("Hello! List the customers", "Hello", False),
        ("LIST CUSTOMERS OF FRANCE", "FRANCE", False),
    ],
)
def test_an_unused_value_is_proved_only_where_it_is_spelled_as_one(question: str, words: str, *, proof: bool) -> None:
    finding = mentioned(question, words, "SELECT name FROM customer")
    assert finding is not None
    assert finding.proof is proof


def test_a_value_may_be_looked_for_by_its_key() -> None:
    question, sql = "orders of customer Ann", "SELECT total FROM orders WHERE customer_id = 1"
    finding = mentioned(question, "Ann", sql, "customer", "name")
    assert finding is not None
    assert not finding.proof


RIGHT = [
    # Superlatives answered by a detour, stored as such, or said of something else.
    (
        "Which product has the highest price?",
        "SELECT name FROM product p WHERE NOT EXISTS (SELECT 1 FROM product q WHERE q.price > p.price)",
    ),
    (
        "Which product has the highest price?",
        "SELECT p.name FROM product p LEFT JOIN product q ON q.price > p.price WHERE q.id IS NULL",
    ),
    ("Which product has the highest price?", "SELECT name FROM product WHERE price >= ALL (SELECT price FROM product)"),
    (
        "Which product has the highest price?",
        "SELECT name FROM product WHERE id NOT IN (SELECT a.id FROM product a JOIN product b ON a.price < b.price)",
    ),
    (
        "Which product has the highest price?",
        "SELECT a.name FROM product a JOIN product b ON b.price <= a.price "
        "GROUP BY a.id HAVING count(*) = (SELECT count(*) FROM product)",
    ),
    ("Who is the most junior customer?", 'SELECT name FROM customer ORDER BY "birth year" DESC LIMIT 1'),
    ("Which product is the most affordable?", "SELECT name FROM product ORDER BY price LIMIT 1"),
    ("Which product is the least affordable?", "SELECT name FROM product ORDER BY price DESC LIMIT 1"),
    ("Which product has the highest order?", 'SELECT name FROM product ORDER BY "order" LIMIT 1'),
    (
        "Name the earliest order of the customer with the most orders",
        "SELECT id FROM orders WHERE customer_id = (SELECT "
        "customer_id FROM orders GROUP BY 1 ORDER BY count(*) DESC LIMIT 1) ORDER BY placed LIMIT 1",
    ),
    (
        "Which product has the second highest price?",
        "SELECT name FROM (SELECT * FROM product ORDER BY price DESC LIMIT 2) ORDER BY price LIMIT 1",
    ),
    ("All products but the one with the highest price", "SELECT name FROM product ORDER BY price LIMIT 3"),
    ("What is the maximum quantity of item 1?", "SELECT quantity FROM item WHERE order_id = 1"),
    ("Show the highest price of each product", "SELECT name, price FROM product"),
    ("What did most customers note?", "SELECT note FROM orders"),
    ("What do customers like the most?", "SELECT name FROM product"),
    (
        "Which products are in the largest order?",
        "SELECT name FROM product WHERE id IN (SELECT product_id FROM item "
        "JOIN orders ON order_id = id WHERE total = 99)",
    ),
    # Ceilings, floors, and ranks.
    ("orders of no more than 10", "SELECT id FROM orders WHERE total <= 10"),
    ("orders that do not exceed 10", "SELECT id FROM orders WHERE total <= 10"),
    ("orders that fail to reach more than 10", "SELECT id FROM orders WHERE total <= 10"),
    ("drop the orders of more than 10", "SELECT id FROM orders WHERE total <= 10"),
    ("orders other than those above 10", "SELECT id FROM orders WHERE total <= 10"),
    ("products placed higher than 3", 'SELECT name FROM product WHERE "order" < 3'),
    ("customers older than 1980's children", 'SELECT name FROM customer WHERE "birth year" < 1980'),
    ("orders of at most 10, at least 5", "SELECT id FROM orders WHERE total BETWEEN 5 AND 10"),
    (
        "customers with more than one order",
        "SELECT DISTINCT a.customer_id FROM orders a JOIN orders b ON a.customer_id = b.customer_id AND a.id < b.id",
    ),
    ("Are there more than 5 customers?", "SELECT count(*) FROM customer"),
    ("I run more than 10 shops. Which products are there?", "SELECT name FROM product"),
    ("orders over 10", "SELECT id FROM orders WHERE 10 < total"),
    ("customers with at least one order", "SELECT DISTINCT customer_id FROM orders"),
    ("List all products, even those above 2", "SELECT name FROM product"),
    (
        "How many customers have at least 3 orders?",
        "SELECT count(*) FROM customer WHERE id NOT IN (SELECT customer_id FROM orders GROUP BY 1 HAVING count(*) < 3)",
    ),
    # One column for two things, and what the question itself tells.
    ("What are the name and country of the customers?", "SELECT name || ' ' || country FROM customer"),
    (
        "What are the name and country of the customers from France?",
        "SELECT name FROM customer WHERE country = 'France'",
    ),
    ("What are the name and note of customers?", "SELECT data FROM product"),
    # Averages that are stored, or reckoned otherwise.
    ("What is the average price of a pen?", "SELECT price FROM product WHERE name = 'pen'"),
    ("What is the average total of the orders?", "SELECT sum(total) * 1.0 / count(total) FROM orders"),
    ("Show the average products", "SELECT name FROM product"),
    # Numbers held as text, names of what is asked for.
    ("How many pieces of data are there for the pen?", "SELECT data FROM product WHERE name = 'pen'"),
    ("What is the number of the order of Ann?", "SELECT id FROM orders WHERE customer_id = 1"),
    # Order.
    ("customers in reverse alphabetical order", "SELECT name FROM customer ORDER BY name DESC"),
    ("customers in descending order of seniority", 'SELECT name FROM customer ORDER BY "birth year"'),
    ("the last product in ascending order of price", "SELECT name FROM product ORDER BY price DESC LIMIT 1"),
    ("how many orders are there, in descending order?", "SELECT count(*) FROM orders"),
    ("order 3 in descending order", "SELECT id FROM orders WHERE id = 3"),
    # Conditions turned round for a reason.
    ("Who are the rivals of the customer called 'Ann'?", "SELECT name FROM customer WHERE name <> 'Ann'"),
    ("Which customers live outside 'France'?", "SELECT name FROM customer WHERE country <> 'France'"),
    ("Which customers live anywhere but in 'France'?", "SELECT name FROM customer WHERE country <> 'France'"),
]


@pytest.mark.parametrize(("question", "sql"), RIGHT)
def test_no_right_query_is_sent_back_for_the_words_of_its_question(question: str, sql: str) -> None:
    kinds = ("question_contradicted", "output_columns", "unused_value")
    assert [found for found in check(sql, SHOP, asked=Asked(question)) if found.kind in kinds and found.proof] == []


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("orders of customers with at least 3 orders", "SELECT customer_id FROM orders GROUP BY 1 HAVING count(*) < 3"),
        ("orders of more than 10", "SELECT id FROM orders"),
        ("Show the products in descending order of price", "SELECT name FROM product ORDER BY price"),
        ("Show the product names in alphabetical order", "SELECT name FROM product"),
        ("Which customer called 'Ann' has orders?", "SELECT id FROM customer WHERE name <> 'Ann'"),
        ("What are the name and country of customers?", "SELECT name FROM customer"),
        ("Which customer has the most orders?", "SELECT customer_id FROM orders GROUP BY 1 ORDER BY count(*) LIMIT 1"),
    ],
)
def test_what_no_reading_explains_is_sent_back(question: str, sql: str) -> None:
    assert any(found.proof for found in check(sql, SHOP, asked=Asked(question)))


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("How many?\n(Sum means the total.)", "How many?"),
        ("How many? | Do you mean orders? | yes", ""),
        ("How many\norders (paid) are there?", "How many\norders (paid) are there?"),
    ],
)
def test_notes_and_the_other_side_are_not_the_question(text: str, alone: str) -> None:
    assert question_alone(text) == alone
