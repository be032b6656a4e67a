"""What an accepted query gives, and which other results give the same answer."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...tools.database.database import Database
from ...tools.database.table import Limits, Table
from ...tools.errors import QueryError
from ...tools.results import same_result
from .cutoff import CANDIDATES, Cutoff
from .ordering import Ordering, ordering, ties

GOLD_LIMITS = Limits(seconds=30.0, rows=200_000, result_bytes=200_000_000)

OTHER_RESULT = "it gives another result each time it runs"
_BY_CHANCE = re.compile(r"\brandom(blob)?\s*\(", re.IGNORECASE)
_TRIALS = 8
"""How often a query that calls RANDOM is run again, to see whether its result is another."""


class Unfit(QueryError):
    """A query that runs, but cannot be judged by.

    What to do: use a gold query with fewer rows, or one whose result is always the same.
    """


@dataclass(frozen=True)
class Expected:
    """An accepted query's result.

    Attributes:
        table: Its rows.
        order: Whether and by what they are ordered.
        tied: A label for each row, by its sort keys; None where they are unknown.
        cutoff: The tie that its LIMIT cuts through, if any.
    """

    table: Table
    order: Ordering
    tied: Sequence[tuple[object, ...]] | None = None
    cutoff: Cutoff | None = None

    def allows(self, table: Table) -> bool:
        """Whether a result gives the same answer."""
        if same_result(self.table, table, self.order.ordered, self.tied):
            return True
        return self.cutoff is not None and self.cutoff.allows(table)


def expected(database: Database, sql: str, limits: Limits = GOLD_LIMITS) -> Expected:
    """Runs an accepted query.

    Raises:
        Unfit: Its result is too large, or another each time.
        QueryError: It does not run.
    """
    table = database.execute(sql, limits)
    if table.truncated:
        raise Unfit(f"a result of more than {limits.rows:,} rows is too large", "too_large")
    found = _ordered(database, table, sql, limits)
    for _ in range(_TRIALS if _BY_CHANCE.search(sql) else 0):
        if not found.allows(database.execute(sql, limits)):
            raise Unfit(OTHER_RESULT)
    return found


def _ordered(database: Database, table: Table, sql: str, limits: Limits) -> Expected:
    order = ordering(sql, database.dialect)
    if not order.with_keys or not table.rows:
        return Expected(table, order)
    try:
        tied = ties(table, database.execute(order.with_keys, limits), order.keys)
        if tied is None or not order.unlimited:
            return Expected(table, order, tied)
        most = replace(limits, rows=len(table.rows) + CANDIDATES)
        return Expected(table, order, tied, Cutoff.of(tied, database.execute(order.unlimited, most)))
    except QueryError:
        return Expected(table, order)
