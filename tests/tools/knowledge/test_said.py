"""A question may say it in other words than an entry does."""

from __future__ import annotations

import pytest
from tableturn.tools.database.schema import Schema
from tableturn.tools.knowledge import Entry
from tableturn.tools.knowledge.search import KnowledgeIndex, is_abbreviation

from .conftest import Known
from .test_search import names

MEANT = """
terms:
  cold chain: {means: goods that travel refrigerated, sql: "orders.state = 'cold'"}
  LATAM: {means: Argentina and Brazil, sql: "customers.city = 'Rio'"}
  Lusophone: {means: those who read Portuguese, sql: "customers.city = 'Lisbon'", also: [Portuguese-speaking customers]}
metrics:
  repeat rate: {means: orders a customer, expression: COUNT(orders.id), also: [purchase frequency]}
"""

RULES = """
conventions:
  - {says: Cities are compared without accents, about: [customers.city]}
  - {says: Totals of 1998 stop in May, about: [orders.total]}
never:
  - {use: orders.old_total, instead: orders.total}
  - {use: customers.status, instead: orders.state}
"""


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("How much refrigerated stuff did we send?", "cold chain"),
        ("Who are our Latin American customers?", "LATAM"),
        ("How many Portuguese speakers are there?", "Lusophone"),
        ("How frequently do clients purchase?", "repeat rate"),
    ],
)
def test_an_entry_is_found_by_what_it_means(known: Known, question: str, name: str) -> None:
    assert names(known(MEANT), question) == [name]


def test_words_of_the_schema_and_of_any_question_find_nothing(known: Known) -> None:
    assert names(known(MEANT), "How many orders does the customer with the highest total have in each city?") == []


def test_a_word_that_is_one_entrys_name_is_no_reason_for_another(known: Known) -> None:
    knowledge = known("terms: {dormant: never came, sleeper: dormant for years}")
    assert names(knowledge, "Who is dormant?") == ["dormant"]


def test_a_convention_is_shown_where_the_question_speaks_of_its_column(known: Known) -> None:
    knowledge, rule = known(RULES), "Cities are compared without accents"
    assert rule in names(knowledge, "How many live in each town?", ("customers", "city"))
    assert rule not in names(knowledge, "How many are from Paris?", ("customers", "city")), "a value says no name"
    assert "Totals of 1998 stop in May" in names(knowledge, "How much in 1998?", ("orders", None))
    assert "Totals of 1998 stop in May" not in names(knowledge, "How much in 1998?")


def test_what_must_not_be_used_is_shown_where_a_query_would_use_it(known: Known) -> None:
    knowledge = known(RULES)
    assert "orders.old_total" in names(knowledge, "How much?", ("orders", "old_total"))
    assert "orders.old_total" in names(knowledge, "What is the sum?", ("orders", "total")), "whose is not said"
    assert "orders.old_total" not in names(knowledge, "What do orders cost?", ("orders", "total"))


def test_a_key_that_must_not_be_used_is_shown_where_it_is_on_the_way(known: Known) -> None:
    knowledge = known("never: [{use: orders.customer_id, instead: visits.customer_ref}]")
    assert names(knowledge, "How many?", ("customers", None), ("orders", None)) == ["orders.customer_id"]
    assert names(knowledge, "How many?", ("customers", None)) == []


def test_a_join_is_shown_where_both_tables_are_in_play_and_its_columns_are_meant(known: Known) -> None:
    knowledge = known("joins: [{on: customers.city = orders.state, means: sent to where they dwell}]")
    both = (("orders", None), ("customers", None))
    assert len(names(knowledge, "Who is from a town that is a state?", *both)) == 1
    assert len(names(knowledge, "Who got what was sent to where they dwell?", *both)) == 1
    assert names(knowledge, "Who is from a town?", *both) == []
    assert names(knowledge, "Who is from a town that is a state?", ("orders", None)) == []


def test_other_forms_and_other_words() -> None:
    entry = Entry("term", "shelf", "Canada, frequency, supplier, custom, Portugal")
    wording = KnowledgeIndex([entry], Schema("", ()))
    assert wording.correct_misspelt_stem("shellf") == "shelf"
    assert wording.correct_misspelt_stem("women") == "woman"
    assert set(wording.find_related_stems("canadian")) == {"canadian", "canada"}
    assert set(wording.find_related_stems("vendor")) == {"vendor", "supplier"}
    assert set(wording.find_related_stems("frequent")) == {"frequent", "frequenc"}
    assert set(wording.find_related_stems("cost")) == {"cost"}
    assert is_abbreviation("latam", ["latin", "american"])
    assert not is_abbreviation("latam", ["latin", "europe"])
