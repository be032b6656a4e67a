"""Conditions that never hold: by logic, and because a column does not hold the text that it is compared with."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sqlglot import exp

from ...database.schema import ColumnSchema
from ..conditions import conjuncts, literal, operands
from ..findings import ColumnValues, Finding
from ..keywords import fold, quote_text
from ..scope import Reference, Resolution, Scope
from ..suggest import one_of

_DAY = re.compile(r"\d{4}-\d\d-\d\d(?!\d)")


def predicate_findings(resolution: Resolution, values: ColumnValues | None) -> Iterator[Finding]:
    """Findings about what must hold for every row of each SELECT.

    Args:
        resolution: The query's names.
        values: What columns hold; None leaves texts unchecked.
    """
    for scope in resolution.scopes:
        yield from _contradictions(scope, resolution)
        for part in conjuncts(scope):
            place = resolution.text(part)
            if isinstance(part, exp.EQ | exp.NEQ) and isinstance(part.expression.unnest(), exp.Null):
                better = f"{resolution.text(part.this)} IS {'NOT ' if isinstance(part, exp.NEQ) else ''}NULL"
                message = f"{place} never holds: NULL equals nothing."
                yield Finding("always_empty", "error", message, place, f"write {better}")
            elif isinstance(part, exp.Between):
                yield from _empty_range(part, resolution)
            elif isinstance(part, exp.EQ | exp.In) and values is not None:
                yield from _absent(part, resolution, values)


def _absent(part: exp.Expr, resolution: Resolution, values: ColumnValues) -> Iterator[Finding]:
    """A text that no row has, or a list of such: told where the column holds near ones, or holds numbers."""
    looked = list(operands(part, resolution))
    texts = [literal(operand, resolution) for _, operand in looked]
    if not looked or part.args.get("query") is not None:
        return
    reference, column = looked[0][0]
    table = reference.source.table if reference.source is not None else None
    found = [text for text in texts if isinstance(text, str)]
    # Where one of a list is held, the others may be there to be sure of all spellings.
    if table is None or len(found) < len(texts) or any(_held(text, table.name, reference, values) for text in found):
        return
    for text in found:
        message, place = f"No row of {table.name} has {quote_text(text)} in {reference.column}", resolution.text(part)
        if column.kind == "number":
            if _holds_numbers(column) and not _is_number(text):
                null = "write IS NULL for missing values" if text.lower() in ("null", "none") else ""
                yield Finding("type_mismatch", "warning", f"{message}, which holds numbers.", place, null, proof=True)
        elif near := values.nearest(table.name, reference.column, text):
            advice = f"use {one_of([quote_text(other) for other in near])}"
            yield Finding("unknown_value", "warning", f"{message}.", place, advice)


def _held(text: str, table: str, reference: Reference, values: ColumnValues) -> bool:
    """Whether a row has it; an empty text is looked for to find none."""
    return not text.strip() or values.holds(table, reference.column, text)


def _holds_numbers(column: ColumnSchema) -> bool:
    """Whether all that is known of a column's contents are numbers: a declared type may not bind."""
    return bool(column.samples) and not any(isinstance(sample, str) for sample in column.samples)


def _empty_range(node: exp.Between, resolution: Resolution) -> Iterator[Finding]:
    low, high = (literal(node.args[key], resolution) for key in ("low", "high"))
    turned = isinstance(low, float) and isinstance(high, float) and low > high
    if isinstance(low, str) and isinstance(high, str):
        # Other texts are compared by a collation, or as what they stand for: '9' comes before '10' among numbers.
        turned = bool(_DAY.match(low) and _DAY.match(high)) and low[:10] > high[:10]
    if turned and not node.args.get("symmetric"):
        place = resolution.text(node)
        yield Finding("always_empty", "error", f"{place} never holds: its bounds are the wrong way round.", place)


def _contradictions(scope: Scope, resolution: Resolution) -> Iterator[Finding]:
    """Equalities with two values of one column."""
    equal: dict[tuple[int, str], tuple[str | float, exp.Expr]] = {}
    for part in conjuncts(scope):
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
