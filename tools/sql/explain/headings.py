"""Headings in words for result columns that have none but their expression, such as `COUNT(*)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ...database.schema import Schema
from ...words import plain_name, plural
from ..query import Query
from ..scope import Scope
from ..untrusted import analysis_or
from .explainer import Explainer

_LONGEST = 60


@dataclass(frozen=True)
class Heading:
    """What a result column is called.

    Attributes:
        words: For people: its own name where it has one.
        counted: What it counts, as a noun for many (`customers`); empty where it counts nothing that has a name.
    """

    words: str
    counted: str = ""


def headings(sql: str, columns: Sequence[str], schema: Schema) -> tuple[Heading, ...]:
    """A heading for each column of a query's result.

    Args:
        sql: One query in the schema's dialect; of what cannot be parsed, the columns keep their names.
        columns: As the database names them.
        schema: The database's schema.
    """
    return _headings(sql, columns, schema) or tuple(map(Heading, columns))


@analysis_or(())
def _headings(sql: str, columns: Sequence[str], schema: Schema) -> tuple[Heading, ...]:
    query = Query.of(sql, schema.dialect, schema)
    outputs = query.tree.expressions
    if not isinstance(query.tree, exp.Select) or len(outputs) != len(columns) or query.tree.is_star:
        return ()
    return tuple(_heading(item, name, query) for item, name in zip(outputs, columns, strict=True))


def _heading(item: exp.Expr, name: str, query: Query) -> Heading:
    node = item.unalias()
    counted = _counted(node, query) if isinstance(node, exp.Count) else ""
    if isinstance(item, exp.Alias) or isinstance(node, exp.Column):
        return Heading(name, counted)
    words = f"number of {counted}" if counted else Explainer(query).say(node).removeprefix("the ")
    return Heading(name if "`" in words or len(words) > _LONGEST else words, counted)


def _row_table(scope: Scope, query: Query) -> str:
    """Return the table that has a row for each row of FROM; empty if there is none.

    Of joined tables it is the one that leads to all others by foreign keys: a row of it meets one of each.
    """
    tables = [source.table.name for source in scope.sources if source.table]
    outer = any(source.side for source in scope.sources)
    if len(tables) < len(scope.sources) or len(set(tables)) < len(tables) or (len(tables) > 1 and outer):
        return ""
    keys = query.schema.foreign_keys
    led_to = {key.ref_table for key in keys if key.table in tables and key.table != key.ref_table}
    first = [table for table in tables if table not in led_to]
    return first[0] if len(first) == 1 else ""


def _counted(node: exp.Count, query: Query) -> str:
    """Return the rows of which table are counted, as a noun; empty if a join or a sub-query gives the rows."""
    inner, scope = node.this, query.scope(query.tree)
    assert scope is not None
    if inner is None or isinstance(inner, exp.Star):
        table = _row_table(scope, query)
        return plural(plain_name(table)) if table else ""
    if isinstance(inner, exp.Distinct):
        inner = inner.expressions[0] if len(inner.expressions) == 1 else inner
    column = query.column(inner)
    if column is None or column.scope is not scope:
        return ""
    alone = isinstance(node.this, exp.Distinct) or len(scope.sources) == 1
    is_key = column.table.primary_key == (column.schema.name,)
    return plural(plain_name(column.table.name)) if is_key and alone else ""
