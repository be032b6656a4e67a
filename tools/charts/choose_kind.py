"""The choice of a chart for a result, by the types and shape of its columns.

A rule looks at the columns and gives a chart or nothing; the first that gives one is taken. Where none does, no chart
is better than one that misleads: rows are told apart by their names (not drawn over one another), measures of other
sizes don't share an axis, and averages are not stacked.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from itertools import product
from typing import Literal, TypeAlias, get_args

from ..database.table import Cell
from ..formats import PLAIN, PLAIN_NUMBER, ColumnFormat, column_formats
from ..terminal import safe
from ..words import english_stem
from .chart import Axis, Chart, Kind, Mark, TimeUnit, time_text
from .wish import Wish

# Points in time; something measured; named groups; numbers or keys that name; bytes, mixtures, nothing but NULL.
Role = Literal["time", "number", "category", "label", "none"]

Cells: TypeAlias = Sequence[Cell]
Values: TypeAlias = Sequence[int | float | str | None]

# Of more rows a chart would be a cloud, and a large specification.
_MOST_ROWS, _MOST_COLUMNS = 5_000, 50
# Bars in a chart that nobody asked for, and in one that somebody did.
_MOST_BARS, _MOST_WISHED_BARS = 40, 100
_MOST_GROUPS = 12  # that colours can tell apart
_FEWEST_POINTS = 5
_ALIKE = 50.0  # times as large as the other's largest a measure's may be, for both to stand on one axis
_LONGEST = 60  # characters of a group's name; a column of longer texts holds prose, not groups
_NOTHING = "(none)"  # stands for NULL among names of groups
_YEARS = range(1000, 3000)

# Measures whose sum means nothing.
_NOT_ADDED = re.compile(
    r"\b(?:avg|average|mean|median|min|minimum|max|maximum|smallest|largest|lowest|highest|rate|ratio|price|age|score"
    r"|rating|temperature|rank|rounded)\b"
)
_KEYS = frozenset({"id", "ids", "key", "code", "zip", "zipcode", "postcode", "phone", "isbn", "sku", "uuid", "number"})
_SHARES = frozenset({"share", "percent", "percentage", "pct", "proportion", "fraction", "%"})
# Parts of times as numbers, by the word in their column's name.
_PARTS = {"month": (1, 12), "quarter": (1, 4), "weekday": (0, 7), "day": (1, 31), "hour": (0, 23), "week": (0, 53)}
# What stands for numbers that are none (`plain_cell`, and engines' own words).
_NO_NUMBER = frozenset({"nan", "infinity", "-infinity", "inf", "-inf"})

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|%|[^\W\d_a-zA-Z]+")
_BLOB = re.compile(r"x'(?:[0-9A-Fa-f]{2})*'")
_QUARTER = re.compile(r"(\d{4})[- ]?Q([1-4])", re.IGNORECASE)
_TIME = re.compile(
    r"(\d{4})(?:-(\d{2})(?:-(\d{2})([ T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?)?)?"
)

_LARGEST = 1e300  # of numbers that are drawn: a difference of larger ones may be no number


@dataclass(frozen=True)
class _Field:
    """A result column, prepared for charts."""

    index: int
    title: str
    role: Role
    values: tuple[int | float | str | None, ...]  # finite numbers, times as `YYYY-MM-DDTHH:MM:SS`, and else texts
    unit: TimeUnit = ""  # of a `time`, the finest part that is given
    form: ColumnFormat = PLAIN

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of its name, in lower case."""
        return _split_words(self.title)

    @cached_property
    def numbers(self) -> list[int | float]:
        """The numbers, without missing values."""
        return [value for value in self.values if isinstance(value, int | float)]

    @cached_property
    def distinct(self) -> int:
        """The number of different values."""
        return len(set(self.values) - {None})

    @property
    def names_rows(self) -> bool:
        """Whether every value is unique; one may be missing."""
        return self.distinct == sum(value is not None for value in self.values) >= len(self.values) - 1

    @property
    def is_share(self) -> bool:
        """Whether its name says that the numbers are shares, and they add up to 1 or 100."""
        if not _SHARES.intersection(self.words) or len(self.numbers) < 2 or min(self.numbers) < 0:
            return False
        total = math.fsum(self.numbers)
        return any(math.isclose(total, whole, rel_tol=0.02) for whole in (1, 100))

    def text(self, row: int) -> str:
        """Return a value as text for people."""
        value = str(self.values[row])
        return time_text(value, self.unit, self.form.locale) if self.role == "time" else value


