"""Fitting what questions lead to expect of queries."""

from __future__ import annotations

from typing import Any, cast

from tableturn.evals.lab.training.fit_expectation import fit
from tableturn.tools.expectation import extract_query_traits, extract_words_and_pairs
from tableturn.tools.sql import Query

PAIRS = [
    (f"{words} {thing}?", sql.format(thing))
    for thing in [f"thing{letter}" for letter in "abcdefghijklmnopqrstuvwxyzabcdef"]
    for words, sql in (("How many", "SELECT count(*) FROM {}"), ("List every", "SELECT name FROM {}"))
]


def test_words_that_tell_a_form_weigh_for_it() -> None:
    forms = ((question, extract_query_traits(Query.of(sql, "sqlite"))) for question, sql in PAIRS)
    pairs = [(extract_words_and_pairs(question), form) for question, form in forms if form is not None]
    stored = cast("dict[str, Any]", fit(pairs))
    many = stored["grams"].index("how many")
    model = stored["traits"]["aggregates"]
    weights = dict(zip(model["values"], model["weights"], strict=True))
    assert weights["count"][many] > weights["none"][many]
    assert "how thinga" not in stored["grams"], "rare words are left out"
    assert stored["traits"]["with"]["values"] == ["no"]
    assert fit(pairs) == stored
