"""Words of a question that nothing of a database holds."""

from __future__ import annotations

import pytest
from tableturn.tools.database import ColumnSchema, Schema, TableSchema
from tableturn.tools.linking import unheld_words
from tableturn.tools.values import ValueMatch

_SCHEMA = Schema(
    "telephony",
    (
        TableSchema(
            "customer",
            (
                ColumnSchema("customer_id", "INTEGER", "number", primary_key=1),
                ColumnSchema("nation", "TEXT", samples=("France", "Peru")),
                ColumnSchema("monthly_fee", "REAL", "number", comment="what a subscription costs"),
            ),
        ),
    ),
)


@pytest.mark.parametrize(
    ("question", "unheld"),
    [
        ("What was the churn of customers in March?", ("churn",)),
        ("List the number of different customers for each nationality, largest first.", ()),
        ("Which custommers pay the highest fees?", ()),
        ("What do subscriptions cost in france?", ()),
        ("How many telephones?", ()),
        ("Awesome! Churn in Ruritania?", ("churn", "Ruritania")),
        ("Show the weather, the horoscope, the football and the traffic", ("weather", "horoscope", "football")),
    ],
)
def test_what_names_and_samples_hold_and_what_every_question_says_is_not_told(
    question: str, unheld: tuple[str, ...]
) -> None:
    assert unheld_words(question, _SCHEMA, (), lambda _: False) == unheld


def test_what_values_and_definitions_hold_is_not_told() -> None:
    question = "What was the churn in Ruritania?"
    assert unheld_words(question, _SCHEMA, (), lambda word: word == "churn") == ("Ruritania",)
    match = ValueMatch("customer", "nation", "Ruritania", "Ruritania", 22, 31, 1.0, "exact")
    assert unheld_words(question, _SCHEMA, (match,), lambda _: False) == ("churn",)
