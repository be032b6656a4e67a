"""Doubts about conditions: values that a column doesn't hold, comparisons across types, conditions that never hold."""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from ...database.schema import ColumnSchema
from ..conditions import conjuncts, limit_count, literal, operands
from ..findings import ColumnValues, Finding
from ..keywords import fold, quote_text
from ..scope import Reference, Resolution, Scope
from ..suggest import one_of

_COMPARISONS = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_ORDERING = (exp.GT, exp.GTE, exp.LT, exp.LTE)


def predicate_findings(resolution: Resolution, values: ColumnValues | None) -> list[Finding]:
    """Findings about the conditions of every SELECT.

    Args:
        resolution: The query's names.
        values: What columns hold; None leaves literals unchecked.
    """
    found: list[Finding] = []
    for scope in resolution.scopes:
        found += _contradictions(scope, resolution)
        for clause in ("where", "having"):
            condition = scope.select.args.get(clause)
            if condition is not None:
                found += _comparisons(condition, scope, resolution, values)
        count = limit_count(scope.select)
        if count is not None and literal(count, resolution) == 0:
            found.append(Finding("always_empty", "error", "LIMIT 0 returns no row.", "LIMIT 0", "leave LIMIT out"))
    return found


def _comparisons(
    condition: exp.Expr, scope: Scope, resolution: Resolution, values: ColumnValues | None
) -> Iterator[Finding]:
    for node in condition.find_all(*_COMPARISONS, exp.In, exp.Between, exp.Like):
        if node.find_ancestor(exp.Select) is not scope.select:
            continue
        if isinstance(node, exp.EQ | exp.NEQ) and isinstance(node.expression.unnest(), exp.Null):
            place = resolution.text(node)
            better = f"{resolution.text(node.this)} IS {'NOT ' if isinstance(node, exp.NEQ) else ''}NULL"
            message = f"{place} never holds: NULL equals nothing."
            yield Finding("always_empty", "error", message, place, f"write {better}")
        if isinstance(node, exp.Between):
            yield from _empty_range(node, resolution)
        for column, operand in operands(node, resolution):
            value = literal(operand, resolution)
            if value is None:
                continue
            yield from _wrong_type(node, column, value, resolution)
            # Beside a column of numbers engines turn text into a number, so that its spelling does not count.
            spelled = isinstance(node, exp.EQ | exp.NEQ | exp.In) and column[1].kind != "number"
            if spelled and isinstance(value, str) and values is not None:
                yield from _unknown_value(resolution.text(node), column[0], value, values)


def _wrong_type(
    node: exp.Expr, column: tuple[Reference, ColumnSchema], value: str | float, resolution: Resolution
) -> Iterator[Finding]:
    reference, schema = column
    name, place = reference.column, resolution.text(node)
    if schema.kind == "number" and isinstance(value, str) and not isinstance(node, exp.Like) and not _is_number(value):
        if any(isinstance(sample, str) for sample in schema.samples):
            return  # the declared type does not bind, and the column does hold text
        message = f"{name} holds numbers, but is compared with the text {quote_text(value)}."
        null = "write IS NULL or IS NOT NULL for missing values" if value.lower() in ("null", "none", "") else ""
        yield Finding("type_mismatch", "warning", message, place, null, proof=True)
    elif not (resolution.rules.is_sqlite and isinstance(value, float) and isinstance(node, _ORDERING)):
        return  # other engines compare them as numbers, or refuse to
    elif schema.kind == "text" and _is_text(schema):
        message = f"{name} holds text, so it is compared with {value:g} letter by letter, not as a number."
        yield Finding("type_mismatch", "warning", message, place, f"write CAST({name} AS REAL) if it holds numbers")


def _is_text(schema: ColumnSchema) -> bool:
    declared = schema.type.upper()
    return any(word in declared for word in ("CHAR", "TEXT", "CLOB"))


def _unknown_value(place: str, reference: Reference, value: str, values: ColumnValues) -> Iterator[Finding]:
    assert reference.source is not None
    table = reference.source.table
    if table is None or values.holds(table.name, reference.column, value):
        return
    near = values.nearest(table.name, reference.column, value)
    message = f"No row of {table.name} has {quote_text(value)} in {reference.column}."
    suggestion = f"use {one_of([quote_text(other) for other in near])}" if near else ""
    yield Finding("unknown_value", "warning", message, place, suggestion)


def _empty_range(node: exp.Between, resolution: Resolution) -> Iterator[Finding]:
    low, high = (literal(node.args[key], resolution) for key in ("low", "high"))
    same_kind = (isinstance(low, str) and isinstance(high, str)) or (isinstance(low, float) and isinstance(high, float))
    if same_kind and low > high:  # pyright: ignore[reportOperatorIssue]
        place = resolution.text(node)
        yield Finding("always_empty", "error", f"{place} never holds: its bounds are the wrong way round.", place)


def _contradictions(scope: Scope, resolution: Resolution) -> Iterator[Finding]:
    """Conditions on one column that cannot hold together."""
    equal: dict[tuple[int, str], tuple[str | float, exp.Expr]] = {}
    for part in conjuncts(scope):
        fixed = _constant(part, resolution)
        if fixed is False:
            place = resolution.text(part)
            yield Finding("always_empty", "error", f"{place} never holds.", place)
        if not isinstance(part, exp.EQ):
            continue
        for (reference, _), operand in operands(part, resolution):
            value = literal(operand, resolution)
            if value is None:
                continue
            key = (id(reference.source), fold(reference.column))
            before = equal.setdefault(key, (value, part))
            if _differ(before[0], value):
                place = f"{resolution.text(before[1])} AND {resolution.text(part)}"
                message = f"{place} never holds: one row has one {reference.column}."
                advice = "use OR or IN for either, or INTERSECT for both"
                yield Finding("always_empty", "error", message, place, advice)


def _constant(part: exp.Expr, resolution: Resolution) -> bool | None:
    """Whether a condition without columns holds; None if it is not that simple."""
    if isinstance(part, exp.EQ):
        left, right = literal(part.left, resolution), literal(part.right, resolution)
        if left is not None and right is not None and type(left) is type(right):
            return left == right
    if isinstance(part, exp.Boolean):
        return bool(part.this)
    return None


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
