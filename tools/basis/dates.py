"""The date that a query goes by, and what of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from ..database.schema import ColumnSchema
from ..sql.conditions import base_column, is_aggregate, literal
from ..sql.scope import Reference, Resolution, Scope, Source
from .conditions import Condition
from .days import MIDNIGHT, NOTHING, Bound, Operator, Times, compared, times_of, whole

_OPERATORS: dict[type[exp.Expr], Operator] = {exp.EQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}

_NO_EVENT = re.compile(r"birth|updated|modified|due|required|left|ended|expir|open", re.IGNORECASE)


@dataclass(frozen=True)
class DateUse:
    """The date that an answer goes by.

    Attributes:
        table: Its table, as the schema spells it.
        column: Its column, as the schema spells it.
        used: Whether the query filters or groups by this column; otherwise it only shows how recent the data is.
        first: The first day that the conditions allow, as text; empty if they set none.
        last: The last day that the conditions allow, as text, followed by `00:00` if they allow only its midnight;
            empty if they set none.
        newest: The most recent date in the data; empty if it was not looked up, or may not be.
    """

    table: str
    column: str
    used: bool = True
    first: str = ""
    last: str = ""
    newest: str = ""


def date_use(conditions: Sequence[Condition], resolution: Resolution) -> tuple[DateUse | None, list[exp.Expr]]:
    """The date that a query filters or groups by; where there is none, one by which its tables tell their age.

    Args:
        conditions: Of the query.
        resolution: Its names.

    Returns:
        It, and the conditions that its first and last day say wholly.
    """
    for scope in resolution.scopes:
        for reference in resolution.references:
            source = reference.source
            if reference.kind != "column" or reference.owner is not scope or source is None or source.table is None:
                continue
            column = source.table.column(source.declared(reference.column))
            if column is None or column.kind != "time" or not _goes_by(reference, scope):
                continue
            first, last, said = _bounds(conditions, scope, source, column, resolution)
            return DateUse(source.table.name, column.name, True, first, last), said
    return _age(resolution), []


def _goes_by(reference: Reference, scope: Scope) -> bool:
    """Whether a SELECT filters or groups by a column."""
    if isinstance(reference.node.parent, exp.Is):
        return False
    if reference.clause in ("where", "group"):
        return True
    node: exp.Expr | None = reference.node.parent
    while node is not None and node is not scope.select and not is_aggregate(node):
        node = node.parent
    return node is scope.select and reference.clause == "select" and scope.select.args.get("group") is not None


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


def _bounds(
    conditions: Sequence[Condition], scope: Scope, source: Source, column: ColumnSchema, resolution: Resolution
) -> tuple[str, str, list[exp.Expr]]:
    """The first and the last day that conditions on a date let through, and those that say no more than that."""
    times = times_of(column, is_sqlite=resolution.rules.is_sqlite)
    if times is None or sum(other.table is source.table for other in scope.sources) > 1:
        return "", "", []
    first, last, said = "", "", list[exp.Expr]()
    for one in conditions:
        if one.scope is not scope or one.groups or one.partly:
            continue
        bound = _bound(one.node, _Column(source, column, times, resolution))
        first = max(first, bound.first)
        last = min(filter(None, (last, bound.last)), key=_until, default="")
        said += [one.node] if bound.whole else []
    return first, last, said


def _until(last: str) -> str:
    """A last day to sort by: its midnight alone ends before it does."""
    return last if last.endswith(MIDNIGHT) else f"{last} 24:00"


@dataclass(frozen=True)
class _Column:
    """A date of a source."""

    source: Source
    column: ColumnSchema
    times: Times
    resolution: Resolution

    def times_of(self, node: exp.Expr) -> Times | None:
        """How an expression holds the column, or its day; None for anything else."""
        node, times = node.unnest(), self.times
        is_cast = isinstance(node, exp.Cast) and node.to.this == exp.DType.DATE and not self.resolution.rules.is_sqlite
        is_day = isinstance(node, exp.Date | exp.TsOrDsToDate) and not (node.args.get("zone") or node.expressions)
        if (is_cast or is_day) and isinstance(node.this, exp.Expr):
            node, times = node.this.unnest(), Times(self.resolution.rules.is_sqlite)
        found = base_column(node, self.resolution)
        return times if found is not None and found[0].source is self.source and found[1] is self.column else None

    def is_year(self, node: exp.Expr, year: str | float | None) -> bool:
        """Whether an expression is the year of the column, and equals such a year."""
        if isinstance(node, exp.Cast):
            node, year = node.this.unnest(), str(year)
        if isinstance(node, exp.TimeToStr):
            form = node.args.get("format")
            inside = node.this.this if isinstance(node.this, exp.TsOrDsToTimestamp) else node.this
            # As a text the year equals no number.
            return isinstance(year, str) and form is not None and form.name == "%Y" and self._holds(inside)
        if isinstance(node, exp.Year):
            return self._holds(node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this)
        return isinstance(node, exp.Extract) and node.name.upper() == "YEAR" and self._holds(node.expression)

    def _holds(self, node: exp.Expr) -> bool:
        return self.times_of(node) is not None

    def moment(self, node: exp.Expr) -> str:
        """A literal's day, and its time; empty for anything else."""
        if isinstance(node, exp.Date | exp.TsOrDsToDate) and (node.args.get("zone") or node.expressions):
            return ""
        is_cast = isinstance(node, exp.Cast) and not self.resolution.rules.is_sqlite
        if (is_cast or isinstance(node, exp.Date | exp.TsOrDsToDate)) and isinstance(node.this, exp.Expr):
            text = literal(node.this, self.resolution)
            timed = isinstance(node, exp.Cast) and node.to.this != exp.DType.DATE
            return (text if timed else text[:10]) if isinstance(text, str) else ""
        text = literal(node, self.resolution)
        return text if isinstance(text, str) else ""


def _bound(part: exp.Expr, column: _Column) -> Bound:
    if isinstance(part, exp.Between) and (times := column.times_of(part.this)) and not part.args.get("symmetric"):
        low = compared(">=", column.moment(part.args["low"]), times)
        high = compared("<=", column.moment(part.args["high"]), times)
        return Bound(low.first, high.last, low.whole and high.whole)
    if isinstance(part, exp.Like) and not part.args.get("negate") and column.times_of(part.this):
        pattern = literal(part.expression, column.resolution)
        return whole(pattern[:-1].rstrip("-")) if isinstance(pattern, str) and pattern.endswith("%") else NOTHING
    if (operator := _OPERATORS.get(type(part))) is None:
        return NOTHING
    left, right = part.this.unnest(), part.expression.unnest()
    year = literal(right, column.resolution)
    if operator == "=" and column.is_year(left, year):
        return whole(f"{year:g}" if isinstance(year, float) else str(year or ""))
    times = column.times_of(left)
    return compared(operator, column.moment(right), times) if times is not None else NOTHING
