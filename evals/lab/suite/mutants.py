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


def mutants(sql: str, schema: Schema) -> list[str]:
    """Every query that one small change makes of a query; none where it cannot be parsed.

    The changes are those that predictions get wrong: comparisons, constants, connectives, conditions left out,
    aggregates, order, limits, DISTINCT, compounds, kinds of join, output columns.
    """
    try:
        tree = parse(sql).tree
    except SQLParseError:
        return []
    original = tree.sql("sqlite")
    found: dict[str, None] = {}
    for place, node in enumerate(tree.walk()):
        for changed in _changes(node, schema):
            found[_replaced(tree, place, changed)] = None
    found.pop(original, None)
    return list(found)


def _replaced(tree: exp.Expr, place: int, changed: exp.Expr | None) -> str:
    """The query with the node at a place of the walk replaced, or taken out."""
    copy = tree.copy()
    target = next(node for number, node in enumerate(copy.walk()) if number == place)
    if target is copy:
        return "" if changed is None else changed.sql("sqlite")
    if changed is None:
        target.pop()
    else:
        target.replace(changed)
    return copy.sql("sqlite")


def _changes(node: exp.Expr, schema: Schema) -> Iterator[exp.Expr | None]:
    """What may replace a node; None to leave it out."""
    if isinstance(node, exp.Binary) and not isinstance(node.find_ancestor(exp.Join, exp.Select), exp.Join):
        yield from (
            kind(this=node.this.copy(), expression=node.expression.copy()) for kind in _COMPARISONS.get(type(node), ())
        )
        if isinstance(node, exp.And):
            yield node.this.copy()
            yield node.expression.copy()
    if isinstance(node, exp.AggFunc) and type(node) in _AGGREGATES:
        yield _AGGREGATES[type(node)](this=node.this.copy())
    if isinstance(node, exp.Count):
        yield from _counts(node)
    if isinstance(node, exp.SetOperation):
        yield from _compounds(node)
    if isinstance(node, exp.Where | exp.Having) or _matters(node):
        yield None
    if isinstance(node, exp.Not):
        yield node.this.copy()
    if isinstance(node, exp.In) and not isinstance(node.parent, exp.Not):
        yield exp.Not(this=node.copy())
    if isinstance(node, exp.Ordered):
        yield exp.Ordered(this=node.this.copy(), desc=not node.args.get("desc"))
    if isinstance(node, exp.Join) and _may_lose_rows(node, schema):
        left = node.copy()
        left.set("side", "LEFT")
        yield left
    if isinstance(node, exp.Literal):
        yield from _constants(node)
    if isinstance(node, exp.Column) and isinstance(node.parent, exp.Select):
        yield from _columns(node, schema)


def _matters(node: exp.Expr) -> bool:
    """Whether taking out a DISTINCT or an ORDER BY can change the result: not where only membership is looked at."""
    if isinstance(node, exp.Distinct):
        select = node.parent
        return not (
            isinstance(select, exp.Select) and isinstance(select.parent, exp.SetOperation | exp.In | exp.Subquery)
        )
    return isinstance(node, exp.Order) and node.parent is not None and bool(node.parent.args.get("limit"))


def _may_lose_rows(join: exp.Join, schema: Schema) -> bool:
    """Whether a join drops rows that an outer one would keep.

    Only a last join to the referring side of a foreign key does, where no WHERE drops them in any case.
    """
    select = join.parent
    if (
        join.side
        or not isinstance(select, exp.Select)
        or select.args.get("where")
        or select.args["joins"][-1] is not join
    ):
        return False
    return any(key.table.lower() == join.this.name.lower() for key in schema.foreign_keys)


def _counts(node: exp.Count) -> Iterator[exp.Expr]:
    inner = node.this
    if isinstance(inner, exp.Distinct):
        yield exp.Count(this=inner.expressions[0].copy())
    elif isinstance(inner, exp.Column):
        yield exp.Count(this=exp.Distinct(expressions=[inner.copy()]))


def _compounds(node: exp.SetOperation) -> Iterator[exp.Expr]:
    for kind in _COMPOUNDS.get(type(node), ()):
        yield kind(this=node.this.copy(), expression=node.expression.copy(), distinct=True)
    yield node.this.copy()


def _constants(node: exp.Literal) -> Iterator[exp.Expr]:
    if node.is_string:
        text = node.name
        if isinstance(node.parent, exp.Like):
            if text.startswith("%"):
                yield exp.Literal.string(text.removeprefix("%"))
            if text.endswith("%"):
                yield exp.Literal.string(text.removesuffix("%"))
        else:
            yield exp.Literal.string(text + "x")
    elif node.is_int:
        yield exp.Literal.number(int(node.name) + 1)
        if not isinstance(node.parent, exp.Limit):
            yield exp.Literal.number(int(node.name) - 1)


def _columns(node: exp.Column, schema: Schema) -> Iterator[exp.Expr]:
    """Another column of the same kind, of the same table."""
    select = node.find_ancestor(exp.Select)
    names = {table.alias_or_name.lower(): table.name for table in select.find_all(exp.Table)} if select else {}
    tables = [names[node.table.lower()]] if node.table.lower() in names else list(names.values())
    for name in tables:
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
