"""What a refusal is called, which feedback to a person or a model rests on."""

from __future__ import annotations

import pytest
from tableturn.tools.database import Database
from tableturn.tools.errors import QueryError


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


def test_compile_check(database: Database) -> None:
    tables = [table for table in database.schema().tables if table.name in ("customer", "orders")]
    assert database.compile_check("SELECT name FROM customer", tables) is None
    refused = database.compile_check("SELECT age FROM customer", tables)
    assert refused is not None
    assert refused.kind == "unknown_column"
