"""The date that a query goes by, and what of it."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date, timedelta

from sqlglot import exp

from ..database.schema import ColumnSchema, Schema
from ..sql.conditions import base_column, conjuncts, literal
from ..sql.scope import Resolution, Scope, Source

_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_PREFIX = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_NO_EVENT = re.compile(r"birth|updated|modified|due|required|left|ended|expir|open", re.IGNORECASE)


@dataclass(frozen=True)
class DateUse:
    """The date that an answer goes by.

    Attributes:
        table: As the schema spells it.
        column: Likewise.
        used: Whether the query filters or groups by it; else it only tells how new the data is.
        first: The first day that its conditions let through, as text; empty where they do not say.
        last: The last day, likewise.
        newest: The newest that the data has; empty where nobody looked, or may.
    """

    table: str
    column: str
    used: bool = True
    first: str = ""
    last: str = ""
    newest: str = ""


def date_use(resolution: Resolution, schema: Schema) -> DateUse | None:
    """The date that a query filters or groups by; where there is none, one by which its tables tell their age."""
    for scope in resolution.scopes:
        for reference in resolution.references:
            source = reference.source
            if reference.kind != "column" or reference.owner is not scope or source is None or source.table is None:
                continue
            column = source.table.column(source.declared(reference.column))
            if column is None or column.kind != "time" or isinstance(reference.node.parent, exp.Is):
                continue
            if reference.clause in ("where", "group") or scope.select.args.get("group") is not None:
                first, last = _bounds(scope, source, column, resolution)
                return DateUse(source.table.name, column.name, True, first, last)
    return _age(resolution)


def _age(resolution: Resolution) -> DateUse | None:
    """The first date of what happened in the tables that a query reads, the largest table first."""
    tables = {
        source.table.name: source.table for scope in resolution.scopes for source in scope.sources if source.table
    }
    for table in sorted(tables.values(), key=lambda table: -(table.row_count or 0)):
        for column in table.columns:
            if column.kind == "time" and not _NO_EVENT.search(column.name):
                return DateUse(table.name, column.name, False)
    return None


def _bounds(scope: Scope, source: Source, column: ColumnSchema, resolution: Resolution) -> tuple[str, str]:
    """The first and the last day that conditions on a date let through."""
    first, last = "", ""
    for part in conjuncts(scope):
        low, high = _bound(part, source, column, resolution)
        first, last = max(first, low), min(filter(None, (last, high)), default="")
    return first, last


def _bound(part: exp.Expr, source: Source, column: ColumnSchema, resolution: Resolution) -> tuple[str, str]:
    if isinstance(part, exp.Between) and _is(part.this, source, column, resolution):
        return _day(part.args["low"], resolution, last=False), _day(part.args["high"], resolution, last=True)
    if isinstance(part, exp.Like) and _is(part.this, source, column, resolution):
        pattern = literal(part.expression, resolution)
        return _whole(pattern[:-1]) if isinstance(pattern, str) and pattern.endswith("%") else ("", "")
    if not isinstance(part, exp.EQ | exp.GT | exp.GTE | exp.LT | exp.LTE):
        return "", ""
    left, right, kind = part.left.unnest(), part.right.unnest(), type(part)
    if kind is exp.EQ and _is_year(left, source, column, resolution):
        year = literal(right, resolution)
        return _whole(f"{year:g}" if isinstance(year, float) else str(year or ""))
    if not _is(left, source, column, resolution):
        return "", ""
    if kind is exp.EQ:
        day = _day(right, resolution, last=False)
        return day, day
    if kind in (exp.GT, exp.GTE):
        return _day(right, resolution, last=False), ""
    if kind is exp.LTE or _has_time(right, resolution):
        return "", _day(right, resolution, last=True)
    return "", _before(_day(right, resolution, last=False))


def _is(node: exp.Expr, source: Source, column: ColumnSchema, resolution: Resolution) -> bool:
    """Whether an expression is the column, or its day."""
    node = node.unnest()
    if isinstance(node, exp.Date | exp.Cast | exp.TsOrDsToDate) and isinstance(node.this, exp.Expr):
        node = node.this.unnest()
    found = base_column(node, resolution)
    return found is not None and found[0].source is source and found[1] is column


def _is_year(node: exp.Expr, source: Source, column: ColumnSchema, resolution: Resolution) -> bool:
    """Whether an expression is the year of the column."""
    if isinstance(node, exp.Cast):
        node = node.this.unnest()
    if isinstance(node, exp.TimeToStr):
        form = node.args.get("format")
        inside = node.this.this if isinstance(node.this, exp.TsOrDsToTimestamp) else node.this
        return form is not None and form.name == "%Y" and _is(inside, source, column, resolution)
    if isinstance(node, exp.Year):
        inside = node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this
        return _is(inside, source, column, resolution)
    if isinstance(node, exp.Extract):
        return node.name.upper() == "YEAR" and _is(node.expression, source, column, resolution)
    return False


def _day(node: exp.Expr, resolution: Resolution, *, last: bool) -> str:
    """A literal as a day; of a year or a month alone its first, as texts compare."""
    if isinstance(node, exp.Cast | exp.Date | exp.TsOrDsToDate) and isinstance(node.this, exp.Expr):
        node = node.this
    value = literal(node, resolution)
    if not isinstance(value, str):
        return ""
    found = _DAY.match(value)
    if found is not None:
        return found.group()
    return "" if last else _whole(value)[0]


def _has_time(node: exp.Expr, resolution: Resolution) -> bool:
    """Whether a literal is a time of a day after its midnight."""
    value = literal(node, resolution)
    return isinstance(value, str) and bool(re.search("[1-9]", value[10:]))


def _whole(text: str) -> tuple[str, str]:
    """The first and the last day of a year, a month or a day."""
    found = _PREFIX.fullmatch(text.rstrip("-"))
    if found is None:
        return "", ""
    year, month, day = found.groups()
    if day is not None:
        return text, text
    if month is not None and 1 <= int(month) <= 12:
        return f"{year}-{month}-01", f"{year}-{month}-{calendar.monthrange(int(year), int(month))[1]:02}"
    return (f"{year}-01-01", f"{year}-12-31") if month is None else ("", "")


def _before(day: str) -> str:
    """The day before one; empty for none."""
    try:
        return str(date.fromisoformat(day) - timedelta(days=1)) if day else ""
    except (ValueError, OverflowError):
        return ""
