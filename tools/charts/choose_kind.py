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
from itertools import pairwise, permutations
from typing import TypeAlias, get_args

from ..database.table import Cell, PlainCell
from ..formats import PLAIN_NUMBER, ColumnFormat, choose_column_formats, format_cell
from ..terminal import sanitize_text
from ..words import ISO_TIME, QUARTER, humanize_name, split_name, stem_english_word
from .chart import Chart, ChartAxis, ChartMark, Kind, Scale, TimeUnit
from .wish import ChartRequest

Cells: TypeAlias = Sequence[Cell]
Values: TypeAlias = Sequence[PlainCell]

# Of more rows a chart would be a cloud, and a large specification.
_MOST_ROWS, _MOST_COLUMNS = 5_000, 50
# Bars in a chart that nobody asked for, and in one that somebody did.
_MOST_BARS, _MOST_WISHED_BARS = 40, 100
_MOST_EVENTS = 100  # points over time in a chart that nobody asked for
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
_SHARES = frozenset({"share", "percent", "percentage", "pct", "proportion", "fraction"})
# Parts of times as numbers, by the word in their column's name.
_PARTS = {"month": (1, 12), "quarter": (1, 4), "weekday": (0, 7), "day": (1, 31), "hour": (0, 23), "week": (0, 53)}
# What stands for numbers that are none (`convert_cell`, and engines' own words).
_NO_NUMBER = frozenset({"nan", "infinity", "-infinity", "inf", "-inf"})

_BLOB = re.compile(r"x'(?:[0-9A-Fa-f]{2})*'")

_LARGEST = 1e300  # of numbers that are drawn: a difference of larger ones may be no number


