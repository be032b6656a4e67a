"""Examples whose SQL says the opposite of their question."""

from __future__ import annotations

import pytest
from tableturn.tools.errors import ExampleRefused
from tableturn.tools.examples import Example, find_contradiction, seed_examples
from tableturn.tools.examples.store import check_example

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


def test_no_seed_contradicts_itself() -> None:
    assert [seed.question for seed in seed_examples() if find_contradiction(seed.question, seed.sql)] == []
