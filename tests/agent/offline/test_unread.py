"""Every content word is used by the query that is answered, or named as left out."""

from __future__ import annotations

import pytest
from tableturn.agent.offline.engine import Engine


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
def test_what_has_no_part_in_the_query_is_named(clerk: Engine, question: str, word: str) -> None:
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
def test_nothing_is_named_where_all_was_read(clerk: Engine, question: str) -> None:
    assert clerk.answer(question).unread == ()


def test_what_was_left_out_lowers_the_confidence(clerk: Engine) -> None:
    read = clerk.answer("Which products are there?")
    assert clerk.answer("Which products are out of stock?").confidence < read.confidence - 0.1


def test_an_edit_that_drops_a_word_says_so(clerk: Engine) -> None:
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
def test_a_table_comes_before_a_view_that_serves_as_well(clerk: Engine, question: str, sql: str) -> None:
    assert clerk.answer(question).sql == sql


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("List all clients and their ratings", "SELECT client_name, rating FROM client"),
        ("List all clients with their ratings", "SELECT client_name, rating FROM client"),
        (
            "List the clients with their invoices",
            "SELECT client.client_name, invoice.invoice_id FROM client "
            "JOIN invoice ON invoice.client_id = client.client_id",
        ),
    ],
)
def test_what_belongs_to_the_subject_is_shown_beside_it(clerk: Engine, question: str, sql: str) -> None:
    assert clerk.answer(question).sql == sql


def test_a_view_that_is_named_is_used(clerk: Engine) -> None:
    assert clerk.answer("How many rows are in the full list of products?").sql == (
        'SELECT COUNT(*) FROM "full list of products"'
    )
