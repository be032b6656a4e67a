"""Amounts before or after discounts, net or gross."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ..database.schema import ColumnSchema
from ..sql.explain.phrases import plain_name
from ..sql.scope import Scope, Source
from .query import Query, Rival, aggregates, column_of, parts

_DISCOUNT = frozenset({"discount", "rebate"})
_PRICE = frozenset({"price", "amount", "cost", "rate", "value", "fee"})
_AMOUNT = frozenset({"amount", "amt", "value", "sum", "total"})
_PERCENT = frozenset({"percent", "percentage", "pct", "rate"})
_SIDES = (("net", "gross"), ("excl", "incl"), ("excluding", "including"), ("before", "after"))


def net(query: Query) -> Iterator[Rival]:
    """Sums of prices with the discount that stands beside them taken off, and net for gross."""
    for scope in query.scopes:
        yield from _discounted(query, scope)
    yield from _other_side(query)


def _discounted(query: Query, scope: Scope) -> Iterator[Rival]:
    if query.said.has("discount", "gross", "list", "rebate", "current"):
        return
    priced = [node for node in aggregates(scope, exp.Sum, exp.Avg) if _of_price(query, scope, node)]
    sums = priced if all(isinstance(node.this, exp.Mul | exp.Paren) for node in priced) else []
    for source in scope.sources if sums else ():
        table = source.table
        for column in table.columns if table is not None else ():
            if column.kind != "number" or _DISCOUNT.isdisjoint(parts(column.name)):
                continue
            if not _AMOUNT.isdisjoint(parts(column.name)) or table is None or (table.name, column.name) in query.used:
                continue
            if (left := _left(source, column)) is None:
                continue
            copy = query.copy()
            for node in sums:
                inner = copy.of(node).this
                inner.replace(exp.Mul(this=exp.paren(inner.copy()), expression=exp.paren(left.copy())))
            what = plain_name(column.name).strip(" %")
            yield Rival("net", f"after the {what}", f"the {what} is not taken off", copy.sql)
            return


def _of_price(query: Query, scope: Scope, node: exp.Expr) -> bool:
    """Whether an aggregate is of prices."""
    found = (
        column for reference, _, column in query.references(scope) if reference.node.find_ancestor(type(node)) is node
    )
    return any(not _PRICE.isdisjoint(parts(column.name)) for column in found)


def _left(source: Source, column: ColumnSchema) -> exp.Expr | None:
    """The share that a discount leaves; None where it may be an amount."""
    numbers = [value for value in column.samples if isinstance(value, int | float) and not isinstance(value, bool)]
    if not numbers or min(numbers) < 0:
        return None
    share: exp.Expr = column_of(source, column.name)
    percent = "%" in column.name or not _PERCENT.isdisjoint(parts(column.name))
    if percent and 1 < max(numbers) <= 100:
        share = exp.Div(this=share, expression=exp.Literal.number("100.0"))
    elif "%" in column.name or max(numbers) > 1 or not any(0 < number < 1 for number in numbers):
        return None
    return exp.Sub(this=exp.Literal.number(1), expression=share)


def _other_side(query: Query) -> Iterator[Rival]:
    """A column named net read as the one beside it named gross, and the like."""
    for scope in query.scopes:
        for _reference, source, column in query.references(scope):
            twin = _twin(source, column)
            if twin is None or twin[1] in parts(column.name) & query.said.words or query.said.has(twin[1]):
                continue
            copy = query.copy()
            for other, held, named in query.references(scope):
                if held is source and named is column:
                    copy.of(other.node).set("this", exp.to_identifier(twin[0], quoted=True))
            shown, other_one = plain_name(column.name), plain_name(twin[0])
            yield Rival("net", f"by {other_one}", f"by {shown}", copy.sql)
            return


def _twin(source: Source, column: ColumnSchema) -> tuple[str, str] | None:
    """The column of the other side, and the word that this one's name has for its own."""
    names = parts(column.name)
    for pair in _SIDES:
        for own, other in (pair, pair[::-1]):
            if own not in names or source.table is None:
                continue
            wanted = names - {own} | {other}
            for held in source.table.columns:
                if parts(held.name) == wanted:
                    return held.name, own
    return None
