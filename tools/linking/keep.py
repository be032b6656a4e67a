"""The part of a schema that is worth showing, given its items' probabilities."""

from __future__ import annotations

from collections.abc import Sequence

from ..database.schema import Schema
from .join_path import join_path
from .linked import STAR, SchemaItem


def keep(schema: Schema, items: Sequence[SchemaItem], threshold: float, max_columns: int | None) -> Schema:
    """The tables and columns over the threshold, most probable first, with what joins them.

    Keys stay whatever their probability: the primary key of each table shown and both ends of each join between
    them; tables in between are added, so that what is shown can always be joined.

    Args:
        schema: The whole schema.
        items: Scored items, most probable first.
        threshold: Items at or above it are kept (Track-SQL's s); where there are none, the most probable is.
        max_columns: How many columns to show, joins' keys aside; None for all over the threshold.
    """
    over = [item for item in items if item.p >= threshold] or list(items[:1])
    shown = [item for item in over if item.column not in (None, STAR)]
    cut = max_columns is not None and len(shown) > max_columns
    # The order of this dictionary is the order in which the tables are shown.
    columns: dict[str, list[str]] = {item.table: [] for item in (shown[:max_columns] or over[:1] if cut else over)}
    for item in shown[:max_columns]:
        columns[item.table].append(str(item.column))
    if cut or threshold > 0:
        for key in join_path(schema, columns):
            for table, ends in ((key.table, key.columns), (key.ref_table, key.ref_columns)):
                _add(columns, schema, table, ends)
    for name in columns:
        table = schema.table(name)
        if table is not None:
            _add(columns, schema, name, table.primary_key or [c.name for c in table.columns[:1]])
    return schema.part(list(columns.items()))


def _add(columns: dict[str, list[str]], schema: Schema, table: str, names: Sequence[str]) -> None:
    """Adds columns of a table, in the schema's spelling, after those that are there."""
    found = schema.table(table)
    if found is None:
        return
    held = columns.setdefault(found.name, [])
    for name in names:
        column = found.column(name)
        if column is not None and column.name not in held:
            held.append(column.name)
