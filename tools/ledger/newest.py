"""The newest date of the data beside the period that a query asks about."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise

from sqlglot import exp

from ..basis.dates import DateUse, add_days, find_date_use, find_format, is_date_text
from ..database.schema import ColumnSchema
from ..sql.parse import parse_query_tree
from ..sql.query import Query, TableColumn
from ..sql.scope import copy_source_node, select_from
from .ledger import NewestDate
from .path import Count, NotCountedError, make_column

_YEAR, _RECURRING = 365, 4 * 365  # days
_LATE = 0.05  # part of the period asked about, before whose end the data ends; a quiet week at its end is none
_NOW = re.compile(r"current_|\b(?:now|today|curdate|sysdate|localtime)", re.IGNORECASE)
_NEWEST = 4  # dates by which a table tells that each of its rows is about a month or a week
_MANY, _MOST = 20, 100  # dates by which it tells how long it may have none, and those that are looked at
_SEVERAL = 2  # rows for each of another table, from which these are of what happens to people or things
_DAYS, _DAYS_BEFORE = 10_000, 8_000  # of the calendar in which a period is looked for
_CALENDAR = f"""
    WITH digit AS ({" UNION ALL ".join(f"SELECT {n} AS n" for n in range(10))})
    SELECT MIN(asked), MAX(asked), COUNT(*) FROM (SELECT {{day}} AS asked FROM (
        SELECT a.n + 10 * b.n + 100 * c.n + 1000 * e.n AS n FROM digit AS a CROSS JOIN digit AS b
        CROSS JOIN digit AS c CROSS JOIN digit AS e) AS number) AS calendar
