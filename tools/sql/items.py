"""Which tables and columns a query uses: what schema linking learns from, and what critique compares."""

from __future__ import annotations

from dataclasses import dataclass

from sqlglot import exp

from ..database.schema import Schema
from .parse import parse
from .resolve import resolve
from .scope import Resolution, Scope, Source
from .untrusted import analysis

ALL_COLUMNS = "*"
"""Stands for all columns of a table in `UsedItems.columns` (Track-SQL's all-column intent)."""


@dataclass(frozen=True)
class UsedItems:
    """Tables and columns of the schema that a query names.

    Attributes:
        tables: Names as the schema spells them.
        columns: `(table, column)`; the column is `*` for `SELECT *` and `table.*` (not for `count(*)`).
    """

    tables: frozenset[str]
    columns: frozenset[tuple[str, str]]


@analysis
def used_items(sql: str, schema: Schema) -> UsedItems:
    """The tables and columns of the schema that a query uses, sub-queries included.

    Args:
        sql: One query in the schema's dialect.
        schema: The database's schema; names that it lacks are passed over.

    Raises:
        SQLParseError: It cannot be parsed as one query.
    """
    return items_of(resolve(parse(sql, schema.dialect).tree, schema))


def items_of(resolution: Resolution) -> UsedItems:
    """As `used_items`, of a query that is already resolved."""
    tables = {source.table.name for scope in resolution.scopes for source in scope.sources if source.table}
    columns: set[tuple[str, str]] = set()
    for reference in resolution.references:
        source = reference.source
        if reference.kind in ("column", "star") and source is not None and source.table is not None:
            columns.add((source.table.name, source.declared(reference.column)))
    for scope in resolution.scopes:
        if any(isinstance(item, exp.Star) for item in scope.select.expressions):
            columns.update((source.table.name, ALL_COLUMNS) for source in scope.sources if source.table)
        for source in scope.sources:
            columns.update(_merged(source, scope))
    return UsedItems(frozenset(tables), frozenset(columns))


def _merged(source: Source, scope: Scope) -> set[tuple[str, str]]:
    """Columns that a USING or NATURAL join compares, on both sides."""
    used: set[tuple[str, str]] = set()
    for name in source.using:
        for other in scope.sources:
            column = other.table.column(name) if other.table else None
            if other.table and column:
                used.add((other.table.name, column.name))
    return used
