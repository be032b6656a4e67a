"""What a past query used, and where in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..database import Schema
from ..sql import Query
from ..sql.dialects import Clause
from ..sql.parse import analysis_or

_ROLE_OF: Mapping[Clause, str] = {
    "select": "shown",
    "where": "filtered",
    "having": "filtered",
    "group": "grouped",
    "order": "ordered",
    "from": "joined",
}
ROLES = tuple(dict.fromkeys(_ROLE_OF.values()))
"""What a query does with a column."""


@dataclass(frozen=True)
class PastUse:
    """What a query used.

    Attributes:
        tables: Names of tables.
        columns: `(table, column)` pairs; the column is `*` for all of the table's.
        roles: `(table, column, role)` triples.
        selects: How many SELECTs it has.
    """

    tables: frozenset[str] = frozenset()
    columns: frozenset[tuple[str, str]] = frozenset()
    roles: frozenset[tuple[str, str, str]] = frozenset()
    selects: int = 0


@analysis_or(None)
def read_past(sql: str, schema: Schema) -> Query | None:
    """Return the reading of a past query; None if it is empty or cannot be parsed."""
    query = Query.of(sql, schema.dialect, schema) if sql else None
    return query if query and query.resolution else None


def past_use(sql: str, schema: Schema) -> PastUse:
    """What a past query used; nothing of one that is empty or cannot be parsed."""
    query = read_past(sql, schema)
    if query is None:
        return PastUse()
    roles = ((*column.item, _ROLE_OF[column.clause]) for column in query.columns if column.clause in _ROLE_OF)
    return PastUse(query.used.tables, query.used.columns, frozenset(roles), len(query.scopes))