"""


def compare_newest_date(
    query: Query, count: Count, newest: Callable[[str, str], str], today: date
) -> NewestDate | None:
    """Compare the newest date with the end of the period asked about, or else its beginning."""
    use, range_conditions = find_date_use(query)
    if use is None or not use.used:
        return None
    conditions, unclear = _list_date_conditions(query, use)
    first, last = use.first[:10], use.last[:10]
    if any(all(node is not other for other in range_conditions) for node, _ in conditions):
        first, last = _find_period(query, count, use, conditions, today)
    day = newest(use.table, use.column) if first or last else ""
    if not day or not (last or first > day):
        return None
    # What lies ahead no data can hold.
    end = min(date.fromisoformat(last), today) if last else date.fromisoformat(first)
    period = (end - date.fromisoformat(first)).days + 1 if first else 0

    def is_late(until: str) -> bool:
        days = (end - date.fromisoformat(until)).days
        return (days > 1 and days >= _LATE * period) or (days > 0 and first > until)

    # Who asks for those born before 2006 asks about no period.
    material = bool(first) and is_late(day) and is_late(_find_end_of_newest(query, count, use, day))
    material = material and all(other <= day for other in _list_dates_of_events(query, newest, use))
    if material and unclear:
        raise NotCountedError("a condition compares its date with another column or a query")
    return NewestDate(use.table, use.column, day, last or first, material)


def _list_dates_of_events(query: Query, newest: Callable[[str, str], str], use: DateUse) -> Iterator[str]:
    """Yield the newest dates of events, if a date tells when their subjects began."""
    table = query.schema.table(use.table)
    others = {key.table for key in query.schema.foreign_keys if key.ref_table == use.table != key.table}
    for other in filter(None, map(query.schema.table, sorted(others))):
        if table and (other.row_count or 0) >= _SEVERAL * (table.row_count or 0) > 0:
            yield from (newest(other.name, column.name) for column in other.columns if column.kind == "time")


def _list_date_conditions(query: Query, use: DateUse) -> tuple[list[tuple[exp.Expr, TableColumn]], bool]:
    """Return the conditions on a date alone, and whether others choose among its days too."""
    conditions, unclear = list[tuple[exp.Expr, TableColumn]](), False
    for condition in (part for scope in query.scopes for part in query.conditions(scope)):
        if condition.clause not in ("where", "on") or not query.holds(condition):
            continue
        nodes = [node for node in query.find(exp.Column, within=condition.node) if query.literal(node) is None]
        columns = [query.column(node) for node in nodes]
        date_columns = [column for column in columns if column is not None and column.item == (use.table, use.column)]
        if date_columns and len(date_columns) == len(columns) and not condition.node.find(exp.Query):
            conditions.append((condition.node, date_columns[0]))
        unclear |= len(date_columns) < len(columns) and bool(date_columns) and condition.clause == "where"
    return conditions, unclear


def _find_period(
    query: Query, count: Count, use: DateUse, conditions: Sequence[tuple[exp.Expr, TableColumn]], today: date
) -> tuple[str, str]:
    """Return the first and last day that meet conditions, empty for an open end.

    The engine looks for them in a calendar, from long before the period to some years after it.
    """
    middle = use.last[:10] if use.last and use.last[:10] < str(today) else str(today)
    begin, end = add_days(middle, -_DAYS_BEFORE), add_days(middle, _DAYS - _DAYS_BEFORE)
    day = _write_calendar_day(conditions[0][1].schema, query, begin)
    calendar = parse_query_tree(_CALENDAR.format(day=day), query.schema.dialect)
    assert isinstance(calendar, exp.Select)
    for node, _ in conditions:
        condition = node.copy()
        columns = (query.find(exp.Column, within=tree) for tree in (node, condition))
        for old, new in zip(*columns, strict=True):
            text = query.literal(old)
            new.replace(exp.column("asked") if text is None else exp.Literal.string(text))
        calendar.where(condition, copy=False)
    ((low, high, days),) = count(calendar.sql(dialect=query.rules.grammar, copy=False))
    if low is None:
        return "", ""
    span = (date.fromisoformat(str(high)[:10]) - date.fromisoformat(str(low)[:10])).days + 1
    # Within a year of an end of the calendar there is no beginning, or no end: months may be chosen too.
    first = str(low)[:10] if str(low) > add_days(begin, _YEAR) else use.first[:10]
    # Days apart over many years recur, as the last of leap years do.
    recurs = days != span and span > _RECURRING
    last = str(high)[:10] if str(high) < add_days(end, -_YEAR) and not recurs else use.last[:10]
    if first and not last and any(_NOW.search(query.text(node)) for node, _ in conditions):
        last = today.isoformat()  # since a day before today means until today
    return first, last if first or use.last else ""


def _find_end_of_newest(query: Query, count: Count, use: DateUse, day: str) -> str:
    """Return the newest day, or the end of its month or week if the newest dates begin these.

    If there are many dates, the longest time between two of them may pass once more.
    """
    source = next(source for scope in query.scopes for source, table in scope.tables if table.name == use.table)
    column = make_column(source, use.column)
    select = select_from(copy_source_node(source), column).where(exp.not_(column.is_(exp.Null()))).distinct()
    cells = count(select.order_by(column.desc()).limit(_MOST).sql(dialect=query.rules.grammar))
    texts = {str(cell)[:10] for (cell,) in cells}
    every = sorted(date.fromisoformat(text) for text in texts if is_date_text(text))
    if len(every) >= _MANY:
        day = str(every[-1] + max(after - before for before, after in pairwise(every)) - timedelta(days=1))
    days = every[-_NEWEST:]
    months = [start.year * 12 + start.month for start in days]
    if len(days) > 1 and all(start.day == 1 for start in days):
        years, month = divmod(months[-1] + min(after - before for before, after in pairwise(months)) - 1, 12)
        return str(date(years, month + 1, 1) - timedelta(days=1))
    if len(days) > 2 and len({start.weekday() for start in days}) == 1:
        return str(days[-1] + min(after - before for before, after in pairwise(days)) - timedelta(days=1))
    return day


def _write_calendar_day(column: ColumnSchema, query: Query, begin: str) -> str:
    """Return SQL for the day `n` days after another, in the form in which a column holds days."""
    times, dialect = find_format(column, is_sqlite=query.rules.is_sqlite), query.rules.name
    day = {
        "sqlite": f"DATE('{begin}', n || ' day')",
        "mysql": f"CAST(DATE_ADD('{begin}', INTERVAL n DAY) AS DATE)",
        "spark": f"DATE_ADD('{begin}', n)",
    }.get(dialect, f"CAST('{begin}' AS DATE) + n")
    if times is not None and not times.text:
        return f"CAST({day} AS {'DATETIME' if dialect == 'mysql' else 'TIMESTAMP'})" if times.mark else day
    text = day if query.rules.is_sqlite else f"CAST({day} AS CHAR(10))"
    if times is None or not times.mark:
        return text
    return f"CONCAT({text}, '{times.mark}00:00:00')" if dialect == "mysql" else f"{text} || '{times.mark}00:00:00'"
