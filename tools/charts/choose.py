"""Which chart fits a result: one table of rules over the types and the shape of its columns.

A rule looks at the columns and gives a chart or nothing; the first that gives one is taken. Where none does, no chart
is better than one that misleads: rows are told apart by their names (not drawn over one another), measures of other
sizes don't share an axis, and averages are not stacked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from ..database.table import Cell
from ..words import english_stem
from .chart import Axis, Chart, Kind, Mark, shown_time
from .columns import Column, cut, read_columns, words_of
from .wish import Wish

MOST_ROWS = 5_000
"""Rows of which a chart is made; more would be a cloud, and a large specification."""

MOST_COLUMNS = 50

MOST_BARS, MOST_WISHED_BARS = 40, 100
"""Bars in a chart that nobody asked for, and in one that somebody did."""

MOST_GROUPS = 12
"""Groups that colours can tell apart."""

_FEWEST_POINTS = 5
_ALIKE = 50.0
"""How many times as large as the other's largest a measure's may be, for both to stand on one axis."""

_NOT_ADDED = frozenset(
    re.findall(
        r"\w+",
        "avg average mean median min minimum max maximum smallest largest lowest highest rate ratio price age score "
        "rating temperature rank rounded",
    )
)
"""Words of measures whose sum means nothing."""


@dataclass(frozen=True)
class _Result:
    columns: tuple[Column, ...]
    rows: int
    wish: Wish

    def of(self, *roles: str) -> list[Column]:
        """Columns of these roles, in the order of the roles; those that the wish names come first."""
        found = [column for role in roles for column in self.columns if column.role == role]
        return sorted(found, key=self._place)

    @property
    def measures(self) -> list[Column]:
        """Columns of numbers; those that the wish names as measured come first, as an axis across last."""
        across = " ".join(self.wish.x)
        found = self.of("number")
        return sorted(found, key=lambda column: self._named(column, across) - self._named(column, self.wish.y))

    def _place(self, column: Column) -> int:
        """Where the wish names a column among what is measured by; beyond all of it where it doesn't."""
        named = (place for place, words in enumerate(self.wish.x) if self._named(column, words))
        return next(named, len(self.wish.x))

    def _named(self, column: Column, words: str) -> int:
        wanted = set(map(english_stem, words_of(words)))
        return len(wanted.intersection(map(english_stem, column.words)))


def choose(
    titles: Sequence[str],
    rows: Sequence[Sequence[Cell]],
    wish: Wish | None = None,
    *,
    title: str = "",
    partial: bool = False,
) -> Chart | None:
    """The chart that fits a result; None where none does.

    Args:
        titles: A name a column, for people.
        rows: The result's rows, each as long as `titles`.
        wish: The picture that was asked for; where it does not fit the result, what fits is taken.
        title: Of the chart.
        partial: Whether the result had more rows than these.
    """
    if not 0 < len(rows) <= MOST_ROWS or not 0 < len(titles) <= MOST_COLUMNS:
        return None
    result = _Result(read_columns(titles, rows), len(rows), wish or Wish(None, ""))
    wished = (_WISHED[wish.kind],) if wish and wish.kind else ()
    for rule in (*wished, *RULES):
        if chart := rule(result):
            return replace(chart, title=cut(title), partial=partial)
    return None


def _number(result: _Result) -> Chart | None:
    """One row, one number: the number, large."""
    measures = result.measures
    if result.rows != 1 or len(measures) != 1 or len(result.columns) > 3 or not measures[0].numbers:
        return None
    label = ", ".join(_told(column, 0) for column in result.of("time", "category", "label"))
    return Chart("number", None, _axis(measures[0]), (Mark(None, measures[0].numbers[0], label=label),))


def _line(result: _Result, kind: Kind = "line") -> Chart | None:
    """Points in time: a line, one for each of a few groups, or one for each of several alike measures."""
    time, measures = _first(result.of("time")), result.measures
    if time is None or not measures or time.distinct < 3:
        return None
    groups = _first([column for column in result.of("category", "label") if _pairs(time, column)])
    if groups is not None and groups.distinct <= MOST_GROUPS:
        return _chart(kind, time, measures[:1], groups)
    if time.names_rows:
        return _chart(kind, time, _alike(measures))
    return None


def _whole(result: _Result) -> Chart | None:
    """Parts of one whole: one bar, divided."""
    measure, names = _first([column for column in result.measures if column.share]), _names(result)
    if measure is None or names is None or not 2 <= result.rows <= MOST_GROUPS:
        return None
    return _chart("stacked", None, [measure], names)


