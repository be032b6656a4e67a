"""Headings in words for result columns that have none but their expression, such as `COUNT(*)`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ...database.schema import Schema
from ...stemming import plural
from ..parse import parse
from ..resolve import resolve
from ..scope import Resolution, Scope
from ..untrusted import analysis_or
from .phrases import plain_name
from .query import Explainer

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
    tree = parse(sql, schema.dialect).tree
    if not isinstance(tree, exp.Select) or len(tree.expressions) != len(columns) or tree.is_star:
        return ()
    resolution = resolve(tree, schema)
    scope = next(scope for scope in resolution.scopes if scope.select is tree)
    explainer = Explainer(resolution, schema.foreign_keys)
    return tuple(
        _heading(item, name, scope, resolution, explainer, schema)
        for item, name in zip(tree.expressions, columns, strict=True)
    )


def _heading(
    item: exp.Expr, name: str, scope: Scope, resolution: Resolution, explainer: Explainer, schema: Schema
) -> Heading:
    node = item.unalias()
    counted = _counted(node, scope, resolution, schema) if isinstance(node, exp.Count) else ""
    if isinstance(item, exp.Alias) or isinstance(node, exp.Column):
        return Heading(name, counted)
    words = f"number of {counted}" if counted else explainer.speaker.say(node).removeprefix("the ")
    return Heading(name if "`" in words or len(words) > _LONGEST else words, counted)


def _rows_of(scope: Scope, schema: Schema) -> str:
    """The table that has a row for each row of FROM; empty where there is none.

    Of joined tables it is the one that leads to all others by foreign keys: a row of it meets one of each.
    """
    tables = [source.table.name for source in scope.sources if source.table]
    outer = any(source.join is not None and source.join.side for source in scope.sources)
    if len(tables) < len(scope.sources) or len(set(tables)) < len(tables) or (len(tables) > 1 and outer):
        return ""
    led_to = {key.ref_table for key in schema.foreign_keys if key.table in tables and key.table != key.ref_table}
    first = [table for table in tables if table not in led_to]
    return first[0] if len(first) == 1 else ""


def _counted(node: exp.Count, scope: Scope, resolution: Resolution, schema: Schema) -> str:
    """The rows of which table are counted, as a noun; empty where a join or a sub-query gives the rows."""
    inner = node.this
    if inner is None or isinstance(inner, exp.Star):
        table = _rows_of(scope, schema)
        return plural(plain_name(table)) if table else ""
    if isinstance(inner, exp.Distinct):
        inner = inner.expressions[0] if len(inner.expressions) == 1 else inner
    reference = resolution.at(inner)
    source = reference.source if reference else None
    if reference is None or source is None or source.table is None or reference.owner is not scope:
        return ""
    key = [column.name for column in source.table.columns if column.primary_key]
    alone = isinstance(node.this, exp.Distinct) or len(scope.sources) == 1
    return plural(plain_name(source.table.name)) if key == [reference.column] and alone else ""
