"""Remarks about a query that the database accepts: conditions that never hold, and orders and joins that surprise."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product

from sqlglot import exp

from ...database.column_kinds import TextForm, filled_texts, text_form
from ...database.schema import ColumnSchema
from ...words import listed
from ..dialects import quote_text
from ..findings import ColumnValues, Finding
from ..query import Query, TableColumn
from ..scope import Scope, SourceColumn

_DAY = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")


def accepted_findings(query: Query, values: ColumnValues | None) -> Iterator[Finding]:
    """Yield findings about conditions that never hold, then doubts; without values, texts are not checked."""
    for scope in query.scopes:
        yield from _contradictions(scope, query)
        for part in query.conjuncts(scope):
            if isinstance(part, exp.EQ | exp.NEQ) and isinstance(part.expression.unnest(), exp.Null):
                better = f"{query.text(part.this)} IS {'NOT ' if isinstance(part, exp.NEQ) else ''}NULL"
                place = query.text(part)
                message = f"{place} never holds: NULL equals nothing."
                yield Finding("always_empty", "error", message, place, f"write {better}")
            elif isinstance(part, exp.Between):
                yield from _empty_range(part, query)
            elif isinstance(part, exp.EQ | exp.In) and values is not None:
                yield from _absent(part, query, values)
    for scope in query.scopes:
        yield from _text_order(scope, query)
        yield from _padded_keys(scope, query)
        yield from _lost_outer_rows(scope, query)


def _absent(part: exp.Expr, query: Query, values: ColumnValues) -> Iterator[Finding]:
    """Yield texts that no row has, if the column holds near ones, or holds numbers."""
    compared = list(query.operands(part))
    texts = [query.literal(operand) for _, operand in compared]
    if not compared or part.args.get("query") is not None:
        return
    column = compared[0][0].schema
    table = compared[0][0].table.name
    sought = [text for text in texts if isinstance(text, str)]
    # If one of a list is there, the others may be there to be sure of all spellings; an empty text is to find none.
    if len(sought) < len(texts) or any(not text.strip() or values.holds(table, column.name, text) for text in sought):
        return
    for text in sought:
        message, place = f"No row of {table} has {quote_text(text)} in {column.name}", query.text(part)
        if column.kind == "number":
            # A declared type may not bind: all that is known of the contents must be numbers.
            numbers = column.samples and not any(isinstance(sample, str) for sample in column.samples)
            if numbers and not _is_number(text):
                null = "write IS NULL for missing values" if text.lower() in ("null", "none") else ""
                yield Finding("type_mismatch", "warning", f"{message}, which holds numbers.", place, null, proof=True)
        elif near := values.nearest(table, column.name, text):
            advice = f"use {listed([quote_text(other) for other in near], 'or')}"
            yield Finding("unknown_value", "warning", f"{message}.", place, advice)


def _empty_range(node: exp.Between, query: Query) -> Iterator[Finding]:
    low, high = (query.literal(node.args[key]) for key in ("low", "high"))
    turned = isinstance(low, float) and isinstance(high, float) and low > high
    if isinstance(low, str) and isinstance(high, str):
        # Other texts are compared by a collation, or as what they stand for: '9' comes before '10' among numbers.
        turned = bool(_DAY.match(low) and _DAY.match(high)) and low[:10] > high[:10]
    if turned and not node.args.get("symmetric"):
        place = query.text(node)
        yield Finding("always_empty", "error", f"{place} never holds: its bounds are the wrong way round.", place)


def _contradictions(scope: Scope, query: Query) -> Iterator[Finding]:
    """Yield equalities with two values of one column."""
    equal: dict[SourceColumn, tuple[str | float, exp.Expr]] = {}
    for part in query.conjuncts(scope):
        for column, operand in query.operands(part) if isinstance(part, exp.EQ) else ():
            value = query.literal(operand)
            if value is None:
                continue
            before = equal.setdefault(column.place, (value, part))
            if _differ(before[0], value):
                place = f"{query.text(before[1])} AND {query.text(part)}"
                message = f"{place} never holds: one row has one {column.schema.name}."
                advice = "use OR or IN for either, or INTERSECT for both"
                yield Finding("always_empty", "error", message, place, advice)
    yield from _empty_bounds(scope, query)


def _empty_bounds(scope: Scope, query: Query) -> Iterator[Finding]:
    """Yield pairs of bounds of one column that no number or date lies between."""
    bounds: dict[SourceColumn, list[tuple[bool, bool, str | float, exp.Expr]]] = {}
    for part in query.conjuncts(scope):
        if not isinstance(part, exp.GT | exp.GTE | exp.LT | exp.LTE):
            continue
        for column, operand in query.operands(part):
            value = query.literal(operand)
            if isinstance(value, float) or (isinstance(value, str) and _DAY.match(value)):
                lower = isinstance(part, exp.GT | exp.GTE) == (operand is part.expression)
                entry = lower, isinstance(part, exp.GT | exp.LT), value, part
                bounds.setdefault(column.place, []).append(entry)
    for found in bounds.values():
        for one, other in product([one for one in found if one[0]], [one for one in found if not one[0]]):
            if _cross(one[2], other[2], strict=one[1] or other[1]):
                first, second = (one, other) if found.index(one) < found.index(other) else (other, one)
                place = f"{query.text(first[3])} AND {query.text(second[3])}"
                # People are told; what the papers feed back to a model stays as it was.
                yield Finding("always_empty", "info", f"{place} never holds: nothing lies between.", place)


def _cross(low: str | float, high: str | float, *, strict: bool) -> bool:
    """Whether a lower bound is above an upper one, or equal where one of them is out."""
    if isinstance(low, str) and isinstance(high, str):
        return low[:10] > high[:10] or (strict and low == high)
    return isinstance(low, float) and isinstance(high, float) and (low > high or (strict and low == high))


def _differ(one: str | float, other: str | float) -> bool:
    if isinstance(one, str) and isinstance(other, str):
        return one.lower() != other.lower()  # the column's collation may ignore case
    return type(one) is type(other) and one != other


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _text_order(scope: Scope, query: Query) -> Iterator[Finding]:
    """Yield numbers and dates held as text that are put in order or compared: '10' comes before '9'."""
    order = scope.select.args.get("order")
    terms = [term.this for term in order.expressions] if order is not None else []
    places: set[str] = set()
    for node in (*terms, *_compared(scope)):
        column = query.column(node)
        form = text_form(column.schema) if column is not None and column.scope is scope else ""
        if column is None or not form or not _misplaces(column.schema, form):
            continue
        if (place := query.text(node)) not in places:
            places.add(place)
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
    """Yield what is compared by its order; beside a number, a text is another check's affair."""
    for node in scope.select.find_all(exp.Max, exp.Min, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between):
        sides = [side for name in ("this", "expression", "low", "high") if (side := node.args.get(name)) is not None]
        if not any(isinstance(side, exp.Literal) and not side.is_string for side in sides):
            yield from sides


