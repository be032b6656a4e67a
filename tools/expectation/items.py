"""How probable a query's choice of tables and columns is, given what schema linking expects of the question."""

from __future__ import annotations

import math
from collections.abc import Iterable

from ..database import Schema
from ..errors import SQLParseError
from ..sql import used_items
from .expect import FLOOR

LinkedItem = tuple[str, str | None, float]
"""Table, column (`*` for all, None for the table itself), and the probability that the question's query uses it."""


def items_fit(sql: str, schema: Schema, items: Iterable[LinkedItem]) -> float | None:
    """The log-probability of using just the items that the query uses, in nats; None where it cannot be told.

    Args:
        sql: The query.
        schema: The database's schema.
        items: The linker's probabilities; what is not among them is taken as improbable.
    """
    expected = {(table, column): p for table, column, p in items}
    if not expected:
        return None
    try:
        found = used_items(sql, schema)
    except SQLParseError:
        return None
    used: set[tuple[str, str | None]] = {*((table, None) for table in found.tables), *found.columns}
    shares = [p if item in used else 1 - p for item, p in expected.items()]
    return sum(math.log(max(share, FLOOR)) for share in shares) + len(used - set(expected)) * math.log(FLOOR)