@dataclass(frozen=True)
class _ChartData:
    columns: tuple[_Field, ...]
    rows: int
    wish: Wish

    def of(self, *roles: str) -> list[_Field]:
        """Return the columns of these roles in order, those that the wish names first."""
        columns = [column for role in roles for column in self.columns if column.role == role]
        return sorted(columns, key=lambda column: [not _count_named(column, words) for words in self.wish.x])

    @cached_property
    def time(self) -> _Field | None:
        """The column of times."""
        return _first_or_none(self.of("time"))

    @cached_property
    def measures(self) -> list[_Field]:
        """The numeric columns, those that the wish measures first; a chosen one alone."""
        if self.wish.measure is not None:
            return [column for column in self.of("number") if column.index == self.wish.measure]
        across = " ".join(self.wish.x)
        return sorted(self.of("number"), key=lambda one: _count_named(one, across) - _count_named(one, self.wish.y))


def choose(
    titles: Sequence[str],
    rows: Sequence[Cells],
    wish: Wish | None = None,
    *,
    title: str = "",
    partial: bool = False,
    formats: Sequence[ColumnFormat] = (),
) -> Chart | None:
    """Return the chart that fits a result, preferably as wished; None if none fits. `formats` has one per column."""
    if not 0 < len(rows) <= _MOST_ROWS or not 0 < len(titles) <= _MOST_COLUMNS:
        return None
    formats = formats or column_formats(None, titles, rows)
    columns = (
        replace(_read_column(index, name, [row[index] for row in rows]), form=formats[index])
        for index, name in enumerate(titles)
    )
    result = _ChartData(tuple(columns), len(rows), wish or Wish(None, ""))
    wished = (_WISHED[wish.kind],) if wish and wish.kind else ()
    for rule in (*wished, *_RULES):
        if chart := rule(result):
            return replace(chart, title=_shorten(title), partial=partial)
    return None


def _try_number(result: _ChartData) -> Chart | None:
    """Return a single large number for one row with one measure."""
    measures = result.measures
    if result.rows != 1 or len(measures) != 1 or len(result.columns) > 3 or not measures[0].numbers:
        return None
    label = ", ".join(column.text(0) for column in result.of("time", "category", "label"))
    return Chart("number", None, _make_axis(measures[0]), (Mark(None, measures[0].numbers[0], label=label),))


def _try_line(result: _ChartData, kind: Kind = "line") -> Chart | None:
    """Return a line chart over time, with a line per group or per comparable measure."""
    time, measures = result.time, result.measures
    if time is None or not measures or time.distinct < 3:
        return None
    groups = _first_or_none([column for column in result.of("category", "label") if _name_rows(time, column)])
    if groups is not None and groups.distinct <= _MOST_GROUPS:
        return _make_chart(kind, time, measures[:1], groups)
    return _make_chart(kind, time, _find_alike(measures)) if time.names_rows else None


def _try_parts(result: _ChartData, kind: Kind = "stacked", of_any: bool = False) -> Chart | None:
    """Return a pie or a divided bar for parts of one whole."""
    measure = _first_or_none([column for column in result.measures if of_any or column.is_share])
    names = _find_names(result)
    if names is None or measure is None or not measure.numbers or result.rows > _MOST_GROUPS:
        return None
    return _make_chart(kind, None, [measure], names) if min(measure.numbers) >= 0 < max(measure.numbers) else None