def _padded_keys(scope: Scope, query: Query) -> Iterator[Finding]:
    """Yield compared columns of which one has blanks around all its texts, and the other around none."""
    for part in query.conjuncts(scope):
        sides = (part.this, part.expression) if isinstance(part, exp.EQ) else ()
        for one, other in (sides, sides[::-1]) if sides else ():
            padded, plain = _padded(query.column(one)), _padded(query.column(other))
            if padded and all(padded) and plain and not any(plain):
                place = query.text(one)
                message = f"{place} holds texts with blanks around them, the column that it is compared with does not."
                yield Finding("padded_key", "info", message, query.text(part), f"compare with trim({place})")


def _padded(column: TableColumn | None) -> list[bool]:
    """Return whether there are blanks around each text that a column is known to hold."""
    samples = column.schema.samples if column is not None else ()
    return [text != text.strip() for text in samples if isinstance(text, str)]


def _lost_outer_rows(scope: Scope, query: Query) -> Iterator[Finding]:
    """Yield conditions in WHERE that no row passes for which the LEFT JOIN finds nothing."""
    outer = {id(source) for source in scope.sources if source.side == "LEFT"}
    for condition in query.conditions(scope) if outer else ():
        part = condition.node
        if condition.clause != "where" or part.find(exp.Coalesce, exp.Case, exp.Query) is not None:
            continue
        if not isinstance(part, exp.EQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.In | exp.Between | exp.Like):
            continue
        source = next((source for source in query.sources_in(part, scope) if id(source) in outer), None)
        if source is not None:
            place = query.text(part)
            message = f"{place} drops the rows for which the LEFT JOIN with {source.label} finds nothing."
            yield Finding("lost_outer_rows", "info", message, place, "put the condition into ON")
