"""What a reader may wish to know of a query that is not wrong for it: orders and joins that bite."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sqlglot import exp

from ...database.schema import ColumnSchema
from ...database.text_forms import TextForm, text_form
from ..conditions import base_column, conjuncts, limit_count, own_references
from ..findings import Finding
from ..scope import Resolution, Scope

PITFALLS = frozenset({"unordered_limit", "text_order", "padded_key", "lost_outer_rows"})
"""The kinds of these findings."""


def pitfall_findings(resolution: Resolution) -> Iterator[Finding]:
    """Doubts of the lowest rank; none of them says that a query is wrong."""
    for scope in resolution.scopes:
        yield from _unordered_limit(scope, resolution)
        yield from _text_order(scope, resolution)
        yield from _padded_keys(scope, resolution)
        yield from _lost_outer_rows(scope, resolution)


def _unordered_limit(scope: Scope, resolution: Resolution) -> Iterator[Finding]:
    select = scope.select
    if limit_count(select) is None or select.args.get("order") is not None or scope.parent is not None:
        return
    if not scope.sources or select.find_ancestor(exp.Exists):
        return
    place = resolution.text(select.args["limit"]).strip()
    yield Finding("unordered_limit", "info", f"{place} without ORDER BY keeps any rows.", place, "order the rows first")


def _text_order(scope: Scope, resolution: Resolution) -> Iterator[Finding]:
    """Numbers and dates held as text, put in order or compared: '10' comes before '9'."""
    order = scope.select.args.get("order")
    terms = [term.this for term in order.expressions] if order is not None else []
    told: set[str] = set()
    for node in (*terms, *_compared(scope)):
        found = base_column(node, resolution)
        form = text_form(found[1]) if found is not None and found[0].owner is scope else ""
        place = resolution.text(node)
        if form and place not in told:
            told.add(place)
            message = f"Should {place}, which holds {_HELD[form]}, be ordered and compared as what it means?"
            better = f"order and compare by CAST({place} AS REAL)" if form == "numbers" else ""
            yield Finding("text_order", "info", message, place, better)


_HELD: Mapping[TextForm, str] = {
    "numbers": "numbers as text, where '10' comes before '9'",
    "signed": "numbers as text with signs or separators, which go letter by letter and are cut off by a cast",
    "dates": "dates as text in a form that does not sort by date",
    "mixed_dates": "dates as text in several forms, which do not sort by date",
}


def _compared(scope: Scope) -> Iterator[exp.Expr]:
    """What is compared by its order; beside a number, a text is another check's affair."""
    for node in scope.select.find_all(exp.Max, exp.Min, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between):
        sides = [side for name in ("this", "expression", "low", "high") if (side := node.args.get(name)) is not None]
        if not any(isinstance(side, exp.Literal) and not side.is_string for side in sides):
            yield from sides


def _padded_keys(scope: Scope, resolution: Resolution) -> Iterator[Finding]:
    """Columns compared of which one holds texts with blanks around them and the other does not."""
    for part in conjuncts(scope):
        if not isinstance(part, exp.EQ):
            continue
        left, right = base_column(part.left, resolution), base_column(part.right, resolution)
        if left is None or right is None or _padded(left[1]) == _padded(right[1]):
            continue
        if left[1].samples and right[1].samples:
            padded = resolution.text(part.left if _padded(left[1]) else part.right)
            message = f"{padded} holds texts with blanks around them, the column that it is compared with does not."
            yield Finding("padded_key", "info", message, resolution.text(part), f"compare with trim({padded})")


def _padded(column: ColumnSchema) -> bool:
    return any(isinstance(sample, str) and sample != sample.strip() for sample in column.samples)


def _lost_outer_rows(scope: Scope, resolution: Resolution) -> Iterator[Finding]:
    """A condition in WHERE that no row passes for which the LEFT JOIN found nothing."""
    outer = {id(source): source for source in scope.sources if source.join is not None and source.join.side == "LEFT"}
    where = scope.select.args.get("where")
    if not outer or where is None:
        return
    for part in conjuncts(scope):
        if not isinstance(part, exp.EQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.In | exp.Between | exp.Like):
            continue
        if part.find_ancestor(exp.Where) is not where or part.find(exp.Coalesce, exp.Case, exp.Query) is not None:
            continue
        for reference in own_references(part, scope, resolution):
            source = outer.get(id(reference.source))
            if source is not None:
                place = resolution.text(part)
                message = f"{place} drops the rows for which the LEFT JOIN with {source.label} finds nothing."
                yield Finding("lost_outer_rows", "info", message, place, "put the condition into ON")
                break
