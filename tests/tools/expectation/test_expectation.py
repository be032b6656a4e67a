"""Which form and which schema items a question leads to expect."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.tools.database import Schema
from tableturn.tools.database.schema import ColumnSchema, TableSchema
from tableturn.tools.expectation import (
    extract_query_traits,
    extract_words_and_pairs,
    predict_query_traits,
    score_used_items,
)

from tests.support.queries import read

SCHEMA = Schema(
    "shop",
    (
        TableSchema("customer", (ColumnSchema("id", "INTEGER", "number", 1), ColumnSchema("name", "TEXT"))),
        TableSchema("goods", (ColumnSchema("id", "INTEGER", "number", 1), ColumnSchema("price", "REAL"))),
    ),
)
ITEMS = [("customer", None, 0.9), ("customer", "name", 0.8), ("customer", "id", 0.1), ("goods", None, 0.1)]


@pytest.mark.parametrize(
    ("question", "likely", "unlikely"),
    [
        ("How many customers are there?", "SELECT count(*) FROM customer", "SELECT name FROM customer"),
        (
            "What is the name of the oldest customer?",
            "SELECT name FROM customer ORDER BY age DESC LIMIT 1",
            "SELECT name, max(age) FROM customer GROUP BY name",
        ),
        ("List the name and age of each customer.", "SELECT name, age FROM customer", "SELECT name FROM customer"),
        (
            "Show the city of every customer.",
            "SELECT city FROM customer",
            "SELECT city, CASE WHEN age > 3 THEN 1 END FROM customer",
        ),
    ],
)
def test_the_wording_tells_the_form(question: str, likely: str, unlikely: str) -> None:
    better, worse = (predict_query_traits(question).fit(read(sql, SCHEMA)) for sql in (likely, unlikely))
    assert better is not None
    assert worse is not None
    assert better > worse


def test_what_has_no_form_or_no_items_has_no_fit() -> None:
    assert predict_query_traits("How many?").fit(read("VALUES (1)", SCHEMA)) is None
    assert score_used_items(read("SELECT 1", SCHEMA), []) is None


def test_expected_items_fit_better() -> None:
    fits = [
        score_used_items(read(sql, SCHEMA), ITEMS)
        for sql in ("SELECT name FROM customer", "SELECT id, name FROM customer", "SELECT price FROM goods")
    ]
    known = [fit for fit in fits if fit is not None]
    assert known == sorted(known, reverse=True)
    assert len(set(known)) == 3


def test_values_do_not_count_as_words() -> None:
    assert extract_words_and_pairs("Who lives in 'New York'?") == extract_words_and_pairs("Who lives in 'Rome'?")


@pytest.mark.parametrize(
    ("sql", "trait", "value"),
    [
        ("SELECT * FROM t", "outputs", "*"),
        ("SELECT count(*) FROM t", "outputs", "1"),
        ("SELECT a FROM t EXCEPT SELECT b FROM t", "compound", "except"),
        ("SELECT a FROM t WHERE b NOT IN (SELECT c FROM s)", "nested", "not in"),
        ("SELECT a FROM t LEFT JOIN s ON t.x = s.x", "outer_join", "yes"),
        ("SELECT a FROM t ORDER BY b DESC LIMIT 3", "order", "desc+limit"),
        ("(SELECT a FROM t ORDER BY b DESC LIMIT 3)", "order", "desc+limit"),
        ("(SELECT a FROM t ORDER BY b DESC LIMIT 3)", "inner_order", "no"),
        ("(SELECT a FROM t) ORDER BY b LIMIT 3", "order", "asc+limit"),
        ("(SELECT a FROM t EXCEPT SELECT b FROM t)", "compound", "except"),
        ("WITH x AS (SELECT 1 AS a) SELECT a FROM x", "with", "yes"),
    ],
)
def test_traits(sql: str, trait: str, value: str) -> None:
    found = extract_query_traits(read(sql, SCHEMA))
    assert found is not None
    assert found[trait] == value


@given(st.text(max_size=60))
def test_any_question_leads_to_probabilities(question: str) -> None:
    for values in predict_query_traits(question).probabilities.values():
        assert abs(sum(values.values()) - 1) < 1e-9
