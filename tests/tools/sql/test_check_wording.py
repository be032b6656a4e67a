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