def _try_groups(result: _ChartData, kind: Kind = "bar") -> Chart | None:
    """Return bars over two categories: stacked if the measure adds up, else side by side."""
    dimensions, measures = result.of("time", "category", "label"), result.measures
    if len(dimensions) < 2 or not measures or _find_person(dimensions):
        return None
    measure = measures[0]
    fitting = [
        (across, within)
        for across, within in product(dimensions[:4], repeat=2)
        if across is not within
        and 1 < within.distinct <= _MOST_GROUPS
        and 1 < across.distinct <= _MOST_BARS
        and within.distinct < result.rows > across.distinct
        and _name_rows(across, within)
    ]
    if not fitting:
        return None
    longest = max(fitting, key=lambda pair: (pair[0].role == "time", pair[0].distinct))
    across, within = fitting[0] if result.wish.x else longest
    adds_up = min(measure.numbers, default=-1) >= 0 and not _NOT_ADDED.search(" ".join(measure.words))
    if adds_up or kind == "stacked":
        return _make_chart("stacked", across, [measure], within)
    return _make_chart("bar", across, [measure], within) if result.rows <= _MOST_BARS else None


def _try_bars(result: _ChartData, most: int = _MOST_BARS) -> Chart | None:
    """Return a bar chart with a bar per name and comparable measure."""
    names, measures = _find_measures(result)
    if names is None or not measures or not 2 <= result.rows <= most:
        return None
    return _make_chart("bar", names, measures if len(measures) * result.rows <= most else measures[:1])


def _try_points(result: _ChartData) -> Chart | None:
    """Return points for two measures of the same things, or for many events over time."""
    measures, dimensions = result.measures, result.of("category", "label")
    if measures and not result.time:  # a chosen one is drawn against another
        measures = [*measures, *(column for column in result.of("number") if column not in measures)]
    if len(measures) == 1 and result.time and result.time.distinct >= _FEWEST_POINTS:
        categories = result.of("category")
        groups = _first_or_none([column for column in categories if 1 < column.distinct <= _MOST_GROUPS])
        return _make_chart("point", result.time, measures, groups) if len(categories) < 2 else None
    if len(measures) < 2 or result.rows < _FEWEST_POINTS or min(column.distinct for column in measures[:2]) < 2:
        return None
    across, up = sorted(measures[:2], key=lambda column: column.index)
    if result.wish.x or result.wish.y or result.wish.measure is not None:
        up, across = measures[0], measures[-1]
    groups = _first_or_none([column for column in dimensions if 1 < column.distinct <= _MOST_GROUPS < result.rows])
    others = [column for column in dimensions if column is not groups]
    return _make_chart("point", across, [up], groups, _first_or_none(others))


def _try_unlike(result: _ChartData) -> Chart | None:
    """Return points for two measures whose sizes differ too much for one axis."""
    unlike = len(result.measures) == 2 and len(_find_alike(result.measures)) == 1 and result.rows >= 2 * _FEWEST_POINTS
    return _try_points(result) if unlike and _find_names(result) else None


def _try_histogram(result: _ChartData) -> Chart | None:
    measure = _first_or_none(result.measures)
    if measure is None or measure.distinct < 2:
        return None
    marks = tuple(Mark(value, 1) for value in measure.numbers)
    return Chart("histogram", _make_axis(measure), Axis("number of rows", "number"), marks)


def _try_steps(result: _ChartData, kind: Kind = "line") -> Chart | None:
    """Return a line chart, also over steps that are not times."""
    if (chart := _try_line(result, kind)) or result.rows <= 2:
        return chart
    names, measures = _find_measures(result)
    return _make_chart(kind, names, measures) if names and measures else None


_Rule = Callable[[_ChartData], Chart | None]

# In order: the first that gives a chart is taken.
_RULES: tuple[_Rule, ...] = (_try_number, _try_line, _try_parts, _try_groups, _try_unlike, _try_bars, _try_points)
_WISHED: dict[Kind, _Rule] = {
    "number": _try_number,
    "line": _try_steps,
    "area": lambda result: _try_steps(result, "area"),
    "bar": lambda result: _try_groups(result) or _try_bars(result, _MOST_WISHED_BARS),
    "stacked": lambda result: _try_groups(result, "stacked") or _try_parts(result, of_any=True),
    "pie": lambda result: _try_parts(result, "pie", of_any=True),
    "point": _try_points,
    "histogram": _try_histogram,
}