@dataclass(frozen=True)
class _ChartColumn(ChartAxis):
    """A result column, prepared as an axis of a chart."""

    index: int = 0
    values: tuple[PlainCell, ...] = ()  # finite numbers, times as `YYYY-MM-DDTHH:MM:SS`, else texts
    words: tuple[str, ...] = ()  # of its name, in lower case

    @cached_property
    def numbers(self) -> list[int | float]:
        """The column's numbers, without missing values."""
        return [value for value in self.values if isinstance(value, int | float)]

    @cached_property
    def distinct_count(self) -> int:
        """The number of different values in the column, NULL not counted."""
        return len(set(self.values) - {None})

    @property
    def has_unique_values(self) -> bool:
        """Whether all values of the column are unique; one may be missing."""
        return self.distinct_count == sum(value is not None for value in self.values) >= len(self.values) - 1

    @property
    def is_sorted(self) -> bool:
        """Whether the values rise or fall from row to row, or stay."""
        keys = [(isinstance(value, str), value) for value in self.values if value is not None]
        return len(keys) == len(self.values) and keys in (sorted(keys), sorted(keys, reverse=True))

    @property
    def has_regular_times(self) -> bool:
        """Whether the short steps between times are at least a quarter of the mean step."""
        times = [datetime.fromisoformat(str(value)) for value in sorted(map(str, set(self.values) - {None}))]
        steps = sorted(after - before for before, after in pairwise(times))
        return bool(steps) and 4 * steps[len(steps) // 10] >= (times[-1] - times[0]) / len(steps)

    @property
    def is_share_column(self) -> bool:
        """Whether the name means shares, such as `percent`, and the numbers add up to 1 or 100."""
        if not _SHARES.intersection(self.words) or len(self.numbers) < 2 or min(self.numbers) < 0:
            return False
        return any(math.isclose(math.fsum(self.numbers), whole, rel_tol=0.02) for whole in (1, 100))


@dataclass(frozen=True)
class _ChartData:
    columns: tuple[_ChartColumn, ...]
    rows: int
    wish: ChartRequest

    def pick(self, *scales: Scale) -> list[_ChartColumn]:
        """Return the columns with the given scales, first those that the chart request names."""
        columns = [column for scale in scales for column in self.columns if column.scale == scale]
        return sorted(columns, key=lambda column: [not _count_shared(column, words) for words in self.wish.x])

    @cached_property
    def time(self) -> _ChartColumn | None:
        """The first column of times; None if no column has times."""
        return next(iter(self.pick("time")), None)

    @property
    def has_keys(self) -> bool:
        """Whether a key or code tells each row from the others, as in a list of records."""
        return any(column.has_unique_values for column in self.pick("label"))

    @cached_property
    def measures(self) -> list[_ChartColumn]:
        """The numeric columns, first those that the chart request measures."""
        if self.wish.measure is not None:
            return [column for column in self.pick("number") if column.index == self.wish.measure]
        axis = " ".join(self.wish.x)
        return sorted(self.pick("number"), key=lambda one: _count_shared(one, axis) - _count_shared(one, self.wish.y))


def choose(
    titles: Sequence[str],
    rows: Sequence[Cells],
    wish: ChartRequest | None = None,
    *,
    title: str = "",
    partial: bool = False,
    formats: Sequence[ColumnFormat] = (),
) -> Chart | None:
    """Return a chart for a result, preferably of the requested kind; None if no chart fits."""
    if not 0 < len(rows) <= _MOST_ROWS or not 0 < len(titles) <= _MOST_COLUMNS:
        return None
    formats = formats or choose_column_formats(None, titles, rows)
    cells = zip(*rows, strict=True)
    columns = [_make_chart_column(*fields) for fields in zip(range(len(titles)), titles, cells, formats, strict=True)]
    result = _ChartData(tuple(columns), len(rows), wish or ChartRequest(None, ""))
    wished = (_WISHED[wish.kind],) if wish and wish.kind else ()
    rules = (*wished, *_RULES, *((_make_line_chart, _make_scatter_chart) if wish else ()))
    chart = next(filter(None, (rule(result) for rule in rules)), None) if result.measures else None
    return chart and replace(chart, title=_shorten_axis_text(title), partial=partial)


def _make_number_chart(result: _ChartData) -> Chart | None:
    """Return a chart of one large number if the result has one row and one measure."""
    measure, *others = result.measures
    if result.rows != 1 or others or len(result.columns) > 3:
        return None
    label = ", ".join(column.format(column.values[0]) for column in result.pick("time", "category", "label"))
    caption = replace(measure, title=", ".join(filter(None, (measure.title, label))))
    return Chart("number", None, caption, (ChartMark(measure.numbers[0], label=label or None),))


def _make_line_chart(result: _ChartData, kind: Kind = "line") -> Chart | None:
    """Return a line chart over time, with a line per group or per comparable measure."""
    time = result.time
    if time is None or time.distinct_count < 3:
        return None
    names = result.pick("category", "label")
    groups = next((one for one in names if len({*zip(time.values, one.values, strict=True)}) == result.rows), None)
    if groups is not None and groups.distinct_count <= min(_MOST_GROUPS, result.rows - 1):
        return _make_chart(kind, time, result.measures[:1], groups)
    return _make_chart(kind, time, _find_comparable_measures(result.measures)) if time.has_unique_values else None


def _make_series_chart(result: _ChartData) -> Chart | None:
    """Return a line chart of a time series; None for lists, rankings and rows with names."""
    time = result.time
    if time is None or ((result.has_keys or result.rows > _MOST_BARS) and not time.has_regular_times):
        return None
    in_time, is_ranked = time.is_sorted, result.measures[0].is_sorted
    has_names = any(column.has_unique_values for column in result.pick("category"))
    is_series = in_time and not is_ranked if has_names else in_time or not is_ranked
    return _make_line_chart(result) if is_series else None


def _make_share_chart(result: _ChartData, kind: Kind = "stacked", any_measure: bool = False) -> Chart | None:
    """Return a pie chart or a stacked bar of the parts of one whole."""
    measure = next((column for column in result.measures if any_measure or column.is_share_column), None)
    names = _find_row_name_column(result)
    if names is None or measure is None or result.rows > _MOST_GROUPS:
        return None
    return _make_chart(kind, None, [measure], names) if min(measure.numbers) >= 0 < max(measure.numbers) else None


def _make_grouped_bar_chart(result: _ChartData, kind: Kind = "bar") -> Chart | None:
    """Return a bar chart over two categories, stacked if the values may be summed."""
    dimensions, measure = result.pick("time", "category", "label"), result.measures[0]
    if _find_person_name_column(dimensions):
        return None
    fitting = [
        (across, groups)
        for across, groups in permutations(dimensions[:4], 2)
        if 1 < groups.distinct_count <= _MOST_GROUPS
        and 1 < across.distinct_count <= _MOST_BARS
        and groups.distinct_count < result.rows > across.distinct_count
        and len({*zip(across.values, groups.values, strict=True)}) == result.rows
    ]
    is_additive = min(measure.numbers) >= 0 and not _NOT_ADDED.search(" ".join(measure.words))
    is_stacked = is_additive or kind == "stacked"
    if not fitting or not (is_stacked or result.rows <= _MOST_BARS):
        return None
    longest = max(fitting, key=lambda pair: (pair[0].scale == "time", pair[0].distinct_count))
    across, groups = fitting[0] if result.wish.x else longest
    return _make_chart("stacked" if is_stacked else "bar", across, [measure], groups)


def _make_bar_chart(result: _ChartData, limit: int = _MOST_BARS) -> Chart | None:
    """Return a bar chart with one bar per row and comparable measure."""
    names, measures = _find_names_and_measures(result)
    if names is None or not measures or not 2 <= result.rows <= limit:
        return None
    return _make_chart("bar", names, measures if len(measures) * result.rows <= limit else measures[:1])


def _make_scatter_chart(result: _ChartData) -> Chart | None:
    """Return a scatter chart of two measures, or of one measure over time."""
    measures, dimensions = result.measures, result.pick("category", "label")
    if not result.time:  # a chosen one is drawn against another
        measures = [*measures, *(column for column in result.pick("number") if column not in measures)]
    if len(measures) == 1 and result.time and result.time.distinct_count >= _FEWEST_POINTS:
        categories = result.pick("category")
        groups = next((column for column in categories if 1 < column.distinct_count <= _MOST_GROUPS), None)
        return _make_chart("point", result.time, measures, groups) if len(categories) < 2 else None
    if len(measures) < 2 or result.rows < _FEWEST_POINTS or min(column.distinct_count for column in measures[:2]) < 2:
        return None
    across, up = sorted(measures[:2], key=lambda column: column.index)
    if result.wish.x or result.wish.y or result.wish.measure is not None:
        up, across = measures[0], measures[-1]
    groups = next((column for column in dimensions if 1 < column.distinct_count <= _MOST_GROUPS < result.rows), None)
    label = next((column for column in dimensions if column is not groups), None)
    return _make_chart("point", across, [up], groups, label)


def _make_distinct_point_chart(result: _ChartData) -> Chart | None:
    """Return a scatter chart whose points can be told apart; None for a list of events."""
    chart = _make_scatter_chart(result)
    if chart is None or (result.time and (result.has_keys or result.rows > _MOST_EVENTS)):
        return None
    places = {(mark.x, mark.y) for mark in chart.marks}
    fewest = min(len(set(values)) for values in zip(*places, strict=True))
    return chart if fewest >= _FEWEST_POINTS and 2 * len(places) >= len(chart.marks) else None


def _make_two_scale_scatter_chart(result: _ChartData) -> Chart | None:
    """Return a scatter chart of two measures whose sizes differ too much for one axis."""
    unlike = len(result.measures) == 2 and len(_find_comparable_measures(result.measures)) == 1
    is_named = result.rows >= 2 * _FEWEST_POINTS and _find_row_name_column(result) is not None
    return _make_distinct_point_chart(result) if unlike and is_named else None


def _make_histogram(result: _ChartData) -> Chart | None:
    measure = result.measures[0]
    rows = ChartAxis("number of rows", "number", form=replace(PLAIN_NUMBER, locale=measure.form.locale))
    marks = tuple(ChartMark(1, value) for value in measure.numbers)
    return Chart("histogram", measure, rows, marks) if measure.distinct_count > 1 else None


def _make_any_line_chart(result: _ChartData, kind: Kind = "line") -> Chart | None:
    """Return a line chart over times, row names or a few whole numbers."""
    if (chart := _make_line_chart(result, kind)) or result.rows <= 2:
        return chart
    names, measures = _find_names_and_measures(result)
    return _make_chart(kind, names, measures) if names and measures else None


_Rule = Callable[[_ChartData], Chart | None]

# In order: the first that gives a chart is taken.
_RULES: tuple[_Rule, ...] = (
    _make_number_chart,
    _make_series_chart,
    _make_share_chart,
    _make_grouped_bar_chart,
    _make_two_scale_scatter_chart,
    _make_bar_chart,
    _make_distinct_point_chart,
)
_WISHED: dict[Kind, _Rule] = {
    "number": _make_number_chart,
    "line": _make_any_line_chart,
    "area": lambda result: _make_any_line_chart(result, "area"),
    "bar": lambda result: _make_grouped_bar_chart(result) or _make_bar_chart(result, _MOST_WISHED_BARS),
    "stacked": lambda result: _make_grouped_bar_chart(result, "stacked") or _make_share_chart(result, any_measure=True),
    "pie": lambda result: _make_share_chart(result, "pie", any_measure=True),
    "point": _make_scatter_chart,
    "histogram": _make_histogram,
}


def _count_shared(column: _ChartColumn, words: str) -> int:
    """Count the words of the column's name that are in `words`."""
    stems = set(map(stem_english_word, split_name(words)))
    return len(stems.intersection(map(stem_english_word, column.words)))


def _find_names_and_measures(result: _ChartData) -> tuple[_ChartColumn | None, list[_ChartColumn]]:
    """Return the column that names each row, and the measures that can share one axis."""
    names = _find_row_name_column(result) or _find_step_column(result)
    others = [column for column in result.measures if names and column.index != names.index]
    return names, _find_comparable_measures(others)


def _find_row_name_column(result: _ChartData) -> _ChartColumn | None:
    """Return a column that names each row, combined from several if necessary."""
    dimensions, texts = result.pick("category", "label", "time"), result.pick("category")
    unique = [column for column in dimensions if column.has_unique_values]
    names = [column for column in unique if not texts or column.scale != "label"]
    if (person := _find_person_name_column(dimensions)) or names or len(texts) < 2:
        return person or next(iter(names or unique), None)
    return _combine_columns(", ".join(column.title for column in texts[:3]), texts[:3], ", ")


def _find_person_name_column(dimensions: Sequence[_ChartColumn]) -> _ChartColumn | None:
    """Return one column of full names, combined from first and last names."""
    parts = {column.words[0]: column for column in reversed(dimensions) if "name" in column.words}
    named = {"first", "last"} <= parts.keys()
    return _combine_columns("name", [parts["first"], parts["last"]], " ") if named else None


def _combine_columns(title: str, columns: Sequence[_ChartColumn], separator: str) -> _ChartColumn | None:
    """Combine columns into one; return None if the combined values are not unique."""
    rows = zip(*(map(str, column.values) for column in columns), strict=True)
    values = tuple(_shorten_axis_text(separator.join(row)) for row in rows)
    result = _ChartColumn(_shorten_axis_text(title), "category", index=columns[0].index, values=values)
    return result if result.has_unique_values else None


def _find_step_column(result: _ChartData) -> _ChartColumn | None:
    """Return a column of few different whole numbers, such as ratings, as labels."""
    first, *others = sorted(result.pick("number"), key=lambda column: column.index)
    if not others or not first.has_unique_values or not all(isinstance(value, int) for value in first.values):
        return None
    are_steps = len(first.values) <= _MOST_GROUPS and max(first.numbers) - min(first.numbers) <= 2 * _MOST_GROUPS
    return replace(first, scale="label", values=tuple(map(str, first.values))) if are_steps else None


def _find_comparable_measures(measures: Sequence[_ChartColumn]) -> list[_ChartColumn]:
    """Return the first measure and up to three others that can share one axis."""
    sizes = [max(map(abs, column.numbers)) for column in measures]
    pairs = zip(measures[1:], sizes[1:], strict=True)
    alike = [column for column, size in pairs if 0 < sizes[0] <= _ALIKE * size and size <= _ALIKE * sizes[0]]
    return [*measures[:1], *alike[:3]]


def _make_chart(
    kind: Kind,
    by: _ChartColumn | None,
    measures: list[_ChartColumn],
    groups: _ChartColumn | None = None,
    label: _ChartColumn | None = None,
) -> Chart | None:
    """Return a chart with a mark per row and measure; None if there is nothing to draw."""
    if by is not None and by.scale == "time" and kind in ("bar", "stacked"):
        by = replace(by, scale="category", values=tuple(value and by.format(value) for value in by.values))
    several = len(measures) > 1
    marks = tuple(
        ChartMark(
            value,
            by and by.values[row],
            measure.title if several else groups and groups.format(groups.values[row]),
            (label and label.format(label.values[row])) or None,
        )
        for measure in measures
        for row, value in enumerate(measure.values)
        if isinstance(value, int | float) and (by is None or by.values[row] is not None)
    )
    if len(marks) < 2:
        return None
    y = measures[0]
    if several:
        alike = len({measure.form for measure in measures}) == 1
        y = replace(y, title="", form=y.form if alike else replace(PLAIN_NUMBER, locale=y.form.locale))
    return Chart(kind, by, y, marks, "measure" if several else groups.title if groups else "")


def _make_chart_column(index: int, name: str, cells: Cells, form: ColumnFormat) -> _ChartColumn:
    title = _shorten_axis_text(humanize_name(name))
    words = split_name(title.replace("%", " percent "))
    scale, unit, values = _classify_cells(words, cells, form)
    if scale in ("category", "label"):
        values = [_NOTHING if value is None else _shorten_axis_text(format_cell(value, form)) for value in values]
    return _ChartColumn(title, scale, unit, form, index, tuple(values), words)


def _classify_cells(words: Sequence[str], cells: Cells, form: ColumnFormat) -> tuple[Scale, TimeUnit, Values]:
    """Return the scale of the cells, the unit if they are times, and their values."""
    texts = [cell for cell in cells if isinstance(cell, str) and cell.lower() not in _NO_NUMBER]
    numbers = [cell if isinstance(cell, int | float) and abs(cell) < _LARGEST else None for cell in cells]
    values = [number for number in numbers if number is not None]
    if any(isinstance(cell, bytes) for cell in cells) or bool(texts) == bool(values):
        return "none", "second", ()
    if values:
        if form.kind == "year" and all(number in _YEARS for number in values):
            return "time", "year", [number and f"{number:04.0f}-01-01T00:00:00" for number in numbers]
        least, highest = _PARTS.get("".join(words[-1:]), (1, 0))
        is_part = all(isinstance(number, int) and least <= number <= highest for number in values)
        return "label" if is_part or form.kind in ("key", "boolean") else "number", "second", numbers
    points = [_parse_time(cell) if isinstance(cell, str) else None for cell in cells]
    units: list[TimeUnit] = [point[1] for point in points if point]
    if len(units) == len(texts):
        return "time", max(units, key=get_args(TimeUnit).index), [point and point[0] for point in points]
    if all(map(_BLOB.fullmatch, texts)) or 2 * sum(len(text) > _LONGEST for text in texts) > len(texts):
        return "none", "second", ()
    return "category", "second", [cell if isinstance(cell, str) else None for cell in cells]


def _parse_time(text: str) -> tuple[str, TimeUnit] | None:
    """Return a point in time and its unit; None if the text is not a time."""
    if quarter := QUARTER.fullmatch(text):
        return f"{quarter[1]}-{3 * int(quarter[2]) - 2:02d}-01T00:00:00", "quarter"
    match = ISO_TIME.fullmatch(text)
    units: tuple[TimeUnit, ...] = ("year", "month", "date", "second")
    parts = sum(part is not None for part in match.group("year", "month", "day", "clock")) if match else 0
    if not parts or (parts == 1 and int(text) not in _YEARS):
        return None
    try:
        point = datetime.fromisoformat(text + "-01-01"[3 * parts - 3 :])
    except ValueError:
        return None
    return point.replace(tzinfo=None, microsecond=0).isoformat(), units[parts - 1]


def _shorten_axis_text(text: str) -> str:
    """Return a text on one printable line, shortened for an axis."""
    text = " ".join(sanitize_text(text).split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
