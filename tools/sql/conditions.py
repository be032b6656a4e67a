"""The conditions of a SELECT, one by one, and what they compare."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..database.schema import ColumnSchema
from .scope import Reference, Resolution, Scope, Source

_UNTYPED_AGGREGATES = frozenset({"total", "string_agg", "median", "percentile", "percentile_cont", "percentile_disc"})


def is_aggregate(node: exp.Expr) -> bool:
    """Whether an expression is a call of an aggregate function, among them those that sqlglot has no class for."""
    untyped = isinstance(node, exp.Anonymous) and node.name.lower() in _UNTYPED_AGGREGATES
    return untyped or isinstance(node, exp.AggFunc)


def conjuncts(scope: Scope) -> list[exp.Expr]:
    """What must hold for every row: the parts of WHERE, and of the ON of inner joins, that AND connects."""
    parts: list[exp.Expr] = []
    where = scope.select.args.get("where")
    if where is not None:
        parts += split(where.this)
    for source in scope.sources:
        if source.join is not None and source.join.side not in ("LEFT", "RIGHT", "FULL"):
            parts += join_conditions(source)
    return parts


def join_conditions(source: Source) -> list[exp.Expr]:
    """The parts of the ON that brought a source in."""
    on = source.join.args.get("on") if source.join is not None else None
    return split(on) if on is not None else []


def split(condition: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that AND connects, parentheses opened."""
    parts: list[exp.Expr] = []
    stack = [condition]
    while stack:
        part = stack.pop().unnest()
        if isinstance(part, exp.And):
            stack += [part.right, part.left]
        else:
            parts.append(part)
    return parts


def limit_count(query: exp.Expr) -> exp.Expr | None:
    """How many rows LIMIT or FETCH FIRST lets through; None where neither says."""
    limit = query.args.get("limit")
    return limit and (limit.args.get("expression") or limit.args.get("count"))


def own_references(part: exp.Expr, scope: Scope, resolution: Resolution) -> Iterator[Reference]:
    """References in an expression, in its sub-queries too, to what this SELECT reads."""
    for column in part.find_all(exp.Column):
        reference = resolution.at(column)
        if reference is not None and reference.owner is scope and reference.source is not None:
            yield reference


def base_column(node: exp.Expr, resolution: Resolution) -> tuple[Reference, ColumnSchema] | None:
    """The table column that an expression is, and nothing else; None if it is anything else."""
    reference = resolution.at(node.unnest())
    if reference is None or reference.kind != "column" or reference.source is None or reference.source.table is None:
        return None
    column = reference.source.table.column(reference.column)
    return (reference, column) if column is not None else None


def literal(node: exp.Expr, resolution: Resolution) -> str | float | None:
    """A literal's value, double-quoted strings and signed numbers included; None for any other expression."""
    node = node.unnest()
    if isinstance(node, exp.Neg):
        value = literal(node.this, resolution)
        return -value if isinstance(value, float) else None
    if isinstance(node, exp.Literal):
        if node.is_string:
            return node.name
        try:
            return float(node.name)
        except ValueError:
            return None
    reference = resolution.at(node)
    return reference.column if reference is not None and reference.kind == "string" else None


def operands(node: exp.Expr, resolution: Resolution) -> Iterator[tuple[tuple[Reference, ColumnSchema], exp.Expr]]:
    """Pairs of a table column and what it is compared with."""
    left = base_column(node.this, resolution)
    if isinstance(node, exp.In):
        yield from ((left, item) for item in node.expressions if left is not None)
    elif isinstance(node, exp.Between):
        yield from ((left, node.args[key]) for key in ("low", "high") if left is not None)
    elif left is not None:
        yield left, node.expression
    else:
        right = base_column(node.expression, resolution)
        if right is not None:
            yield right, node.this
