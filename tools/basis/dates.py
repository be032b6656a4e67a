"""The date that a query uses, its range, and the newest date in the data."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal

from sqlglot import exp

from ..database.quoting import naming_of
from ..database.schema import ColumnSchema
from ..database.table import Limits, Table
from ..derived import derived
from ..errors import TableturnError
from ..sql.query import Query, TableColumn
from ..sql.scope import Scope

MIDNIGHT = " 00:00"
"""Behind a last day of which only the first moment is let through."""
Operator = Literal["=", "<", "<=", ">", ">="]
_PREFIX = re.compile(r"(\d{4})(?:-(\d\d))?(?:-(\d\d))?")
_MOMENT = re.compile(r"(\d{4}-\d\d-\d\d)(?:([ T])(\d\d:\d\d(?::\d\d(?:\.\d+)?)?))?")
_OPERATORS: dict[type[exp.Expr], Operator] = {exp.EQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}

_SECONDS = 0.1
"""Looking up the newest date takes no longer."""

_NO_EVENT = re.compile(r"birth|updated|modified|due|required|left|ended|expir|open", re.IGNORECASE)


@dataclass(frozen=True)
class DateUse:
    """The date that an answer uses.

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


@derived
def find_date_use(query: Query) -> tuple[DateUse | None, tuple[exp.Expr, ...]]:
    """Return the date that a query uses, and the conditions that define its range.

    If there is none, it is a date by which the tables tell their age: of what happened, of the largest table first.
    """
    for scope in query.scopes:
        for column in query.columns_of(scope):
            if column.schema.kind == "time" and column.is_filtered_or_grouped:
                first, last, ranged = _find_bounds(scope, column, query)
                return DateUse(*column.item, True, first, last), ranged
    for table in sorted(query.tables.values(), key=lambda table: -(table.row_count or 0)):
        for column in table.columns:
            if column.kind == "time" and not _NO_EVENT.search(column.name):
                return DateUse(table.name, column.name, False), ()
    return None, ()


def _find_bounds(scope: Scope, column: TableColumn, query: Query) -> tuple[str, str, tuple[exp.Expr, ...]]:
    """Return the first and last day of a date's conditions, and conditions on these only."""
    times = times_of(column.schema, is_sqlite=query.rules.is_sqlite)
    if times is None or sum(other.table is column.table for other in scope.sources) > 1:
        return "", "", ()
    first, last, ranged, date_column = "", "", list[exp.Expr](), _DateColumn(column, times, query)
    for condition in query.conditions(scope):
        if condition.clause == "having" or not query.holds(condition):
            continue
        bound = _find_bound(condition.node, date_column)
        first = max(first, bound.first)
        # Its midnight alone ends before the day does.
        lasts = filter(None, (last, bound.last))
        last = min(lasts, key=lambda day: day if day.endswith(MIDNIGHT) else f"{day} 24:00", default="")
        ranged += [condition.node] if bound.whole else []
    return first, last, tuple(ranged)


@dataclass(frozen=True)
class _DateColumn:
    """A date column of a source."""

    column: TableColumn
    times: Times
    query: Query

    def times_of(self, node: exp.Expr) -> Times | None:
        """Return the format of the column, or of its day, in an expression; else None."""
        node, times = node.unnest(), self.times
        is_cast = isinstance(node, exp.Cast) and node.to.this == exp.DType.DATE and not self.query.rules.is_sqlite
        is_day = isinstance(node, exp.Date | exp.TsOrDsToDate) and not (node.args.get("zone") or node.expressions)
        if (is_cast or is_day) and isinstance(node.this, exp.Expr):
            node, times = node.this.unnest(), Times(self.query.rules.is_sqlite)
        column = self.query.column(node)
        if column is None or column.source is not self.column.source or column.schema is not self.column.schema:
            return None
        return times

    def is_year(self, node: exp.Expr, year: str | float | None) -> bool:
        """Whether an expression is the year of the column, and `year` a value for it."""
        if isinstance(node, exp.Cast):
            node, year = node.this.unnest(), str(year)
        if isinstance(node, exp.TimeToStr):
            form = node.args.get("format")
            inside = node.this.this if isinstance(node.this, exp.TsOrDsToTimestamp) else node.this
            # As a text the year equals no number.
            return isinstance(year, str) and form is not None and form.name == "%Y" and self._is_column(inside)
        if isinstance(node, exp.Year):
            return self._is_column(node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this)
        return isinstance(node, exp.Extract) and node.name.upper() == "YEAR" and self._is_column(node.expression)

    def _is_column(self, node: exp.Expr) -> bool:
        return self.times_of(node) is not None

    def read_moment(self, node: exp.Expr) -> str:
        """Return the day and time of a literal; empty for anything else."""
        timed, is_day = True, isinstance(node, exp.Date | exp.TsOrDsToDate)
        if is_day and (node.args.get("zone") or node.expressions):
            return ""
        if (is_day or (isinstance(node, exp.Cast) and not self.query.rules.is_sqlite)) and node.this:
            timed = isinstance(node, exp.Cast) and node.to.this != exp.DType.DATE
            node = node.this
        text = self.query.literal(node)
        return (text if timed else text[:10]) if isinstance(text, str) else ""


