"""Findings about a valid query: conditions that never hold, and values that no row has."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from itertools import product

from sqlglot import exp

from ...database.schema import ColumnSchema
from ...words import fold, join_words, match_time
from ..dialects import quote_string_literal
from ..findings import NO_DATE, ColumnValueLookup, Finding, Severity
from ..literals import is_result_empty_without
from ..query import Query
from ..scope import Scope, SourceColumn


def find_query_pitfalls(query: Query, values: ColumnValueLookup | None) -> Iterator[Finding]:
    """Yield findings on conditions that are never true and on texts that no row has."""
    for scope in query.scopes:
        yield from _find_contradictory_conditions(scope, query)
        for part in query.list_required_conditions(scope):
            if _DAY.search(query.sql):
                yield from _find_wrong_dates(part, query)
            if isinstance(part, exp.EQ | exp.NEQ) and isinstance(part.expression.unnest(), exp.Null):
                better = f"{query.text(part.this)} IS {'NOT ' if isinstance(part, exp.NEQ) else ''}NULL"
                yield _report_unmet([part], "NULL equals nothing", scope, query, f"write {better}")
            elif isinstance(part, exp.Between) and _has_reversed_bounds(part, query):
                yield _report_unmet([part], "its bounds are the wrong way round", scope, query)
            elif isinstance(part, exp.EQ | exp.In) and values is not None:
                yield from _find_absent_values(part, query, values)


def _report_unmet(
    conditions: list[exp.Expr], reason: str, scope: Scope, query: Query, advice: str = "", severity: Severity = "error"
) -> Finding:
    """Return the finding that conditions never hold together, and whether any rows remain."""
    place = " AND ".join(map(query.text, conditions))
    kind = "always_empty" if is_result_empty_without(query, scope) else "never_holds"
    return Finding(kind, severity, f"{place} never holds: {reason}.", place, advice)


_DAY = re.compile(r"'\d{4}-\d\d-\d\d")


def _find_wrong_dates(part: exp.Expr, query: Query) -> Iterator[Finding]:
    """Yield a finding on each text such as `2024-13-45` with which dates are compared."""
    is_comparison = isinstance(part, exp.EQ | exp.GT | exp.GTE | exp.LT | exp.LTE | exp.Between | exp.In)
    for column, operand in query.list_column_comparisons(part) if is_comparison else ():
        text = query.literal(operand) if column.schema.kind == "time" else None
        if isinstance(text, str) and match_time(text) and not _is_day(text[:10]):
            # People are told; what the papers feed back to a model stays as it was.
            yield Finding("never_holds", "info", f"{text} {NO_DATE}.", query.text(part))


def _is_day(text: str) -> bool:
    try:
        return bool(date.fromisoformat(text))
    except ValueError:
        return False


def _find_absent_values(part: exp.Expr, query: Query, values: ColumnValueLookup) -> Iterator[Finding]:
    """Yield findings on texts that no row has, if the column has similar texts or numbers."""
    comparisons = query.list_column_comparisons(part)
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


def _has_reversed_bounds(node: exp.Between, query: Query) -> bool:
    low, high = (query.literal(node.args[key]) for key in ("low", "high"))
    if node.args.get("symmetric") or low is None or high is None:
        return False
    inner, column = node.this.unnest(), query.column(node.this)
    if column is not None:
        is_comparable = all(_compares_as_written(column.schema, bound) for bound in (low, high))
    else:  # what gives no texts, among which '5' comes after '10', nor dates, which MySQL reads numbers as
        numeric = (exp.Count, exp.Sum, exp.Avg) if query.rules.name == "mysql" else (exp.Func, exp.Binary)
        is_number = isinstance(inner, numeric) and not isinstance(inner, exp.Cast | exp.Collate | exp.Dot)
        is_comparable = is_number and isinstance(low, float)
    return is_comparable and _is_range_empty(low, high)


def _find_contradictory_conditions(scope: Scope, query: Query) -> Iterator[Finding]:
    """Yield findings on conditions that contradict each other for one column."""
    equal: dict[SourceColumn, tuple[str | float, exp.Expr]] = {}
    for part in query.list_required_conditions(scope):
        for column, operand in query.list_column_comparisons(part) if isinstance(part, exp.EQ) else ():
            value = query.literal(operand)
            if value is None:
                continue
            before = equal.setdefault(column.place, (value, part))
            if _values_differ(before[0], value, column.schema):
                advice = "use OR or IN for either, or INTERSECT for both"
                yield _report_unmet([before[1], part], f"one row has one {column.schema.name}", scope, query, advice)
    yield from _find_contradictory_bounds(scope, query)


def _find_contradictory_bounds(scope: Scope, query: Query) -> Iterator[Finding]:
    """Yield findings on pairs of bounds that exclude every number or date."""
    bounds: dict[SourceColumn, list[tuple[bool, bool, str | float, exp.Expr, exp.Expr]]] = {}
    for part in query.list_required_conditions(scope):
        if not isinstance(part, exp.GT | exp.GTE | exp.LT | exp.LTE):
            continue
        for column, operand in query.list_column_comparisons(part):
            value = query.literal(operand)
            if value is not None and _compares_as_written(column.schema, value):
                lower = isinstance(part, exp.GT | exp.GTE) == (operand is part.expression)
                entry = lower, isinstance(part, exp.GT | exp.LT), value, part, operand
                bounds.setdefault(column.place, []).append(entry)
    for entries in bounds.values():
        for low, high in product([low for low in entries if low[0]], [high for high in entries if not high[0]]):
            # Equal numbers may differ in digits that they do not keep.
            if _is_range_empty(low[2], high[2]) or ((low[1] or high[1]) and low[4] == high[4]):
                parts = [entry[3] for entry in sorted((low, high), key=entries.index)]
                # People are told; what the papers feed back to a model stays as it was.
                yield _report_unmet(parts, "nothing lies between", scope, query, severity="info")


def _is_range_empty(low: str | float, high: str | float) -> bool:
    """Whether the lower bound, a number or a date, is certainly above the upper one."""
    if isinstance(low, float) and isinstance(high, float):
        return low > high and _differ_in_seven_digits(low, high)
    # Other texts are compared by a collation, or as what they stand for: '9' comes before '10' among numbers.
    return isinstance(low, str) and isinstance(high, str) and _count_certain_days(high, low) > 0


def _count_certain_days(first: str, second: str) -> int:
    """Return the days between two dates; 0 if unsure by rounding, or if not both are dates."""
    times = match_time(first), match_time(second)
    days = [time[0][:10] for time in times if time and not time["zone"]]
    dates = [date.fromisoformat(day) for day in days if _is_day(day)]  # not the 31st of February
    if len(dates) < 2:
        return 0
    days = (dates[1] - dates[0]).days
    # 24:00 is the next day's beginning, and fractions of seconds may be rounded to it.
    return days if all(time and not time["clock"] for time in times) or abs(days) > 1 else 0


def _compares_as_written(column: ColumnSchema, value: str | float) -> bool:
    """Whether a column is compared with a constant as written, without conversion."""
    declared = column.type.lower()
    if isinstance(value, str):  # a time of day has no date to compare, and an enum's labels have an order of their own
        is_time = column.kind == "time" and not re.match("time(?!stamp)", declared)
        is_text = _TEXT.fullmatch(declared) is not None or declared in ("", "string")
        return is_time or (column.kind == "text" and is_text)
    return column.kind == "number" and not declared.startswith("year")  # MySQL's YEAR reads 24 as 2024


def _differ_in_seven_digits(first: float, second: float) -> bool:
    """Whether two numbers differ even if stored with only seven digits."""
    return abs(first - second) > 1e-6 * max(abs(first), abs(second))


def _values_differ(first: str | float, second: str | float, column: ColumnSchema) -> bool:
    """Whether no value of a column equals both."""
    if isinstance(first, float) and isinstance(second, float):
        return _compares_as_written(column, first) and _differ_in_seven_digits(first, second)
    if not isinstance(first, str) or not isinstance(second, str):
        return False
    are_ascii, declared = (first + second).isascii(), column.type.lower()
    # Numbers and times are spelled in several ways; a collation may ignore case, accents, signs, zeros and old letters.
    if column.kind == "text":  # addresses, documents and ranges have several spellings too
        letters = [set(re.sub(r"[\W_0h]", "", fold(text).translate(_SAME_LETTERS))) for text in (first, second)]
        is_text = _TEXT.fullmatch(declared) is not None or declared.partition("(")[0] == "enum"
        return is_text and are_ascii and letters[0] != letters[1]
    if column.kind == "time":
        return _compares_as_written(column, first) and _count_certain_days(first, second) != 0
    are_integers = are_ascii and first.isdigit() and second.isdigit()
    return are_integers and _compares_as_written(column, 0.0) and _differ_in_seven_digits(float(first), float(second))


_TEXT = re.compile(r"((n|var|nvar|bp)?char|character|(tiny|medium|long|n|ci)?text)( varying)?( ?\(\d+\))?")
_SAME_LETTERS = str.maketrans("jyvw", "iiuu")
"""Letters that some languages sort as one."""


def _is_numeric_text(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
