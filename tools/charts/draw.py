"""Charts in a terminal: bars by Rich, lines and points by plotille (an extra) where there are too many for bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from .chart import Chart, Mark
from .choose import shown_time
from .columns import TimeUnit
from .spec import shown_number

_COLOURS = ("blue", "yellow", "red", "cyan", "green", "magenta", "bright_blue", "bright_yellow", "bright_red", "white")
_HEIGHT, _WIDEST = 18, 100
_MOST_BARS = 40
_MISSING = "lines and points in the terminal need plotille: pip install 'tableturn[charts]'"
_NO_DOTS = "this terminal has no signs to draw that with: write it to a file with --chart"
_BINS = 12


def drawn(chart: Chart, console: Console) -> RenderableType:
    """A chart as Rich prints it on that console, no wider than it is.

    On terminals that know ASCII alone, bars are made of `#`.
    """
    plain = console.options.ascii_only or console.options.legacy_windows
    width = min(console.width, _WIDEST)
    if chart.kind == "number":
        (mark,) = chart.marks
        words = ", ".join(filter(None, (chart.y.title, mark.label)))
        body: RenderableType = Text.assemble((shown_number(mark.y), "bold"), f"  {words}")
    elif chart.kind == "histogram":
        body = _bars([(name, "", count) for name, count in _bins(chart.marks)], plain)
    elif chart.kind in ("line", "area", "point"):
        body = _plot(chart, width, plain)
    else:
        body = _bars([(_name(chart, mark), mark.group, mark.y) for mark in chart.marks], plain)
    about = ", ".join(filter(None, (_about(chart), "the first rows only" if chart.partial else "")))
    return Group(Text(about, style="dim"), body) if about and chart.kind != "number" else Group(body)


def _about(chart: Chart) -> str:
    """What the chart shows, in words."""
    if chart.x is None:
        return f"{chart.y.title} of {chart.groups}" if chart.groups else chart.y.title
    return f"{chart.y.title or 'measures'} by {chart.x.title}"


def _name(chart: Chart, mark: Mark) -> str:
    if chart.x is None:
        return ""
    return shown_time(str(mark.x), chart.x.unit) if chart.x.scale == "time" else str(mark.x)


def _bars(rows: Sequence[tuple[str, str, int | float]], plain: bool) -> RenderableType:
    """A line a bar: its name, its group, its length, its number; what is below zero stands on the other side."""
    low, high = min(0.0, *(float(y) for *_, y in rows)), max(0.0, *(float(y) for *_, y in rows))
    span = (high - low) or 1.0
    colours = {
        group: _COLOURS[place % len(_COLOURS)] for place, group in enumerate(dict.fromkeys(g for _, g, _ in rows))
    }
    table = Table.grid(padding=(0, 1), expand=False)
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=32)
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=20)
    table.add_column(width=40)
    table.add_column(justify="right", no_wrap=True)
    before = None
    for name, group, y in rows:
        start, end = (min(0.0, float(y)) - low) / span, (max(0.0, float(y)) - low) / span
        bar = (
            Text(" " * round(40 * start) + "#" * round(40 * (end - start)))
            if plain
            else _bar(start, end, colours[group])
        )
        table.add_row(Text("" if name == before else name), Text(group), bar, Text(shown_number(y)))
        before = name
    return table


def _bar(start: float, end: float, colour: str) -> Bar:
    return Bar(1.0, start, end, width=40, color=colour)


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


def _plot(chart: Chart, width: int, plain: bool) -> RenderableType:
    """Lines and points in dots of braille; bars where these cannot be had, if there are not too many."""
    try:
        import plotille
    except ImportError:
        plotille = None
    if plotille is None or plain:
        if chart.kind != "point" and len(chart.marks) <= _MOST_BARS:
            return _bars([(_name(chart, mark), mark.group, mark.y) for mark in chart.marks], plain)
        return Text(_NO_DOTS if plain else _MISSING, style="dim")
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
    for place, group in enumerate(dict.fromkeys(mark.group for mark in chart.marks)):
        xs, ys = zip(
            *((x, y) for x, y, mark in zip(across, up, chart.marks, strict=True) if mark.group == group), strict=True
        )
        draw = figure.scatter if chart.kind == "point" else figure.plot
        draw(xs, ys, lc=_COLOURS[place % len(_COLOURS)], label=group or None)
    return Group(Text.from_ansi(figure.show()), _legend(chart))


def _legend(chart: Chart) -> Text:
    groups = list(dict.fromkeys(mark.group for mark in chart.marks if mark.group))
    return Text("  ").join(Text(f"■ {group}", style=_COLOURS[n % len(_COLOURS)]) for n, group in enumerate(groups))


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
    return [float(places.index(name)) for name in names], lambda value: places[
        min(len(places) - 1, max(0, round(value)))
    ]


def _time(start: datetime, seconds: float, unit: TimeUnit) -> str:
    try:
        return shown_time((start + timedelta(seconds=max(0.0, seconds))).isoformat(), unit)
    except OverflowError:
        return ""