def _find_bound(part: exp.Expr, column: _DateColumn) -> Bound:
    if isinstance(part, exp.Between) and (times := column.times_of(part.this)) and not part.args.get("symmetric"):
        low = compare_moment(">=", column.read_moment(part.args["low"]), times)
        high = compare_moment("<=", column.read_moment(part.args["high"]), times)
        return Bound(low.first, high.last, low.whole and high.whole)
    if isinstance(part, exp.Like) and not part.args.get("negate") and column.times_of(part.this):
        pattern = column.query.literal(part.expression)
        return span_days(pattern[:-1].rstrip("-")) if isinstance(pattern, str) and pattern.endswith("%") else NOTHING
    if (operator := _OPERATORS.get(type(part))) is None:
        return NOTHING
    left, right = part.this.unnest(), part.expression.unnest()
    year = column.query.literal(right)
    if operator == "=" and column.is_year(left, year):
        return span_days(f"{year:g}" if isinstance(year, float) else str(year or ""))
    times = column.times_of(left)
    return compare_moment(operator, column.read_moment(right), times) if times is not None else NOTHING


@dataclass(frozen=True)
class Bound:
    """The days that a condition allows."""

    first: str = ""
    last: str = ""  # the last, with `MIDNIGHT` behind it where the rest of that day is out; empty where it does not say
    whole: bool = False  # whether that is all that the condition says


NOTHING = Bound()


@dataclass(frozen=True)
class Times:
    """The format in which a column holds dates."""

    text: bool  # as texts, which compare by their letters
    timed: str = ""  # with a time of day, after this letter; empty for days alone


def times_of(column: ColumnSchema, *, is_sqlite: bool) -> Times | None:
    """Return the format of a date column; None if it is unknown, or doesn't sort by day."""
    kind = column.type.lower()
    if not is_sqlite and kind.startswith(("timestamp", "datetime")):
        return Times(False, " ")
    if not is_sqlite and kind == "date":
        return Times(False)
    samples = [_MOMENT.match(str(sample)) for sample in column.samples]
    moments = [sample for sample in samples if sample is not None and is_day(sample[1])]
    timed = {sample[2] or "" for sample in moments}
    return Times(True, timed.pop()) if samples and len(moments) == len(samples) and len(timed) == 1 else None


def is_day(text: str) -> bool:
    """Whether a text is a day, as in `2023-01-31`."""
    return add_days(text, 0) == text


def add_days(day: str, days: int) -> str:
    """Return the day `days` later; empty if `day` is not a day."""
    try:
        return str(date.fromisoformat(day) + timedelta(days=days))
    except (ValueError, OverflowError):
        return ""


def span_days(text: str) -> Bound:
    """Return the bounds of a year, a month or a day."""
    match = _PREFIX.fullmatch(text)
    if match is None:
        return NOTHING
    year, month, day = match.groups()
    first = f"{year}-{month or '01'}-{day or '01'}"
    if not is_day(first):
        return NOTHING
    days = calendar.monthrange(int(year), int(month or 12))[1]
    return Bound(first, first if day else f"{year}-{month or '12'}-{days:02}", True)


def compare_moment(operator: Operator, text: str, times: Times) -> Bound:
    """Return the bounds of a comparison of a column with a text."""
    moment = _MOMENT.fullmatch(text)
    if moment is None:
        return _compare_part(operator, text) if times.text else NOTHING
    day, separator, clock = moment[1], moment[2] or "", moment[3] or ""
    if not is_day(day):
        return NOTHING
    if operator == "=":
        return Bound(day, day, True) if not times.timed and not clock else NOTHING
    if not times.timed:
        return _compare_days(operator, day, clock, times)
    if times.text and separator not in ("", times.timed):
        return NOTHING
    return _compare_moments(operator, day, clock, times)


def _compare_part(operator: Operator, text: str) -> Bound:
    """Return the bounds of a comparison with a year or a month, which sorts before its days."""
    first = span_days(text).first if len(text) < 10 else ""
    if not first or operator == "=":
        return NOTHING
    return Bound(first, "", True) if operator in (">", ">=") else Bound("", add_days(first, -1), True)


def _compare_days(operator: Operator, day: str, clock: str, times: Times) -> Bound:
    """Return the bounds of a comparison of days without times."""
    if not times.text and re.search("[1-9]", clock):
        return NOTHING  # engines differ in whether they compare the time too
    later = bool(clock) and times.text
    if operator in (">", ">="):
        return Bound(day if operator == ">=" and not later else add_days(day, 1), "", True)
    return Bound("", day if operator == "<=" or later else add_days(day, -1), True)


def _compare_moments(operator: Operator, day: str, clock: str, times: Times) -> Bound:
    """Return the bounds of a comparison of days with times."""
    midnight = not re.search("[1-9]", clock)
    if operator in (">", ">="):
        return Bound(day, "", midnight and (operator == ">=" or (times.text and not clock)))
    if not midnight:
        return Bound("", day, clock.startswith("23:59:59"))
    return Bound("", f"{day}{MIDNIGHT}" if operator == "<=" else add_days(day, -1), True)


class NewestDates:
    """A cache of the newest dates of a database's columns.

    May be used from several threads. `execute` runs a query as far as its result may leave; `state` gives a key that
    changes whenever the data may have.
    """

    def __init__(self, execute: Callable[[str, Limits], Table], state: Callable[[], str], dialect: str) -> None:
        self._execute = execute
        self._state = state
        self._dialect = dialect
        self._look_up_cached = lru_cache(256)(self._look_up)

    def find(self, table: str, column: str) -> str:
        """Return the newest date as text; empty if it is withheld or takes too long."""
        try:
            return self._look_up_cached(self._state(), table, column)
        except TableturnError:
            return ""

    def _look_up(self, _state: str, table: str, column: str) -> str:
        quoted = naming_of(self._dialect).quote
        query = f"SELECT MAX({quoted(column)}) AS newest FROM {quoted(table)}"
        try:
            result = self._execute(query, Limits(seconds=_SECONDS, rows=1))
        except TableturnError:
            return ""
        value = result.rows[0][0] if result.rows and not result.withheld else None
        # The greatest of texts that do not sort as days, as 31/12/2023, is not the newest.
        day = str(value)[:10]
        return day if is_day(day) else ""
