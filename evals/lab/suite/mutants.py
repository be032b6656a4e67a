"""Queries that are nearly a gold query: one thing changed in each."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ....tools.database.schema import Schema
from ....tools.errors import SQLParseError
from ....tools.sql.parse import parse

_COMPARISONS: dict[type[exp.Binary], tuple[type[exp.Binary], ...]] = {
    exp.GT: (exp.GTE, exp.LT),
    exp.GTE: (exp.GT, exp.LTE),
    exp.LT: (exp.LTE, exp.GT),
    exp.LTE: (exp.LT, exp.GTE),
    exp.EQ: (exp.NEQ,),
    exp.NEQ: (exp.EQ,),
    exp.And: (exp.Or,),
    exp.Or: (exp.And,),
}
_AGGREGATES: dict[type[exp.AggFunc], type[exp.AggFunc]] = {
    exp.Max: exp.Min,
    exp.Min: exp.Max,
    exp.Avg: exp.Sum,
    exp.Sum: exp.Avg,
}
_COMPOUNDS: dict[type[exp.SetOperation], tuple[type[exp.SetOperation], ...]] = {
    exp.Union: (exp.Intersect,),
    exp.Intersect: (exp.Union, exp.Except),
    exp.Except: (exp.Intersect, exp.Union),
}


def generate_query_mutants(sql: str, schema: Schema) -> list[str]:
    """Return every variant of a query with one small change; empty if parsing fails.

    The changes are those that predictions get wrong: comparisons, constants, connectives, conditions left out,
    aggregates, order, limits, DISTINCT, compounds, kinds of join, output columns.
    """
    try:
        tree = parse(sql).tree
    except SQLParseError:
        return []
    found: dict[str, None] = {}
    for place, node in enumerate(tree.walk()):
        for changed in _mutate_node(node, schema):
            copy = tree.copy()
            target = next(other for number, other in enumerate(copy.walk()) if number == place)
            if changed is None:
                target.pop()
            elif target is copy:
                copy = changed
            else:
                target.replace(changed)
            found[copy.sql("sqlite")] = None
    found.pop(tree.sql("sqlite"), None)
    return list(found)


def _mutate_node(node: exp.Expr, schema: Schema) -> Iterator[exp.Expr | None]:
    """Yield mutated replacements for a query node; None removes the node."""
    parent = node.parent
    if isinstance(node, exp.Binary) and not isinstance(node.find_ancestor(exp.Join, exp.Select), exp.Join):
        for kind in _COMPARISONS.get(type(node), ()):
            yield kind(this=node.this.copy(), expression=node.expression.copy())
        if isinstance(node, exp.And):
            yield node.this.copy()
            yield node.expression.copy()
    if isinstance(node, exp.AggFunc) and type(node) in _AGGREGATES:
        yield _AGGREGATES[type(node)](this=node.this.copy())
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Distinct):
        yield exp.Count(this=node.this.expressions[0].copy())
    elif isinstance(node, exp.Count) and isinstance(node.this, exp.Column):
        yield exp.Count(this=exp.Distinct(expressions=[node.this.copy()]))
    if isinstance(node, exp.SetOperation):
        for kind in _COMPOUNDS.get(type(node), ()):
            yield kind(this=node.this.copy(), expression=node.expression.copy(), distinct=True)
        yield node.this.copy()
    # If only membership is looked at, repeated rows change nothing.
    membership = isinstance(parent, exp.Select) and isinstance(parent.parent, exp.SetOperation | exp.In | exp.Subquery)
    if isinstance(node, exp.Distinct) and not membership:
        yield None
    if isinstance(node, exp.Where | exp.Having):
        yield None
    if isinstance(node, exp.Order) and parent is not None and parent.args.get("limit"):
        yield None
    if isinstance(node, exp.Not):
        yield node.this.copy()
    if isinstance(node, exp.In) and not isinstance(parent, exp.Not):
        yield exp.Not(this=node.copy())
    if isinstance(node, exp.Ordered):
        yield exp.Ordered(this=node.this.copy(), desc=not node.args.get("desc"))
    if isinstance(node, exp.Join) and _can_join_lose_rows(node, schema):
        left = node.copy()
        left.set("side", "LEFT")
        yield left
    if isinstance(node, exp.Literal):
        yield from _mutate_literal(node)
    if isinstance(node, exp.Column) and isinstance(parent, exp.Select):
        yield from _mutate_column(node, schema)


def _can_join_lose_rows(join: exp.Join, schema: Schema) -> bool:
    """Whether an inner join may drop rows that an outer join would keep.

    Only a last join to the referring side of a foreign key does, if no WHERE drops them in any case.
    """
    select = join.parent
    if join.side or not isinstance(select, exp.Select) or select.args.get("where"):
        return False
    is_last = select.args["joins"][-1] is join
    return is_last and any(key.table.lower() == join.this.name.lower() for key in schema.foreign_keys)


def _mutate_literal(node: exp.Literal) -> Iterator[exp.Expr]:
    text = node.name
    if node.is_string and isinstance(node.parent, exp.Like):
        if text.startswith("%"):
            yield exp.Literal.string(text.removeprefix("%"))
        if text.endswith("%"):
            yield exp.Literal.string(text.removesuffix("%"))
    elif node.is_string:
        yield exp.Literal.string(text + "x")
    elif node.is_int:
        yield exp.Literal.number(int(text) + 1)
        if not isinstance(node.parent, exp.Limit):
            yield exp.Literal.number(int(text) - 1)


def _mutate_column(node: exp.Column, schema: Schema) -> Iterator[exp.Expr]:
    """Yield up to two other columns of the same table and kind."""
    select = node.find_ancestor(exp.Select)
    names = {table.alias_or_name.lower(): table.name for table in select.find_all(exp.Table)} if select else {}
    for name in [names[node.table.lower()]] if node.table.lower() in names else names.values():
        table = schema.table(name)
        column = table.column(node.name) if table else None
        if table is None or column is None:
            continue
        others = [other for other in table.columns if other.kind == column.kind and other is not column]
        for other in others[:2]:
            changed = node.copy()
            changed.set("this", exp.to_identifier(other.name, quoted=True))
            yield changed
        return
