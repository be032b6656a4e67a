"""What a reader may wish to know of a query that is not wrong for it: orders and joins that bite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from sqlglot import exp

from ...database.schema import ColumnSchema
from ...database.text_forms import TextForm, filled_texts, text_form
from ..conditions import base_column, conjuncts, own_references
from ..findings import Finding
from ..scope import Resolution, Scope

PITFALLS = frozenset({"text_order", "padded_key", "lost_outer_rows"})
"""The kinds of these findings."""


def pitfall_findings(resolution: Resolution) -> Iterator[Finding]:
    """Doubts of the lowest rank; none of them says that a query is wrong."""
    for scope in resolution.scopes:
        yield from _text_order(scope, resolution)
        yield from _padded_keys(scope, resolution)
        yield from _lost_outer_rows(scope, resolution)


def _text_order(scope: Scope, resolution: Resolution) -> Iterator[Finding]:
    """Numbers and dates held as text, put in order or compared: '10' comes before '9'."""
    order = scope.select.args.get("order")
    terms = [term.this for term in order.expressions] if order is not None else []
    told: set[str] = set()
    for node in (*terms, *_compared(scope)):
        found = base_column(node, resolution)
        form = text_form(found[1]) if found is not None and found[0].owner is scope else ""
        place = resolution.text(node)
        if found is not None and form and place not in told and _misplaces(found[1], form):
            told.add(place)
            message = f"Should {place}, which holds {_HELD[form]}, be ordered and compared as what it means?"
            better = f"order and compare by CAST({place} AS REAL)" if form == "numbers" else ""
            yield Finding("text_order", "info", message, place, better)


def _misplaces(column: ColumnSchema, form: TextForm) -> bool:
    """Whether the texts that a column is known to hold go in another order than what they mean."""
    texts = sorted(text for text in filled_texts(column.samples) if re.search(r"\d", text))
    if all(re.fullmatch(r"\d+(:\d+)+", text) for text in texts):
        times = [[int(part) for part in text.split(":")] for text in texts]
        return times != sorted(times)
    if form in ("numbers", "signed"):
        numbers = [float(re.sub(r"[^\d.]", "", text)) * (-1 if re.search(r"[-(]", text) else 1) for text in texts]
        return numbers != sorted(numbers)
    return True


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
    """Columns compared of which one has blanks around all its texts, and the other around none."""
    for part in conjuncts(scope):
        for one, other in (
            ((part.this, part.expression), (part.expression, part.this)) if isinstance(part, exp.EQ) else ()
        ):
            padded, plain = _padded(one, resolution), _padded(other, resolution)
            if padded and all(padded) and plain and not any(plain):
                place = resolution.text(one)
                message = f"{place} holds texts with blanks around them, the column that it is compared with does not."
                yield Finding("padded_key", "info", message, resolution.text(part), f"compare with trim({place})")


def _padded(node: exp.Expr, resolution: Resolution) -> list[bool]:
    """Of each text that a column is known to hold, whether there are blanks around it."""
    found = base_column(node, resolution)
    samples = found[1].samples if found is not None else ()
    return [text != text.strip() for text in samples if isinstance(text, str)]


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