def _grouped(result: _Result, kind: Kind | None = None) -> Chart | None:
    """Two ways of grouping: bars of parts where parts add up, bars side by side where they don't."""
    dimensions, measures = result.of("time", "category", "label"), result.measures
    if len(dimensions) < 2 or not measures or _person(dimensions):
        return None
    measure = measures[0]
    fitting = [
        (across, within)
        for across, within in product(dimensions[:4], repeat=2)
        if across is not within
        and 1 < within.distinct <= MOST_GROUPS
        and 1 < across.distinct <= MOST_BARS
        and within.distinct < result.rows > across.distinct
        and _pairs(across, within)
    ]
    if not fitting:
        return None
    first = fitting[0] if result.wish.x else max(fitting, key=lambda pair: (pair[0].role == "time", pair[0].distinct))
    across, within = first
    adds_up = min(measure.numbers, default=-1) >= 0 and not _NOT_ADDED.intersection(measure.words)
    if adds_up or kind == "stacked":
        return _chart("stacked", across, [measure], within)
    return _chart("bar", across, [measure], within) if result.rows <= MOST_BARS else None


def _bars(result: _Result, most: int = MOST_BARS) -> Chart | None:
    """Names and numbers: a bar for each name, or one for each of several alike measures beside one another."""
    named = _named(result)
    if named is None or not 2 <= result.rows <= most:
        return None
    names, alike = named
    return _chart("bar", names, alike if len(alike) * result.rows <= most else alike[:1])


def _points(result: _Result) -> Chart | None:
    """Two measures of the same things: points."""
    measures = result.measures
    if len(measures) < 2 or result.rows < _FEWEST_POINTS or min(column.distinct for column in measures[:2]) < 2:
        return None
    across, up = sorted(measures[:2], key=lambda column: column.index)
    if result.wish.x or result.wish.y:
        up, across = measures[0], measures[-1]
    dimensions = result.of("category", "label")
    groups = _first([column for column in dimensions if 1 < column.distinct <= MOST_GROUPS < result.rows])
    return _chart("point", across, [up], groups, _first([column for column in dimensions if column is not groups]))


def _incomparable(result: _Result) -> Chart | None:
    """Two measures of other sizes, of things with names: points, for bars on one axis would hide the smaller one."""
    measures = result.measures
    named = _names(result) is not None and len(measures) == 2 and len(_alike(measures)) == 1
    return _points(result) if named and result.rows >= 2 * _FEWEST_POINTS else None


def _times(result: _Result) -> Chart | None:
    """Many events, each at its time: points."""
    time, measures = _first(result.of("time")), result.measures
    if time is None or len(measures) != 1 or time.distinct < _FEWEST_POINTS or len(result.of("category")) > 1:
        return None
    groups = _first([column for column in result.of("category") if 1 < column.distinct <= MOST_GROUPS])
    return _chart("point", time, measures, groups)


def _pie(result: _Result) -> Chart | None:
    names, measures = _names(result), result.measures
    if names is None or not measures or result.rows > MOST_GROUPS:
        return None
    numbers = measures[0].numbers
    return _chart("pie", None, measures[:1], names) if numbers and min(numbers) >= 0 < max(numbers) else None


def _stacked(result: _Result) -> Chart | None:
    return _grouped(result, "stacked") or (replace(pie, kind="stacked") if (pie := _pie(result)) else None)


def _histogram(result: _Result) -> Chart | None:
    measure = _first(result.measures)
    if measure is None or measure.distinct < 2:
        return None
    marks = tuple(Mark(value, 1) for value in measure.values if isinstance(value, int | float))
    return Chart("histogram", _axis(measure), Axis("number of rows", "number"), marks)


def _wished_line(result: _Result, kind: Kind = "line") -> Chart | None:
    """Over steps that are no times too: months by number, names in an order."""
    if (found := _line(result, kind)) or result.rows <= 2:
        return found
    named = _named(result)
    return _chart(kind, *named) if named else None


Rule = Callable[[_Result], Chart | None]

RULES: tuple[Rule, ...] = (_number, _line, _whole, _grouped, _incomparable, _bars, _points, _times)
"""In order: the first that gives a chart is taken."""

