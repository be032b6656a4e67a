"""What a past query used, and where in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ..database import Schema
from ..errors import SQLParseError
from ..sql import parse_select
from ..sql.items import items_of
from ..sql.resolve import Resolution, resolve
from ..sql.scope import Clause

Role = Literal["shown", "filtered", "grouped", "ordered", "joined"]
"""What a query does with a column."""

ROLES: tuple[Role, ...] = ("shown", "filtered", "grouped", "ordered", "joined")

_ROLE_OF: Mapping[Clause, Role] = {
    "select": "shown",
    "where": "filtered",
    "having": "filtered",
    "group": "grouped",
    "order": "ordered",
    "from": "joined",
}


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
    roles: frozenset[tuple[str, str, Role]] = frozenset()
    selects: int = 0


def resolved(sql: str, schema: Schema) -> Resolution | None:
    """What the names in a query stand for; None where it is empty or cannot be parsed."""
    try:
        return resolve(parse_select(sql, schema.dialect), schema) if sql else None
    except SQLParseError:
        return None


def past_use(sql: str, schema: Schema) -> PastUse:
    """What a past query used; nothing of one that is empty or cannot be parsed."""
    resolution = resolved(sql, schema)
    if resolution is None:
        return PastUse()
    items = items_of(resolution)
    roles: set[tuple[str, str, Role]] = {
        (reference.source.table.name, reference.source.declared(reference.column), _ROLE_OF[reference.clause])
        for reference in resolution.references
        if reference.kind == "column" and reference.source and reference.source.table and reference.clause in _ROLE_OF
    }
    return PastUse(items.tables, items.columns, frozenset(roles), len(resolution.scopes))
