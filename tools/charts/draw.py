"""Charts in a terminal: bars by Rich, lines and points by plotille (an extra) where there are too many for bars."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from importlib.util import find_spec
from itertools import cycle
from typing import Any

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from .chart import Chart, Mark, TimeUnit, shown_number, shown_time

_COLOURS = ("blue", "yellow", "red", "cyan", "green", "magenta", "bright_blue", "bright_yellow", "bright_red", "white")
_HEIGHT, _WIDEST, _BAR = 18, 100, 40
_MOST_BARS = 40
_MISSING = "lines and points in the terminal need plotille: pip install 'tableturn[charts]'"
_NO_DOTS = "this terminal has no signs to draw that with: write it to a file with --chart"
_BINS = 12


def drawn(chart: Chart, console: Console) -> RenderableType:
    """Return a chart as Rich prints it on that console, no wider than it is.

    On terminals that know ASCII alone, bars are made of `#`.
    """
    plain = console.options.ascii_only or console.options.legacy_windows
    if chart.kind == "number":
        (mark,) = chart.marks
        words = ", ".join(filter(None, (chart.y.title, mark.label)))
        return Group(Text.assemble((shown_number(mark.y), "bold"), f"  {words}"))
    plotted = chart.kind in ("line", "area", "point")
    if plotted and not plain and find_spec("plotille"):
        body = _plot(chart, min(console.width, _WIDEST))
    elif chart.kind == "point" or (plotted and len(chart.marks) > _MOST_BARS):
        body = Text(_NO_DOTS if plain else _MISSING, style="dim")
    elif chart.kind == "histogram":
        body = _bars([(name, "", count) for name, count in _bins(chart.marks)], plain)
    else:
        body = _bars([(_name(chart, mark), mark.group, mark.y) for mark in chart.marks], plain)
    if chart.x is not None:
        about = f"{chart.y.title or 'measures'} by {chart.x.title}"
    else:
        about = f"{chart.y.title} of {chart.groups}" if chart.groups else chart.y.title
    about = ", ".join(filter(None, (about, "the first rows only" if chart.partial else "")))
    return Group(Text(about, style="dim"), body) if about else Group(body)


def _name(chart: Chart, mark: Mark) -> str:
    if chart.x is None:
        return ""
    return shown_time(str(mark.x), chart.x.unit) if chart.x.scale == "time" else str(mark.x)


def _bars(rows: Sequence[tuple[str, str, int | float]], plain: bool) -> RenderableType:
    """A line a bar: its name, its group, its length, its number; what is below zero stands on the other side."""
    low, high = min(0.0, *(float(y) for *_, y in rows)), max(0.0, *(float(y) for *_, y in rows))
    span = (high - low) or 1.0
    colours = _colours(group for _, group, _ in rows)
    table = Table.grid(padding=(0, 1), expand=False)
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=32)
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=20)
    table.add_column(width=_BAR)
    table.add_column(justify="right", no_wrap=True)
    before = None
    for name, group, y in rows:
        start, end = (min(0.0, float(y)) - low) / span, (max(0.0, float(y)) - low) / span
        signs = " " * round(_BAR * start) + "#" * round(_BAR * (end - start))
        bar = Text(signs) if plain else Bar(1.0, start, end, width=_BAR, color=colours[group])
        table.add_row(Text("" if name == before else name), Text(group), bar, Text(shown_number(y)))
        before = name
    return table


def _colours(groups: Iterable[str]) -> dict[str, str]:
    """Return a colour for each group, in order."""
    return dict(zip(dict.fromkeys(groups), cycle(_COLOURS)))


def _bins(marks: Sequence[Mark]) -> list[tuple[str, int]]:
    values = [float(mark.x) for mark in marks if isinstance(mark.x, int | float)]
    low, high = min(values), max(values)
    step = (high - low) / _BINS or 1.0
    counts = [0] * _BINS
    for value in values:
        counts[min(_BINS - 1, int((value - low) / step))] += 1
    return [
        (f"{shown_number(low + n * step)} to {shown_number(low + (n + 1) * step)}", c) for n, c in enumerate(counts)
    ]


def _plot(chart: Chart, width: int) -> RenderableType:
    """Lines and points in dots of braille."""
    import plotille

    figure: Any = plotille.Figure()
    figure.width, figure.height = max(20, width - 30), _HEIGHT
    figure.origin, figure.color_mode, figure.with_colors = False, "names", True
    assert chart.x is not None
    figure.x_label, figure.y_label = chart.x.title[:24], chart.y.title[:24]
    across, named = _positions(chart)
    up = [float(mark.y) for mark in chart.marks]
    figure.set_x_limits(*_span(across))
    low, high = _span(up)
    zero_is_near = 0 <= low <= high / 2
    figure.set_y_limits(0.0 if zero_is_near else low, high)

    def shown(value: float, chars: int, delta: float, left: bool = False) -> str:
        text = named(value) if left and named else shown_number(value)
        return text[:chars].ljust(chars) if left else text[:chars].rjust(chars)

    figure.register_label_formatter(float, shown)
    colours = _colours(mark.group for mark in chart.marks)
    for group, colour in colours.items():
        xs, ys = zip(
            *((x, y) for x, y, mark in zip(across, up, chart.marks, strict=True) if mark.group == group), strict=True
        )
        draw = figure.scatter if chart.kind == "point" else figure.plot
        draw(xs, ys, lc=colour, label=group or None)
    legend = (Text(f"■ {group}", style=colour) for group, colour in colours.items() if group)
    return Group(Text.from_ansi(figure.show()), Text("  ").join(legend))


def _span(values: Sequence[float]) -> tuple[float, float]:
    """From the least to the largest; never nothing."""
    low, high = min(values), max(values)
    margin = abs(low) / 2 or 1.0
    return (low, high) if low < high else (low - margin, high + margin)


def _positions(chart: Chart) -> tuple[list[float], Callable[[float], str] | None]:
    """Where marks stand across, and what a place is called: times by their distance, names one after the other."""
    assert chart.x is not None
    names = [str(mark.x) for mark in chart.marks]
    if chart.x.scale == "number":
        return [float(mark.x) for mark in chart.marks if isinstance(mark.x, int | float)], None
    if chart.x.scale == "time":
        unit, start = chart.x.unit, datetime(1, 1, 1)
        seconds = [(datetime.fromisoformat(name) - start).total_seconds() for name in names]
        return seconds, lambda value: _time(start, value, unit)
    places = list(dict.fromkeys(names))
    last = len(places) - 1
    return [float(places.index(name)) for name in names], lambda value: places[min(last, max(0, round(value)))]


def _time(start: datetime, seconds: float, unit: TimeUnit) -> str:
    try:
        return shown_time((start + timedelta(seconds=max(0.0, seconds))).isoformat(), unit)
    except OverflowError:
        return ""
