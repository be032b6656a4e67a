"""A definition's SQL is put into the query, in the query's own names."""

from __future__ import annotations

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import KnowledgeError
from tableturn.tools.knowledge.fragment import expand_named_definitions

from .conftest import Known
from .test_check import WHOLE


@pytest.mark.parametrize(
    ("sql", "value"),
    [
        ("SELECT METRIC('revenue') FROM orders", 15.0),
        ("SELECT metric('Revenue') AS r FROM orders AS o", 15.0),
        (
            "SELECT METRIC('revenue') / 2 FROM orders o JOIN customers c ON c.id = o.customer_id WHERE TERM('active')",
            5.0,
        ),
        ("SELECT count(*) FROM customers WHERE NOT TERM('live')", 1),
        ("SELECT METRIC('price') FROM \"order lines\" l", 10.0),
        ("SELECT (SELECT METRIC('revenue') FROM orders x WHERE x.customer_id = c.id) FROM customers c LIMIT 1", 10.0),
        ("SELECT c.id FROM customers c WHERE EXISTS (SELECT 1 FROM orders WHERE total > 9 AND TERM('active'))", 1),
    ],
)
def test_metrics_and_terms(known: Known, database: Database, sql: str, value: object) -> None:
    knowledge = known(WHOLE)
    assert database.execute(expand_named_definitions(sql, knowledge.entries, "sqlite")).rows[0][0] == value


def test_a_source_hides_one_of_the_same_name_around_it(known: Known) -> None:
    sql = "SELECT 1 FROM customers c WHERE EXISTS (SELECT 1 FROM orders c WHERE TERM('active'))"
    assert "customers.status" in expand_named_definitions(sql, known(WHOLE).entries, "sqlite")


@pytest.mark.parametrize("alias", ["o", "orders"])
def test_a_metric_of_outer_rows_is_refused(known: Known, alias: str) -> None:
    """It would add up the outer rows, and leave one of them."""
    sql = f"SELECT (SELECT METRIC('revenue') FROM customers c WHERE c.id = {alias}.customer_id) FROM orders {alias}"
    with pytest.raises(KnowledgeError, match=r"'metric revenue' would add up rows of an outer SELECT: join orders"):
        expand_named_definitions(sql, known(WHOLE).entries, "sqlite")


FIRST = "orders.id = (SELECT min(x.id) FROM orders AS x WHERE x.customer_id = orders.customer_id)"


def test_a_definition_with_a_query_of_its_own_stays_bound_to_the_row(known: Known, database: Database) -> None:
    entries = known(f"terms: {{first: {{means: m, sql: '{FIRST}'}}}}").entries
    for alias in ("orders", "o", '"of all"'):
        sql = expand_named_definitions(f"SELECT id FROM orders AS {alias} WHERE TERM('first')", entries, "sqlite")
        assert database.execute(sql).rows == ((1,), (3,))
    for source in ("orders AS x", "visits AS orders"):
        with pytest.raises(KnowledgeError, match=r"'term first' has another table '(x|orders)': choose another alias"):
            expand_named_definitions(f"SELECT 1 FROM {source} WHERE TERM('first')", entries, "sqlite")


def test_other_queries_stay_as_they_are(known: Known) -> None:
    sql = "select  total  from orders -- METRIC"
    assert expand_named_definitions(sql, known(WHOLE).entries, "sqlite") is sql


def test_a_metric_that_there_is_not_is_refused_with_those_that_there_are(known: Known) -> None:
    with pytest.raises(KnowledgeError, match=r"no metric 'profit'.*'revenue'"):
        expand_named_definitions("SELECT METRIC('profit') FROM orders", known(WHOLE).entries, "sqlite")
