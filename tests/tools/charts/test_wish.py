"""What picture a question asks for."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tableturn.tools.charts import Kind, parse_request


@pytest.mark.parametrize(
    ("question", "kind", "left", "x"),
    [
        ("plot sales by month", None, "Show sales by month", ("month",)),
        ("Please plot the number of orders per year", None, "Show the number of orders per year", ("year",)),
        ("Show sales by month as a bar chart", "bar", "Show sales by month", ("month",)),
        ("sales by month and region as stacked bars", "stacked", "sales by month and region", ("month", "region")),
        ("Draw a line chart of revenue over time", "line", "Show revenue over time", ("time",)),
        ("plot revenue over time", "line", "Show revenue over time", ("time",)),
        ("chart price vs weight", "point", "Show price vs weight", ("weight",)),
        ("Show me a histogram of product prices", "histogram", "Show product prices", ()),
        ("make a pie of payments by method", "pie", "Show payments by method", ("method",)),
        ("List orders and plot them", None, "List orders", ()),
        ("as a pie chart", "pie", "", ()),
        ("plot that", None, "", ()),
        ("now show it as bars", "bar", "", ()),
    ],
)
def test_pictures_are_asked_for(question: str, kind: str | None, left: str, x: tuple[str, ...]) -> None:
    wish = parse_request(question)
    assert wish is not None
    assert (wish.kind, wish.question, wish.x) == (kind, left, x)


@pytest.mark.parametrize(
    "question",
    [
        "What is the plot of each film?",
        "How many charts are there?",
        "Which songs are in the charts?",
        "Plot of Inception?",
        "Show points per player",
        "How many lines does the metro have?",
        "Which bar has the most customers?",
        "customers as a percentage of all",
        "Who works as a line cook?",
        "",
    ],
)
def test_words_of_the_data_are_no_wish(question: str) -> None:
    assert parse_request(question) is None


@given(st.text(alphabet="plot chart as a bar of by ,.?\n", max_size=120))
def test_any_question_can_be_looked_at(question: str) -> None:
    wish = parse_request(question)
    assert wish is None or wish.kind is None or wish.kind in get_args(Kind)
