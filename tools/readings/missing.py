"""Rows whose value is NULL or an empty text: in or out."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..database.schema import ColumnSchema
from ..sql.conditions import base_column, conjuncts
from ..sql.explain.phrases import plain_name
from ..sql.scope import Scope, Source
from .query import Query, Rival, aggregates, column_of, things

_SETTLING = ("known", "unknown", "missing", "recorded", "blank", "empty", "null")


def missing(query: Query) -> Iterator[Rival]:
    """The query with rows whose value is missing, where a condition drops them, or without, where they count."""
    if query.said.has(*_SETTLING):
        return
    for scope in query.scopes:
        yield from _denied(query, scope)
        yield from _blank(query, scope)


def _denied(query: Query, scope: Scope) -> Iterator[Rival]:
    """Conditions that something is not so, which hold for no NULL; and IS NULL where there are empty texts too."""
    tested = {
        (held.name, found[1].name)
        for node in scope.select.find_all(exp.Is)
        if (found := base_column(node.this, query.resolution)) is not None
        and (held := found[0].source.table if found[0].source else None) is not None
    }
    for part in conjuncts(scope):
        denied = part.this.unnest() if isinstance(part, exp.Not) else part
        node = denied.this if isinstance(denied, exp.NEQ | exp.In | exp.Like | exp.Is | exp.EQ) else None
        found = base_column(node, query.resolution) if node is not None else None
        if found is None or found[0].source is None or found[0].source.table is None or found[0].owner is not scope:
            continue
        source, column = found[0].source, found[1]
        if isinstance(part, exp.Is) and isinstance(part.expression, exp.Null):
            if column.kind == "text" and "" in column.samples:
                yield _or(query, source, column, part, exp.Literal.string(""), "empty")
            continue
        if isinstance(part, exp.EQ) and isinstance(part.expression, exp.Literal) and part.expression.name == "":
            if _may_lack(column):
                yield _or(query, source, column, part, exp.Null(), "NULL")
            continue
        is_denied = isinstance(part, exp.NEQ) or bool(part.args.get("negate"))
        is_denied = is_denied or (isinstance(part, exp.Not) and isinstance(denied, exp.In | exp.Like | exp.EQ))
        compares = not isinstance(getattr(denied, "expression", None), exp.Column) and not denied.args.get("query")
        known = (source.table.name if source.table else "", column.name) in tested
        if is_denied and compares and not known and _may_lack(column):
            yield _or(query, source, column, part, exp.Null(), "missing")


def _may_lack(column: ColumnSchema) -> bool:
    return column.nulls is True and not column.not_null


def _or(query: Query, source: Source, column: ColumnSchema, part: exp.Expr, what: exp.Expr, word: str) -> Rival:
    copy = query.copy()
    also: exp.Expr = column_of(source, column.name)
    also = exp.Is(this=also, expression=what) if isinstance(what, exp.Null) else exp.EQ(this=also, expression=what)
    node = copy.of(part)
    node.replace(exp.paren(exp.or_(node.copy(), also)))
    table = source.table
    rows, name = (things(table) if table is not None else "rows"), plain_name(column.name)
    return Rival("missing", f"with {rows} whose {name} is {word}", f"{rows} whose {name} is {word} are out", copy.sql)


def _blank(query: Query, scope: Scope) -> Iterator[Rival]:
    """Averages and counts of a column in which '' stands for none."""
    for node in aggregates(scope, exp.Avg, exp.Count, exp.Min):
        inner = node.this
        inner = inner.expressions[0] if isinstance(inner, exp.Distinct) and len(inner.expressions) == 1 else inner
        inner = inner.this if isinstance(inner, exp.Cast) else inner
        found = base_column(inner, query.resolution) if inner is not None else None
        if found is None or found[0].source is None or found[0].owner is not scope:
            continue
        source, column = found[0].source, found[1]
        if column.kind != "text" or "" not in column.samples or _is_filtered(query, scope, column):
            continue
        copy = query.copy()
        condition = exp.NEQ(this=column_of(source, column.name), expression=exp.Literal.string(""))
        copy.of(scope.select).where(condition, copy=False)
        name = plain_name(column.name)
        yield Rival("missing", f"without rows whose {name} is empty", f"an empty {name} counts too", copy.sql)
        return


def _is_filtered(query: Query, scope: Scope, column: ColumnSchema) -> bool:
    return any(named is column and reference.clause == "where" for reference, _, named in query.references(scope))
