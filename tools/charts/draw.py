"""Charts in a terminal: bars by Rich, lines and points by plotille (an extra)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib.util import find_spec
from itertools import cycle, pairwise
from typing import Any

from rich.bar import Bar
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..formats import PLAIN_NUMBER, ColumnFormat, format_cell
from .chart import Chart, ChartAxis

_COLOURS = ("blue", "yellow", "red", "cyan", "green", "magenta", "bright_blue", "bright_yellow", "bright_red", "white")
_HEIGHT, _WIDEST, _BAR = 18, 100, 40
_MOST_BARS, _BINS = 40, 12
_MISSING = "lines and points in the terminal need plotille: pip install 'tableturn[charts]'"
_NO_DOTS = "this terminal cannot show this kind of chart: write it to a file with --chart"


def draw_chart(chart: Chart, console: Console) -> RenderableType:
    """Return a chart as a Rich renderable that fits the width of the console."""
    plain = console.options.ascii_only or console.options.legacy_windows
    if chart.kind == "number":
        return Group(Text.assemble((format_cell(chart.marks[0].y, chart.y.form), "bold"), f"  {chart.y.title}"))
    divided = f"{chart.y.title} of {chart.groups}" if chart.groups else chart.y.title
    about = f"{chart.y.title or 'measures'} by {chart.x.title}" if chart.x else divided
    about = ", ".join(filter(None, (about, "the first rows only" if chart.partial else "")))
    is_plot = chart.kind in ("line", "area", "point")
    if chart.x and is_plot and not plain and find_spec("plotille"):
        body = _draw_line_or_point_plot(chart, chart.x, min(console.width, _WIDEST))
    elif chart.kind == "point" or (is_plot and len(chart.marks) > _MOST_BARS):
        body = Text(_NO_DOTS if plain else _MISSING, style="dim")
    elif chart.kind == "histogram" and chart.x:
        import numpy

        counts, limits = numpy.histogram([float(mark.x or 0) for mark in chart.marks], _BINS)
        edges = pairwise(format_cell(float(limit), chart.x.form) for limit in limits)
        bins = [(" to ".join(ends), "", int(count)) for ends, count in zip(edges, counts, strict=True)]
        body = _draw_bar_chart(bins, plain)
    else:
        bars = [(chart.x.format(mark.x) if chart.x else "", mark.group or "", mark.y) for mark in chart.marks]
        body = _draw_bar_chart(bars, plain, chart.y.form)
    return Group(Text(about, style="dim"), body) if about else Group(body)


def _draw_bar_chart(
    rows: Sequence[tuple[str, str, int | float]], plain: bool, form: ColumnFormat = PLAIN_NUMBER
) -> RenderableType:
    """Return a table with one line per bar: name, group, bar and number."""
    ends = [0.0, *(float(y) for *_, y in rows)]
    low, span = min(ends), (max(ends) - min(ends)) or 1.0
    colours = _choose_group_colours(group for _, group, _ in rows)
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
        table.add_row(Text("" if name == before else name), Text(group), bar, Text(format_cell(y, form)))
        before = name
    return table


def _choose_group_colours(groups: Iterable[str]) -> dict[str, str]:
    return dict(zip(dict.fromkeys(groups), cycle(_COLOURS)))


def _draw_line_or_point_plot(chart: Chart, axis: ChartAxis, width: int) -> RenderableType:
    """Return a plot of lines or points drawn in braille characters."""
    import plotille

    figure: Any = plotille.Figure()
    figure.width, figure.height = max(20, width - 30), _HEIGHT
    figure.origin, figure.color_mode, figure.with_colors = False, "names", True
    figure.x_label, figure.y_label = axis.title[:24], chart.y.title[:24]
    across, place_text = _compute_mark_positions(axis, [str(mark.x) for mark in chart.marks])
    up = [float(mark.y) for mark in chart.marks]
    if min(across) < max(across):
        figure.set_x_limits(min(across), max(across))
    if 0 <= min(up) <= max(up) / 2:
        figure.set_y_limits(min_=0.0)

    def format_axis_label(value: float, chars: int, delta: float, left: bool = False) -> str:
        text = place_text(value) if left else format_cell(value, chart.y.form)
        if not left and len(text) > chars:
            text = format_cell(round(value), replace(chart.y.form, decimals=0))
        return f"{text:{'<' if left else '>'}{chars}.{chars}}"

    figure.register_label_formatter(float, format_axis_label)
    colours = _choose_group_colours(mark.group or "" for mark in chart.marks)
    draw = figure.scatter if chart.kind == "point" else figure.plot
    for group, colour in colours.items():
        places = [(x, y) for x, y, mark in zip(across, up, chart.marks, strict=True) if (mark.group or "") == group]
        draw(*zip(*places, strict=True), lc=colour, label=group or None)
    legend = (Text(f"■ {group}", style=colour) for group, colour in colours.items() if group)
    return Group(Text.from_ansi(figure.show()), Text("  ").join(legend))


def _compute_mark_positions(axis: ChartAxis, names: Sequence[str]) -> tuple[list[float], Callable[[float], str]]:
    """Return the marks' positions on an axis, and a function that formats a position as text."""
    import numpy

    if axis.scale == "number":
        return [float(name) for name in names], lambda value: format_cell(value, axis.form)
    if axis.scale == "time":
        # Of any year: a plot's axis goes beyond its marks.
        length = {"year": 4, "quarter": 7, "month": 7, "date": 10}.get(axis.unit, 16)
        seconds = [float(second) for second in numpy.array(names, "datetime64[s]").astype(int)]
        return seconds, lambda value: str(numpy.datetime64(round(value), "s")).replace("T", " ")[:length]
    places = list(dict.fromkeys(names))
    last = len(places) - 1
    return [float(places.index(name)) for name in names], lambda value: places[min(last, max(0, round(value)))]
