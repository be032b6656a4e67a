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

from ..database.quoting import get_naming_rules
from ..database.schema import ColumnSchema
from ..database.table import Limits, Table
from ..derived import cache_in_first_argument
from ..errors import TableturnError
from ..sql.query import Query, TableColumn
from ..sql.scope import Scope
from ..words import ISO_TIME, match_time

MIDNIGHT = " 00:00"
"""Behind a last day of which only the first moment is let through."""
Operator = Literal["=", "<", "<=", ">", ">="]
_OPERATORS: dict[type[exp.Expr], Operator] = {exp.EQ: "=", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">="}

_SECONDS = 0.1
"""Looking up the newest date takes no longer."""

_NO_EVENT = re.compile(r"birth|updated|modified|due|required|left|ended|expir|open", re.IGNORECASE)


@dataclass(frozen=True)
class DateUse:
    """The date column that an answer uses, with the range of days.

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


@cache_in_first_argument
def find_date_use(query: Query) -> tuple[DateUse | None, tuple[exp.Expr, ...]]:
    """Return the date column that a query uses, and the conditions that define the date range.

    If there is none, it is a date by which the tables tell their age: of what happened, of the largest table first.
    """
    for scope in query.scopes:
        for column in query.list_scope_columns(scope):
            if column.schema.kind == "time" and column.is_filtered_or_grouped:
                first, last, conditions = _find_column_day_range(scope, column, query)
                return DateUse(*column.item, True, first, last), conditions
    for table in sorted(query.tables.values(), key=lambda table: -(table.row_count or 0)):
        for column in table.columns:
            if column.kind == "time" and not _NO_EVENT.search(column.name):
                return DateUse(table.name, column.name, False), ()
    return None, ()


def _find_column_day_range(scope: Scope, column: TableColumn, query: Query) -> tuple[str, str, tuple[exp.Expr, ...]]:
    """Return the first and last day allowed, and the conditions that limit only the day."""
    form = find_format(column.schema, is_sqlite=query.rules.is_sqlite)
    if form is None or sum(other.table is column.table for other in scope.sources) > 1:
        return "", "", ()
    first, last, conditions, date_column = "", "", list[exp.Expr](), _DateColumn(column, form, query)
    for condition in query.conditions(scope):
        if condition.clause == "having" or not query.holds(condition):
            continue
        bound = _find_condition_day_range(condition.node, date_column)
        first = max(first, bound.first)
        # Its midnight alone ends before the day does.
        lasts = filter(None, (last, bound.last))
        last = min(lasts, key=lambda day: day if day.endswith(MIDNIGHT) else f"{day} 24:00", default="")
        conditions += [condition.node] if bound.whole else []
    return first, last, tuple(conditions)


@dataclass(frozen=True)
class _DateColumn:
    """A date column of a query's source, with the format of the dates."""

    column: TableColumn
    form: DateFormat
    query: Query

    def find_format(self, node: exp.Expr) -> DateFormat | None:
        """Return the date format if an expression is the column or the column's day; else None."""
        node, form = node.unnest(), self.form
        is_cast = isinstance(node, exp.Cast) and node.to.this == exp.DType.DATE and not self.query.rules.is_sqlite
        is_day = isinstance(node, exp.Date | exp.TsOrDsToDate) and not (node.args.get("zone") or node.expressions)
        if (is_cast or is_day) and isinstance(node.this, exp.Expr):
            node, form = node.this.unnest(), DateFormat(self.query.rules.is_sqlite)
        column = self.query.column(node)
        if column is None or column.source is not self.column.source or column.schema is not self.column.schema:
            return None
        return form

    def is_year_of_column(self, node: exp.Expr, year: str | float | None) -> bool:
        """Whether an expression is the year of the column, and `year` is comparable with it."""
        if isinstance(node, exp.Cast):
            node, year = node.this.unnest(), str(year)
        if isinstance(node, exp.TimeToStr):
            form = node.args.get("format")
            inside = node.this.this if isinstance(node.this, exp.TsOrDsToTimestamp) else node.this
            # As a text the year equals no number.
            return isinstance(year, str) and form is not None and form.name == "%Y" and self._is_date_column(inside)
        if isinstance(node, exp.Year):
            return self._is_date_column(node.this.this if isinstance(node.this, exp.TsOrDsToDate) else node.this)
        return isinstance(node, exp.Extract) and node.name.upper() == "YEAR" and self._is_date_column(node.expression)

    def _is_date_column(self, node: exp.Expr) -> bool:
        return self.find_format(node) is not None

    def read_date_literal(self, node: exp.Expr) -> str:
        """Return the date and time of a literal; empty for anything else."""
        has_time, is_day = True, isinstance(node, exp.Date | exp.TsOrDsToDate)
        if is_day and (node.args.get("zone") or node.expressions):
            return ""
        if (is_day or (isinstance(node, exp.Cast) and not self.query.rules.is_sqlite)) and node.this:
            has_time = isinstance(node, exp.Cast) and node.to.this != exp.DType.DATE
            node = node.this
        text = self.query.literal(node)
        return (text if has_time else text[:10]) if isinstance(text, str) else ""


