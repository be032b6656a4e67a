"""Queries that say the opposite of their question."""

from __future__ import annotations

import pytest
from tableturn.tools.errors import ExampleRefused
from tableturn.tools.examples import Example, seed_examples
from tableturn.tools.examples.store import check_example
from tableturn.tools.sql.contradictions import find_contradiction

TOP = "Show the top five boats by length in descending order."


def test_what_orders_the_other_way_is_refused() -> None:
    with pytest.raises(ExampleRefused, match="descending order"):
        check_example(Example(TOP, "SELECT name FROM boat ORDER BY length LIMIT 5", "regatta"))
    assert find_contradiction("Which are the top 3 boats by points?", "SELECT name FROM boat ORDER BY points LIMIT 3")


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        (TOP, "SELECT name FROM boat ORDER BY length DESC LIMIT 5"),
        ("Which are the top 3 boats by rank?", "SELECT name FROM boat ORDER BY rank LIMIT 3"),
        ("Which are the top 3 boats with the least weight?", "SELECT name FROM boat ORDER BY weight LIMIT 3"),
        ("List the boats in ascending order of length.", "SELECT name FROM boat ORDER BY length"),
        ("What is the greatest length?", "SELECT max(length) FROM boat"),
    ],
)
def test_what_may_be_right_is_not(question: str, sql: str) -> None:
    assert find_contradiction(question, sql) == ""


@pytest.mark.parametrize("limit", ["LIMIT 1", "FETCH FIRST 1 ROW ONLY"])
@pytest.mark.parametrize(
    "form", ["(SELECT name FROM boat ORDER BY length {})", "(SELECT name FROM boat) ORDER BY length {}"]
)
def test_parentheses_hide_neither_order_nor_limit(form: str, limit: str) -> None:
    assert "takes the least" in find_contradiction("Which boat has the greatest length?", form.format(limit))


@pytest.mark.parametrize(
    ("question", "sql", "wrong"),
    [
        ("Which wine has the highest score?", "SELECT name FROM wine ORDER BY score LIMIT 1", True),
        ("Which wine has the highest score?", "SELECT name FROM wine ORDER BY score DESC LIMIT 1", False),
        (
            "Which rank has the fewest captains?",
            "SELECT rank FROM c GROUP BY rank ORDER BY count(*) DESC LIMIT 1",
            True,
        ),
        ("Which rank has the fewest captains?", "SELECT rank FROM c GROUP BY rank ORDER BY count(*) LIMIT 1", False),
        ("Who has the oldest car?", "SELECT name FROM car ORDER BY year LIMIT 1", False),
        ("Which has the lowest of the highest scores?", "SELECT name FROM w ORDER BY max(s) LIMIT 1", False),
    ],
)
def test_superlatives_that_are_ordered_the_other_way_are_refused(question: str, sql: str, *, wrong: bool) -> None:
    assert bool(find_contradiction(question, sql)) == wrong


def test_no_seed_contradicts_itself() -> None:
    assert [seed.question for seed in seed_examples() if find_contradiction(seed.question, seed.sql)] == []
