"""Columns of views that are written from secret columns, by the views' definitions."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from sqlglot import exp
from sqlglot.errors import SqlglotError

from .dialects import parse_statement
from .schema import Schema, TableSchema

_LONGEST = 50_000
"""Characters of a definition that is read."""


def columns_from_secrets(schema: Schema, secrets: Collection[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the columns of views whose texts are computed from secret columns, other views' included.

    A secret that is only compared, or counted, does not show in the result.

    Args:
        schema: With the views' definitions; a view without one is passed over.
        secrets: The secret columns that are known, as pairs of table and column.
    """
    views = [table for table in schema.tables if table.definition]
    lowered = {view.name: view.definition.casefold() for view in views}
    found: set[tuple[str, str]] = set()
    fresh = set(secrets)
    while fresh:
        made: set[tuple[str, str]] = set()
        for view in views:
            text = lowered[view.name]
            names = {
                column.casefold() for table, column in fresh if table.casefold() in text and column.casefold() in text
            }
            if names:
                made |= {(view.name, name) for name in _written_from(view, names, schema.dialect)}
        fresh = made - found - set(secrets)
        found |= fresh
    return found


def _written_from(view: TableSchema, names: set[str], dialect: str) -> Iterator[str]:
    """Yield the columns of a view that hold text computed from columns of some names."""
    texts = [column.name for column in view.columns if column.kind in ("text", "binary", "other")]
    try:
        if len(view.definition) > _LONGEST:
            raise SqlglotError
        statement = parse_statement(view.definition, dialect)
        selects = list(_outer_selects(statement))
        if not selects:
            raise SqlglotError
        tainted = _tainted_names(statement, names)
        tainted |= {
            column.name.casefold()
            for select in selects
            if len(select.selects) == len(view.columns)
            for output, column in zip(select.selects, view.columns, strict=True)
            if _shows(output, tainted)
        }
    except (SqlglotError, RecursionError):
        # What cannot be read is taken for the worst.
        yield from texts
        return
    yield from (name for name in texts if name.casefold() in tainted)


def _tainted_names(statement: exp.Expr, names: set[str]) -> set[str]:
    """Return names and aliases, at any depth, that stand for something computed from columns of some names."""
    tainted = set(names)
    aliases = list(statement.find_all(exp.Alias))
    while more := {each.alias.casefold() for each in aliases if _shows(each.this, tainted)} - tainted:
        tainted |= more
    return tainted


def _shows(expression: exp.Expr, names: set[str]) -> bool:
    """Whether a value shows something of columns of some names."""
    return any(
        column.name.casefold() in names and not _is_compared(column, expression)
        for column in expression.find_all(exp.Column)
    )


def _is_compared(column: exp.Column, within: exp.Expr) -> bool:
    node: exp.Expr | None = column
    while node is not None and node is not within:
        node = node.parent
        if isinstance(node, exp.Predicate | exp.Count | exp.Length):
            return True
    return False


def _outer_selects(statement: exp.Expr) -> Iterator[exp.Select]:
    """Yield the arms of the query that a view's definition ends in."""
    query = statement.expression if isinstance(statement, exp.Create) else statement
    while isinstance(query, exp.Subquery):
        query = query.this
    if isinstance(query, exp.SetOperation):
        yield from _outer_selects(query.this)
        yield from _outer_selects(query.expression)
    elif isinstance(query, exp.Select):
        yield query
