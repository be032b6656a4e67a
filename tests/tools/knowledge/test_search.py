"""What a question needs is found, the most specific first; the rest stays out."""

from __future__ import annotations

import pytest
from tableturn.tools.knowledge import Knowledge
from tableturn.tools.knowledge.fragment import find_used_entries

from tests.support.queries import read

from .conftest import Known
from .test_check import WHOLE


def names(knowledge: Knowledge, question: str, *items: tuple[str, str | None], characters: int = 2_000) -> list[str]:
    found = knowledge.find(question, [(table, column, 0.9) for table, column in items], characters)
    return [entry.name for entry in found.entries]


@pytest.mark.parametrize("question", ["Which customers are active?", "List the LIVE ones", "How many activ ones?"])
def test_a_term_is_found_by_its_names_in_any_form(known: Known, question: str) -> None:
    assert "active" in names(known(WHOLE), question)


def test_a_column_is_described_where_the_question_is_about_it(known: Known) -> None:
    knowledge = known(WHOLE)
    assert "customers.city" not in names(knowledge, "How many orders are there?")
    assert "customers.city" in names(knowledge, "How many are there?", ("customers", "city"))
    assert "orders.old_total" in names(knowledge, "The old totals?", ("orders", "old_total"))


def test_a_longer_name_covers_a_shorter_one(known: Known) -> None:
    knowledge = known("terms: {revenue: {means: gross}, net revenue: {means: net}}")
    assert names(knowledge, "What is our net revenue?") == ["net revenue"]


def test_what_has_no_room_is_counted(known: Known) -> None:
    knowledge = known("terms: {alpha: {means: one}, beta: {means: two}}")
    found = knowledge.find("alpha and beta", (), 30)
    assert (len(found.entries), found.left_out) == (1, 1)


def test_words_that_nothing_explains(known: Known) -> None:
    knowledge = known(WHOLE)

    def unknown(question: str) -> tuple[str, ...]:
        return knowledge.find_unknown(question, ())

    assert unknown("What is the SPM of customers in the USA?") == ("SPM",)
    assert unknown('How many "zombie" customers?') == ("zombie",)
    assert unknown("How many ACTIVE customers per CITY in Q3?") == ()
    assert unknown("HOW MANY CUSTOMERS?") == ()


def test_a_definition_is_used_where_the_query_has_it(known: Known) -> None:
    knowledge = known(WHOLE)

    def used(sql: str, question: str = "") -> set[str]:
        return {entry.name for entry in find_used_entries(read(sql, knowledge.schema), knowledge.entries, question)}

    assert "active" in used("SELECT count(*) FROM customers c WHERE (c.status = 'A') AND c.city = 'Paris'")
    assert "active" not in used("SELECT count(*) FROM customers WHERE status = 'C'")
    assert "revenue" in used("SELECT SUM(CASE WHEN state <> 'back' THEN total END) * 2 FROM orders")
    assert "area" not in used("SELECT 1 FROM customers", "revenue by area"), "nothing of it is in the query"
    assert "active" not in used("SELECT 1 FROM orders WHERE state = 'A'"), "the same condition on another column"
    assert "customers.city" in used("SELECT city FROM customers")


@pytest.mark.parametrize(
    ("sql", "applied"),
    [
        ("SELECT count(*) FROM customers WHERE NOT (status = 'A')", False),
        ("SELECT count(*) FROM customers WHERE status = 'A' OR 1 = 1", False),
        ("SELECT count(*) FROM customers WHERE (status = 'A' OR city = 'Paris') AND id > 1", False),
        ("SELECT count(*) FROM customers WHERE CASE WHEN status = 'A' THEN 0 ELSE 1 END = 1", False),
        ("WITH d AS (SELECT * FROM customers WHERE status = 'A') SELECT count(*) FROM customers", False),
        (
            "WITH d AS (SELECT * FROM customers WHERE status = 'A'), e AS (SELECT * FROM d) SELECT id FROM customers",
            False,
        ),
        ("SELECT count(*) FROM orders o LEFT JOIN customers c ON c.id = o.customer_id AND c.status = 'A'", False),
        ("SELECT count(*) FROM orders o JOIN customers c ON c.id = o.customer_id AND c.status = 'A'", True),
        ("WITH d AS (SELECT * FROM customers WHERE status = 'A'), e AS (SELECT * FROM d) SELECT count(*) FROM e", True),
        ("SELECT count(*) FROM orders WHERE customer_id IN (SELECT id FROM customers WHERE status = 'A')", True),
        ("SELECT sum(CASE WHEN status = 'A' AND id > 1 THEN 1 END) FROM customers", True),
        ("SELECT sum((status = 'A')) FROM customers", True),
        ("SELECT count(*) FILTER (WHERE status = 'A') FROM customers", True),
    ],
)
def test_a_condition_is_used_only_where_rows_must_meet_it(known: Known, sql: str, applied: bool) -> None:
    knowledge = known(WHOLE)
    found = find_used_entries(read(sql, knowledge.schema), knowledge.entries, "")
    assert ("active" in {entry.name for entry in found}) is applied
