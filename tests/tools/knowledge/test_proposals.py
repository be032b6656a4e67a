"""What a query log or a correction proposes, read from the conditions of its queries."""

from __future__ import annotations

from tableturn.tools.database import Database
from tableturn.tools.knowledge.proposals import suggest_entries


def test_conditions_of_rows_are_proposed_and_joins_by_no_key(database: Database) -> None:
    log = [
        "SELECT name FROM customers JOIN visits ON (customers.id = visits.customer_ref) WHERE (status = 'A')",
        "SELECT count(*) FILTER (WHERE status = 'A') FROM customers"
        " WHERE city = 'Paris' AND (pin = '1' AND name = 'Bo')",
        "SELECT sum(CASE WHEN state = 'sent' THEN total END) FROM orders WHERE customer_id IN"
        " (SELECT id FROM customers WHERE city = 'Paris')",
    ]
    found = {(one.entry.kind, one.entry.name): one.count for one in suggest_entries(log, database.schema(), 1)}
    assert found.pop(("join", "customers.id = visits.customer_ref")) == 1
    assert found == {
        ("term", "customers.status = 'A'"): 2,
        ("term", "customers.city = 'Paris'"): 2,
        ("term", "customers.pin = '1'"): 1,
        ("term", "customers.name = 'Bo'"): 1,
        ("metric", "SUM(CASE WHEN orders.state = 'sent' THEN orders.total END)"): 1,
    }