_WISHED: dict[Kind, Rule] = {
    "number": _number,
    "line": _wished_line,
    "area": lambda result: _wished_line(result, "area"),
    "bar": lambda result: _grouped(result) or _bars(result, MOST_WISHED_BARS),
    "stacked": _stacked,
    "pie": _pie,
    "point": lambda result: _points(result) or _times(result),
    "histogram": _histogram,
}


def _first(columns: Sequence[Column]) -> Column | None:
    return columns[0] if columns else None


def _named(result: _Result) -> tuple[Column, list[Column]] | None:
    """What names each row, and alike measures of it; None where either is missing."""
    names = _names(result) or _steps(result)
    measures = [column for column in result.measures if names is None or column.index != names.index]
    return (names, _alike(measures)) if names and measures else None


def _names(result: _Result) -> Column | None:
    """A column that gives each row a name, made of several where it takes several."""
    dimensions = result.of("category", "label", "time")
    if person := _person(dimensions):
        return person
    texts = [column for column in dimensions if column.role == "category"]
    for column in dimensions:
        if column.names_rows and not (column.role == "label" and texts):
            return column
    return _joined(texts[:3]) if len(texts) > 1 else _first([c for c in dimensions if c.names_rows])


def _person(dimensions: Sequence[Column]) -> Column | None:
    """First and last names are one name."""
    named = [
        next((column for column in dimensions if column.words[:1] == (word,) and "name" in column.words), None)
        for word in ("first", "last")
    ]
    return _joined([column for column in named if column]) if all(named) else None


def _joined(columns: Sequence[Column]) -> Column | None:
    """One column of several, where that names each row."""
    separator = " " if columns[0].words[:1] == ("first",) else ", "
    values = tuple(
        cut(separator.join(map(str, row))) for row in zip(*(column.values for column in columns), strict=True)
    )
    title = "name" if separator == " " else ", ".join(column.title for column in columns)
    joined = Column(columns[0].index, cut(title), "category", values, columns[0].words, distinct=len(set(values)))
    return joined if joined.names_rows else None


def _steps(result: _Result) -> Column | None:
    """Whole numbers in a row, such as ratings, of each of which something is told."""
    numbers = result.of("number")
    first = min(numbers, key=lambda column: column.index, default=None)
    if first is None or len(numbers) < 2 or not first.names_rows or first.distinct > MOST_GROUPS:
        return None
    whole = all(isinstance(value, int) for value in first.values)
    if not whole or max(first.numbers) - min(first.numbers) > 2 * MOST_GROUPS:
        return None
    return replace(first, role="label", values=tuple(map(str, first.values)))


def _pairs(a: Column, b: Column) -> bool:
    """Whether the values of two columns together name each row."""
    return len(set(zip(a.values, b.values, strict=True))) == len(a.values)


def _alike(measures: Sequence[Column]) -> list[Column]:
    """The first measure, and those that can stand on its axis, four at most."""
    sizes = [max(map(abs, column.numbers), default=0.0) for column in measures]
    return [
        column
        for column, size in zip(measures, sizes, strict=True)
        if column is measures[0] or (0 < sizes[0] <= _ALIKE * size and size <= _ALIKE * sizes[0])
    ][:4]


def _told(column: Column, row: int) -> str:
    """A value as text for people."""
    return shown_time(str(column.values[row]), column.unit) if column.role == "time" else str(column.values[row])


def _axis(column: Column) -> Axis:
    scale = column.role if column.role in ("time", "number") else "category"
    return Axis(column.title, scale, column.unit)


def _chart(
    kind: Kind,
    across: Column | None,
    measures: Sequence[Column],
    groups: Column | None = None,
    label: Column | None = None,
) -> Chart | None:
    """A chart with a mark a row and measure; None where nothing could be drawn."""
    several = len(measures) > 1
    marks: list[Mark] = []
    for measure in measures:
        for row, value in enumerate(measure.values):
            x = across.values[row] if across else None
            if not isinstance(value, int | float) or (across is not None and x is None):
                continue
            group = measure.title if several else _told(groups, row) if groups else ""
            marks.append(Mark(x, value, group, _told(label, row) if label else ""))
    if len(marks) < 2:
        return None
    x = _axis(across) if across else None
    if kind in ("bar", "stacked") and x is not None and x.scale == "time":
        marks = [replace(mark, x=shown_time(str(mark.x), x.unit)) for mark in marks]
        x = replace(x, scale="category")
    y = Axis("", "number") if several else _axis(measures[0])
    return Chart(kind, x, y, tuple(marks), "measure" if several else groups.title if groups else "")