def _first_or_none(columns: Sequence[_Field]) -> _Field | None:
    return columns[0] if columns else None


def _split_words(name: str) -> tuple[str, ...]:
    """Return the words of a name, split at case changes and signs."""
    return tuple(word.lower() for word in _WORD.findall(name))


def _count_named(column: _Field, words: str) -> int:
    """Count the words of the column's name that are in `words`."""
    wanted = set(map(english_stem, _split_words(words)))
    return len(wanted.intersection(map(english_stem, column.words)))


def _find_measures(result: _ChartData) -> tuple[_Field | None, list[_Field]]:
    """Return the column that names each row, and comparable measures."""
    names = _find_names(result) or _find_steps(result)
    return names, _find_alike([column for column in result.measures if names is None or column.index != names.index])


def _find_names(result: _ChartData) -> _Field | None:
    """Return a column that names each row, combined from several if necessary."""
    dimensions = result.of("category", "label", "time")
    if person := _find_person(dimensions):
        return person
    texts = [column for column in dimensions if column.role == "category"]
    for column in dimensions:
        if column.names_rows and not (column.role == "label" and texts):
            return column
    return _join_columns(texts[:3]) if len(texts) > 1 else _first_or_none([c for c in dimensions if c.names_rows])


def _find_person(dimensions: Sequence[_Field]) -> _Field | None:
    """Return a column of first and last names combined."""
    parts = [
        _first_or_none([column for column in dimensions if column.words[:1] == (word,) and "name" in column.words])
        for word in ("first", "last")
    ]
    return _join_columns([column for column in parts if column]) if all(parts) else None


def _join_columns(columns: Sequence[_Field]) -> _Field | None:
    """Return one column combined from several, if it names each row."""
    person = columns[0].words[:1] == ("first",)
    title = "name" if person else _shorten(", ".join(column.title for column in columns))
    rows = zip(*(map(str, column.values) for column in columns), strict=True)
    values = tuple(_shorten((" " if person else ", ").join(row)) for row in rows)
    joined = _Field(columns[0].index, title, "category", values)
    return joined if joined.names_rows else None


def _find_steps(result: _ChartData) -> _Field | None:
    """Return the column of consecutive whole numbers, such as ratings, as labels."""
    numbers = result.of("number")
    first = min(numbers, key=lambda column: column.index, default=None)
    if first is None or len(numbers) < 2 or not first.names_rows or first.distinct > _MOST_GROUPS:
        return None
    whole = all(isinstance(value, int) for value in first.values)
    if not whole or max(first.numbers) - min(first.numbers) > 2 * _MOST_GROUPS:
        return None
    return replace(first, role="label", values=tuple(map(str, first.values)))


def _name_rows(a: _Field, b: _Field) -> bool:
    """Whether the values of two columns together name each row."""
    return len(set(zip(a.values, b.values, strict=True))) == len(a.values)


def _find_alike(measures: Sequence[_Field]) -> list[_Field]:
    """Return the first measure, and up to three more that can share its axis."""
    sizes = [max(map(abs, column.numbers), default=0.0) for column in measures]
    return [
        column
        for column, size in zip(measures, sizes, strict=True)
        if column is measures[0] or (0 < sizes[0] <= _ALIKE * size and size <= _ALIKE * sizes[0])
    ][:4]


def _make_axis(column: _Field) -> Axis:
    scale = column.role if column.role in ("time", "number") else "category"
    return Axis(column.title, scale, column.unit, column.form)


