"""Findings about a valid query: conditions that never hold, and values that no row has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from sqlglot import exp

from ...words import join_words, match_time
from ..dialects import quote_string_literal
from ..findings import ColumnValueLookup, Finding
from ..query import Query
from ..scope import Scope, SourceColumn


def find_query_pitfalls(query: Query, values: ColumnValueLookup | None) -> Iterator[Finding]:
    """Yield findings on conditions that are never true and on texts that no row has."""
    for scope in query.scopes:
        yield from _find_contradictory_conditions(scope, query)
        for part in query.list_required_conditions(scope):
            if isinstance(part, exp.EQ | exp.NEQ) and isinstance(part.expression.unnest(), exp.Null):
                better = f"{query.text(part.this)} IS {'NOT ' if isinstance(part, exp.NEQ) else ''}NULL"
                place = query.text(part)
                message = f"{place} never holds: NULL equals nothing."
                yield Finding("always_empty", "error", message, place, f"write {better}")
            elif isinstance(part, exp.Between):
                yield from _check_between_bounds(part, query)
            elif isinstance(part, exp.EQ | exp.In) and values is not None:
                yield from _find_absent_values(part, query, values)


def _find_absent_values(part: exp.Expr, query: Query, values: ColumnValueLookup) -> Iterator[Finding]:
    """Yield findings on texts that no row has, if the column has similar texts or numbers."""
    comparisons = query.iterate_column_comparisons(part)
    texts = [query.literal(operand) for _, operand in comparisons]
    if not comparisons or part.args.get("query") is not None:
        return
    column = comparisons[0][0].schema
    table = comparisons[0][0].table.name
    sought = [text for text in texts if isinstance(text, str)]
    # If one of a list is there, the others may be there to be sure of all spellings; an empty text is to find none.
    if len(sought) < len(texts) or any(not text.strip() or values.holds(table, column.name, text) for text in sought):
        return
    for text in sought:
        message, place = f"No row of {table} has {quote_string_literal(text)} in {column.name}", query.text(part)
        if column.kind == "number":
            # A declared type may not bind: all that is known of the contents must be numbers.
            numbers = column.samples and not any(isinstance(sample, str) for sample in column.samples)
            if numbers and not _is_numeric_text(text):
                null = "write IS NULL for missing values" if text.lower() in ("null", "none") else ""
                yield Finding("type_mismatch", "warning", f"{message}, which holds numbers.", place, null, proof=True)
        elif near := values.nearest(table, column.name, text):
            advice = f"use {join_words([quote_string_literal(other) for other in near], 'or')}"
            yield Finding("unknown_value", "warning", f"{message}.", place, advice)


def _check_between_bounds(node: exp.Between, query: Query) -> Iterator[Finding]:
    low, high = (query.literal(node.args[key]) for key in ("low", "high"))
    is_reversed = isinstance(low, float) and isinstance(high, float) and low > high
    if isinstance(low, str) and isinstance(high, str):
        # Other texts are compared by a collation, or as what they stand for: '9' comes before '10' among numbers.
        is_reversed = low[:10] > high[:10] and all(match_time(bound, whole=False) for bound in (low, high))
    if is_reversed and not node.args.get("symmetric"):
        place = query.text(node)
        yield Finding("always_empty", "error", f"{place} never holds: its bounds are the wrong way round.", place)


def _find_contradictory_conditions(scope: Scope, query: Query) -> Iterator[Finding]:
    """Yield findings on conditions that contradict each other for one column."""
    equal: dict[SourceColumn, tuple[str | float, exp.Expr]] = {}
    for part in query.list_required_conditions(scope):
        for column, operand in query.iterate_column_comparisons(part) if isinstance(part, exp.EQ) else ():
            value = query.literal(operand)
            if value is None:
                continue
            before = equal.setdefault(column.place, (value, part))
            if _values_differ(before[0], value):
                place = f"{query.text(before[1])} AND {query.text(part)}"
                message = f"{place} never holds: one row has one {column.schema.name}."
                advice = "use OR or IN for either, or INTERSECT for both"
                yield Finding("always_empty", "error", message, place, advice)
    yield from _find_contradictory_bounds(scope, query)


def _find_contradictory_bounds(scope: Scope, query: Query) -> Iterator[Finding]:
    """Yield findings on pairs of bounds that exclude every number or date."""
    bounds: dict[SourceColumn, list[tuple[bool, bool, str | float, exp.Expr]]] = {}
    for part in query.list_required_conditions(scope):
        if not isinstance(part, exp.GT | exp.GTE | exp.LT | exp.LTE):
            continue
        for column, operand in query.iterate_column_comparisons(part):
            value = query.literal(operand)
            if isinstance(value, float) or (isinstance(value, str) and match_time(value, whole=False)):
                lower = isinstance(part, exp.GT | exp.GTE) == (operand is part.expression)
                entry = lower, isinstance(part, exp.GT | exp.LT), value, part
                bounds.setdefault(column.place, []).append(entry)
    for entries in bounds.values():
        for low, high in product([low for low in entries if low[0]], [high for high in entries if not high[0]]):
            if _is_range_empty(low[2], high[2], strict=low[1] or high[1]):
                first, second = (low, high) if entries.index(low) < entries.index(high) else (high, low)
                place = f"{query.text(first[3])} AND {query.text(second[3])}"
                # People are told; what the papers feed back to a model stays as it was.
                yield Finding("always_empty", "info", f"{place} never holds: nothing lies between.", place)


def _is_range_empty(low: str | float, high: str | float, *, strict: bool) -> bool:
    """Whether the lower bound is above the upper one, or equal to it if `strict`."""
    if isinstance(low, str) and isinstance(high, str):
        return low[:10] > high[:10] or (strict and low == high)
    return isinstance(low, float) and isinstance(high, float) and (low > high or (strict and low == high))


def _values_differ(first: str | float, second: str | float) -> bool:
    if isinstance(first, str) and isinstance(second, str):
        return first.lower() != second.lower()  # the column's collation may ignore case
    return type(first) is type(second) and first != second


def _is_numeric_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
