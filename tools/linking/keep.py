"""The part of a schema that is worth showing, given its items' probabilities."""

from __future__ import annotations

from collections.abc import Sequence

from ..database.schema import Schema
from ..errors import SQLParseError
from ..sql import parse_select
from ..sql.resolve import resolve
from ..sql.suggest import nearest_names
from .join_path import join_path
from .linked import STAR, SchemaItem
from .used import past_use

_COLUMNS_A_TABLE = 5
"""Where only so many columns are shown, a fifth as many tables are."""


def keep(schema: Schema, items: Sequence[SchemaItem], threshold: float, max_columns: int | None) -> Schema:
    """The tables and columns over the threshold, most probable first, with what joins them.

    Keys stay whatever their probability: the primary key of each table shown and both ends of each join between
    them; tables in between are added, so that what is shown can always be joined.

    Args:
        schema: The whole schema.
        items: Scored items, most probable first.
        threshold: Items at or above it are kept (Track-SQL's s); where there are none, the most probable is.
        max_columns: How many columns to show, joins' keys aside, and five times how many tables; None for all over the
            threshold.
    """
    over = [item for item in items if item.p >= threshold] or list(items[:1])
    shown = _first(over, max_columns)
    cut = len(shown) < len(over)
    # The order of this dictionary is the order in which the tables are shown.
    columns: dict[str, list[str]] = {item.table: [] for item in shown or over[:1]}
    for item in shown:
        if item.column not in (None, STAR):
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


def widen(schema: Schema, part: Schema, sql: str) -> Schema:
    """A part of a schema with the tables and columns that a query reaches for beyond it.

    A table that the part lacks comes whole and first: whoever wrote the query knew only its name. Where the schema has
    no table of a name, those come whose names are most like it.

    Args:
        schema: The whole schema.
        part: What was shown.
        sql: A query, runnable or not; what cannot be parsed reaches for nothing.
    """
    use = past_use(sql, schema)
    named = use.tables | _meant(sql, schema)
    missing = [table for table in schema.tables if table.name in named and part.table(table.name) is None]
    columns = {table.name: [column.name for column in table.columns] for table in missing}
    columns |= {table.name: [column.name for column in table.columns] for table in part.tables}
    for table, column in sorted(use.columns):
        _add(columns, schema, table, [column])
    return schema.part(list(columns.items()))


def _meant(sql: str, schema: Schema) -> frozenset[str]:
    """The tables most like those that a query names in vain."""
    try:
        scopes = resolve(parse_select(sql), schema).scopes
    except SQLParseError:
        return frozenset()
    names = [table.name for table in schema.tables]
    vain = {source.node.name for scope in scopes for source in scope.sources if not source.known}
    return frozenset(near for name in vain for near in nearest_names(name, names))


def _first(items: Sequence[SchemaItem], max_columns: int | None) -> Sequence[SchemaItem]:
    """The items up to the last one that there is room for."""
    if max_columns is None:
        return items
    columns = tables = 0
    for number, item in enumerate(items):
        columns += item.column not in (None, STAR)
        tables += item.column is None
        if columns > max_columns or tables > max(1, max_columns // _COLUMNS_A_TABLE):
            return items[:number]
    return items


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