def _find_condition_day_range(part: exp.Expr, column: _DateColumn) -> DayRange:
    if isinstance(part, exp.Between) and (form := column.find_format(part.this)) and not part.args.get("symmetric"):
        low = find_comparison_range(">=", column.read_date_literal(part.args["low"]), form)
        high = find_comparison_range("<=", column.read_date_literal(part.args["high"]), form)
        return DayRange(low.first, high.last, low.whole and high.whole)
    if isinstance(part, exp.Like) and not part.args.get("negate") and column.find_format(part.this):
        pattern = column.query.literal(part.expression)
        return parse_days(pattern[:-1].rstrip("-")) if isinstance(pattern, str) and pattern.endswith("%") else NOTHING
    if (operator := _OPERATORS.get(type(part))) is None:
        return NOTHING
    left, right = part.this.unnest(), part.expression.unnest()
    year = column.query.literal(right)
    if operator == "=" and column.is_year_of_column(left, year):
        return parse_days(f"{year:g}" if isinstance(year, float) else str(year or ""))
    form = column.find_format(left)
    return find_comparison_range(operator, column.read_date_literal(right), form) if form is not None else NOTHING


@dataclass(frozen=True)
class DayRange:
    """The range of days that a condition allows."""

    first: str = ""
    last: str = ""  # the last, with `MIDNIGHT` behind it where the rest of that day is out; empty where it does not say
    whole: bool = False  # whether that is all that the condition says


NOTHING = DayRange()


@dataclass(frozen=True)
class DateFormat:
    """The format in which a column holds dates."""

    text: bool  # as texts, which compare by their letters
    mark: str = ""  # with a time of day, after this letter; empty for days alone


def find_format(column: ColumnSchema, *, is_sqlite: bool) -> DateFormat | None:
    """Return the format of a date column; None if unknown, or if values do not sort by day."""
    kind = column.type.lower()
    if not is_sqlite and kind.startswith(("timestamp", "datetime")):
        return DateFormat(False, " ")
    if not is_sqlite and kind == "date":
        return DateFormat(False)
    samples = [match_time(str(sample), whole=False) for sample in column.samples]
    moments = [sample for sample in samples if sample is not None and is_date_text(sample[0][:10])]
    marks = {sample["mark"] or "" for sample in moments}
    return DateFormat(True, marks.pop()) if samples and len(moments) == len(samples) and len(marks) == 1 else None


def is_date_text(text: str) -> bool:
    """Whether a text is a valid date such as `2023-01-31`."""
    return add_days(text, 0) == text


def add_days(day: str, days: int) -> str:
    """Return the date `days` later; empty if `day` is not a date."""
    try:
        return str(date.fromisoformat(day) + timedelta(days=days))
    except (ValueError, OverflowError):
        return ""


