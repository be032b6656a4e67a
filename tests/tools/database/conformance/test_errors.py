"""What a refusal is called, which feedback to a person or a model rests on."""

from __future__ import annotations

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryError

from .candidate import Candidate


@pytest.mark.parametrize(
    ("sql", "kind"),
    [
        ("SELECT 1 FROM nowhere", "unknown_table"),
        ("SELECT 1 FROM customer JOIN nowhere ON 1 = 1", "unknown_table"),
        ("SELECT age FROM customer", "unknown_column"),
        ("SELECT customer.age FROM customer", "unknown_column"),
        ("SELECT x.name FROM customer", "unknown_column"),
        ("SELECT id FROM customer, orders", "ambiguous_column"),
        ("SELECT nosuchfunction(name) FROM customer", "unknown_function"),
        ("SELECT name FROM customer WHERE sum(id) > 1", "aggregate_misuse"),
        ("SELECT FROM WHERE", "syntax"),
        ("SELECT name FROM customer WHERE (", "syntax"),
        ("SELEC name FROM customer", "syntax"),
        ("DELETE FROM customer", "rejected"),
        ("SELECT 1; SELECT 2", "rejected"),
    ],
)
def test_kinds(database: Database, sql: str, kind: str) -> None:
    with pytest.raises(QueryError) as caught:
        database.execute(sql)
    # Some engines refuse a function that they do not know before they would run it.
    expected = {kind, "rejected"} if kind == "unknown_function" else {kind}
    assert caught.value.kind in expected
    assert "\n" not in str(caught.value)


# What goes with what differs: SQLite and MariaDB convert nearly everything.
_MISMATCHES = {
    "SQLite": ("SELECT name FROM customer LIMIT 'x'",),
    "DuckDB": (
        "SELECT sum(name) FROM customer",
        "SELECT name + 1 FROM customer",
        "SELECT CAST(name AS INTEGER) FROM customer",
        "SELECT CASE WHEN id = 1 THEN id ELSE CAST('2024-01-01' AS DATE) END FROM customer",
        "SELECT CAST('2024-13-45' AS DATE) FROM customer",
    ),
    "PostgreSQL": (
        "SELECT sum(name) FROM customer",
        "SELECT name + 1 FROM customer",
        "SELECT CAST(name AS INTEGER) FROM customer",
        "SELECT name FROM customer WHERE id = 'x'",
        "SELECT name FROM customer WHERE name",
        "SELECT id FROM customer UNION SELECT now() FROM customer",
        "SELECT CAST('2024-13-45' AS DATE) FROM customer",
        "SELECT date_trunc('month', name) FROM customer",
    ),
    "MariaDB": ("SELECT (1, 2) + id FROM customer", "SELECT id FROM customer WHERE (1, 2) = id"),
    "Spark": ("SELECT CAST(name AS INT) FROM customer", "SELECT CAST(name AS INT) + 1 FROM customer"),
}


def test_types_that_do_not_go_together(candidate: Candidate, database: Database) -> None:
    for sql in _MISMATCHES["MariaDB" if candidate.name == "SQLAlchemy" else candidate.name]:
        with pytest.raises(QueryError) as caught:
            database.execute(sql)
        assert (sql, caught.value.kind) == (sql, "type_mismatch")


def test_compile_check(database: Database) -> None:
    tables = [table for table in database.schema().tables if table.name in ("customer", "orders")]
    assert database.compile_check("SELECT name FROM customer", tables) is None
    refused = database.compile_check("SELECT age FROM customer", tables)
    assert refused is not None
    assert refused.kind == "unknown_column"
