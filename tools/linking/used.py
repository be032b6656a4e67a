"""What a past query used."""

from __future__ import annotations

from ..database import Schema
from ..errors import SQLParseError
from ..sql import used_items


def past_items(sql: str, schema: Schema) -> frozenset[tuple[str, str | None]]:
    """The tables, as `(table, None)`, and columns that a past query used; none of one that cannot be parsed."""
    if not sql:
        return frozenset()
    try:
        used = used_items(sql, schema)
    except SQLParseError:
        return frozenset()
    return frozenset((table, None) for table in used.tables) | used.columns
