"""What a past query used, without reading its grammar: the schema's names among its words."""

from __future__ import annotations

import re

from ..database.schema import Schema

_NAME = re.compile(r'"([^"]+)"|`([^`]+)`|\[([^\]]+)\]|(\w+)')


def used_items(sql: str, schema: Schema) -> set[tuple[str, str | None]]:
    """The tables, as `(table, None)`, and columns of those tables that a query names."""
    names = {next(filter(None, match.groups())).lower() for match in _NAME.finditer(sql)}
    tables = [table for table in schema.tables if table.name.lower() in names]
    items: set[tuple[str, str | None]] = {(table.name, None) for table in tables}
    items.update((t.name, column.name) for t in tables for column in t.columns if column.name.lower() in names)
    return items