def _make_chart(
    kind: Kind, by: _Field | None, measures: list[_Field], groups: _Field | None = None, label: _Field | None = None
) -> Chart | None:
    """Return a chart with a mark per row and measure; None if there is nothing to draw."""
    several = len(measures) > 1
    axis = _make_axis(by) if by else None
    as_names = kind in ("bar", "stacked") and axis is not None and axis.scale == "time"
    marks: list[Mark] = []
    for measure in measures:
        for row, value in enumerate(measure.values):
            if not isinstance(value, int | float) or (by is not None and by.values[row] is None):
                continue
            place = by and (by.text(row) if as_names else by.values[row])
            group = measure.title if several else groups.text(row) if groups else ""
            marks.append(Mark(place, value, group, label.text(row) if label else ""))
    if len(marks) < 2:
        return None
    if axis is not None and as_names:
        axis = replace(axis, scale="category")
    y = _make_axis(measures[0])
    if several:
        alike = {measure.form for measure in measures}
        y = replace(y, title="", form=y.form if len(alike) == 1 else PLAIN_NUMBER)
    return Chart(kind, axis, y, tuple(marks), "measure" if several else groups.title if groups else "")


def _read_column(index: int, name: str, cells: Cells) -> _Field:
    title = _shorten(name.replace("_", " "))
    role, unit, values = _read_values(_split_words(title), cells)
    if role in ("category", "label"):
        values = [_NOTHING if value is None else _shorten(str(value)) for value in values]
    column = _Field(index, title, role, tuple(values), unit)
    return column if column.distinct else replace(column, role="none")


def _read_values(words: Sequence[str], cells: Cells) -> tuple[Role, TimeUnit, Values]:
    """Return the role of the cells, the unit if they are times, and their values."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.lower() not in _NO_NUMBER]
    numbers = [cell for cell in cells if isinstance(cell, int | float)]
    if any(isinstance(cell, bytes) for cell in cells) or bool(texts) == bool(numbers):
        return "none", "", ()
    if numbers:
        return _read_numbers(words, [_read_number(cell) for cell in cells])
    points = [_read_time(cell) if isinstance(cell, str) else None for cell in cells]
    units: list[TimeUnit] = [point[1] for point in points if point]
    if len(units) == len(texts):
        return "time", max(units, key=get_args(TimeUnit).index), [point and point[0] for point in points]
    if all(map(_BLOB.fullmatch, texts)) or 2 * sum(len(text) > _LONGEST for text in texts) > len(texts):
        return "none", "", ()
    return "category", "", [cell if isinstance(cell, str) else None for cell in cells]


def _read_numbers(words: Sequence[str], values: Sequence[int | float | None]) -> tuple[Role, TimeUnit, Values]:
    known = [value for value in values if value is not None]
    if known and all(isinstance(value, int) for value in known):
        if "year" in words and all(value in _YEARS for value in known):
            return "time", "year", [value and f"{value:04d}-01-01T00:00:00" for value in values]
        last = words[-1] if words else ""
        least, most = _PARTS.get(last, (1, 0))
        is_key = last in _KEYS and not {"of", "count"}.intersection(words)
        if is_key or all(least <= value <= most for value in known):
            return "label", "", values
    return "number", "", values


def _read_number(cell: Cell) -> int | float | None:
    return cell if isinstance(cell, int | float) and abs(cell) < _LARGEST else None


def _read_time(text: str) -> tuple[str, TimeUnit] | None:
    """Return a point in time and its unit; None if the text is not a time."""
    if quarter := _QUARTER.fullmatch(text):
        return f"{quarter[1]}-{3 * int(quarter[2]) - 2:02d}-01T00:00:00", "quarter"
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    year, month, day, clock = match.groups()
    if month is None and int(year) not in _YEARS:
        return None
    try:
        point = datetime.fromisoformat(f"{year}-{month or '01'}-{day or '01'}{clock or ''}")
    except ValueError:
        return None
    unit: TimeUnit = "second" if clock else "day" if day else "month" if month else "year"
    return point.replace(tzinfo=None, microsecond=0).isoformat(), unit


def _shorten(text: str) -> str:
    """Return a text for an axis: printable, and not too long."""
    text = " ".join(safe(text).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