def parse_days(text: str) -> DayRange:
    """Return the range of days of a year, a month or a day."""
    match = ISO_TIME.fullmatch(text)
    if match is None or match["mark"]:
        return NOTHING
    year, month, day = match.group("year", "month", "day")
    first = f"{year}-{month or '01'}-{day or '01'}"
    if not is_date_text(first):
        return NOTHING
    days = calendar.monthrange(int(year), int(month or 12))[1]
    return DayRange(first, first if day else f"{year}-{month or '12'}-{days:02}", True)


def find_comparison_range(operator: Operator, text: str, form: DateFormat) -> DayRange:
    """Return the range of days that a comparison of a column with a text allows."""
    moment = match_time(text)
    if moment is None or moment["zone"]:
        return _find_month_comparison_range(operator, text) if form.text else NOTHING
    day, separator, clock = text[:10], moment["mark"] or "", moment["clock"] or ""
    if not is_date_text(day):
        return NOTHING
    if operator == "=":
        return DayRange(day, day, True) if not form.mark and not clock else NOTHING
    if not form.mark:
        return _find_day_comparison_range(operator, day, clock, form)
    if form.text and separator not in ("", form.mark):
        return NOTHING
    return _find_time_comparison_range(operator, day, clock, form)


def _find_month_comparison_range(operator: Operator, text: str) -> DayRange:
    """Return the day range of a comparison with a year or month, which sorts before its days."""
    first = parse_days(text).first if len(text) < 10 else ""
    if not first or operator == "=":
        return NOTHING
    return DayRange(first, "", True) if operator in (">", ">=") else DayRange("", add_days(first, -1), True)


def _find_day_comparison_range(operator: Operator, day: str, clock: str, form: DateFormat) -> DayRange:
    """Return the day range of a comparison with a column of dates without times."""
    if not form.text and re.search("[1-9]", clock):
        return NOTHING  # engines differ in whether they compare the time too
    later = bool(clock) and form.text
    if operator in (">", ">="):
        return DayRange(day if operator == ">=" and not later else add_days(day, 1), "", True)
    return DayRange("", day if operator == "<=" or later else add_days(day, -1), True)


def _find_time_comparison_range(operator: Operator, day: str, clock: str, form: DateFormat) -> DayRange:
    """Return the day range of a comparison with a column of dates with times."""
    midnight = not re.search("[1-9]", clock)
    if operator in (">", ">="):
        return DayRange(day, "", midnight and (operator == ">=" or (form.text and not clock)))
    if not midnight:
        return DayRange("", day, clock.startswith("23:59:59"))
    return DayRange("", f"{day}{MIDNIGHT}" if operator == "<=" else add_days(day, -1), True)


class NewestDateCache:
    """A cache of the newest dates of a database's columns.

    May be used from several threads. `execute` runs a query as far as its result may leave; `state` gives a key that
    changes whenever the data may have.
    """

    def __init__(self, execute: Callable[[str, Limits], Table], state: Callable[[], str], dialect: str) -> None:
        self._execute = execute
        self._state = state
        self._dialect = dialect
        self._look_up_cached = lru_cache(256)(self._look_up_newest_date)

    def find(self, table: str, column: str) -> str:
        """Return the newest date of a column as text; empty if withheld or too slow to find."""
        try:
            return self._look_up_cached(self._state(), table, column)
        except TableturnError:
            return ""

    def _look_up_newest_date(self, _state: str, table: str, column: str) -> str:
        quote = get_naming_rules(self._dialect).quote
        query = f"SELECT MAX({quote(column)}) AS newest FROM {quote(table)}"
        try:
            result = self._execute(query, Limits(seconds=_SECONDS, rows=1))
        except TableturnError:
            return ""
        value = result.rows[0][0] if result.rows and not result.withheld else None
        # The greatest of texts that do not sort as days, as 31/12/2023, is not the newest.
        day = str(value)[:10]
        return day if is_date_text(day) else ""
