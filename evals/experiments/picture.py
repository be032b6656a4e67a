"""Small pictures of percentages as SVG: bars with the paper's number marked, curves, and box plots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import ceil, floor
from statistics import quantiles

from markupsafe import Markup

_LABELS, _SCALE, _LINE = 300, 4, 22
"""Room for labels, points a percent, and height of a line."""

_END = _LABELS + 100 * _SCALE
_NUMBERS = 240
"""Room for the numbers beside a box."""

_LEFT, _WIDTH, _HEIGHT = 50, 560, 260
"""Of a chart of lines: room for the axis, and the area that the curves have."""

_TICKS = 6
_STYLES = 6
"""Styles of curves in the page's template: `curve-0` and so on."""


@dataclass(frozen=True)
class Mark:
    """One bar.

    Attributes:
        name: Its label.
        ours: In percent.
        paper: The paper's number, a line across; None for none.
        spread: Standard deviation, as an error bar; None for none.
    """

    name: str
    ours: float
    paper: float | None = None
    spread: float | None = None


@dataclass(frozen=True)
class Spot:
    """A place of a curve.

    Attributes:
        x: From left to right.
        y: In percent; None where the curve is a band alone.
        low: Lower end of the band, or of the error bar.
        high: Upper end.
        paper: The paper's number; None for none.
    """

    x: float
    y: float | None
    low: float
    high: float
    paper: float | None = None


@dataclass(frozen=True)
class Curve:
    """A curve, or a band; its spots from left to right."""

    name: str
    spots: Sequence[Spot]


def bars(marks: Sequence[Mark]) -> Markup:
    """A bar a line, from 0 to 100 %."""
    parts: list[Markup] = []
    for number, mark in enumerate(marks):
        top, middle = number * _LINE, number * _LINE + _LINE // 2
        end = _LABELS + mark.ours * _SCALE
        parts.append(_text(mark.name[:60], _LABELS - 8, middle, "end"))
        parts.append(_box(_LABELS, top + 4, mark.ours * _SCALE, _LINE - 8))
        parts.append(_text(f"{mark.ours:.1f}", end + 4, middle))
        if mark.spread is not None:
            parts.append(_line("spread", end - mark.spread * _SCALE, middle, end + mark.spread * _SCALE, middle))
        if mark.paper is not None:
            x = _LABELS + mark.paper * _SCALE
            parts.append(_line("paper", x, top + 1, x, top + _LINE - 1))
    return _svg(parts, _END + 60, len(marks) * _LINE)


def boxes(rows: Sequence[tuple[str, Sequence[float], float]]) -> Markup:
    """A box plot a line over one axis: quartiles as the box, all of the range as whiskers, the median as a line.

    Beside each are its minimum, quartiles and maximum.
    """
    if not rows:
        return Markup("")
    ticks = _ticks(value for _, values, _ in rows for value in values)
    scale = (_END - _LABELS) / (ticks[-1] - ticks[0])
    bottom = len(rows) * _LINE
    parts = [_text("minimum / quartiles / maximum", _END + 16, bottom + 12)]
    for tick in ticks:
        x = _LABELS + (tick - ticks[0]) * scale
        parts += [_line("grid", x, 0, x, bottom), _text(f"{tick:g}", x, bottom + 12, "middle")]
    for number, (name, values, median) in enumerate(rows):
        top, middle = number * _LINE, number * _LINE + _LINE // 2
        first, _, third = quantiles(values, n=4, method="inclusive")
        five = (min(values), first, median, third, max(values))
        low, start, centre, end, high = (_LABELS + (value - ticks[0]) * scale for value in five)
        parts.append(_text(name[:60], _LABELS - 8, middle, "end"))
        parts.append(_line("spread", low, middle, high, middle))
        parts.append(_box(start, top + 4, max(end - start, 1), _LINE - 8))
        parts.append(_line("paper", centre, top + 2, centre, top + _LINE - 2))
        parts.append(_text(" / ".join(f"{value:.1f}" for value in five), _END + 16, middle))
    return _svg(parts, _END + _NUMBERS, bottom + 24)


def lines(title: str, axis: str, curves: Sequence[Curve]) -> Markup:
    """Curves over axes, in percent: bands filled, error bars upright, the paper's numbers as crosses.

    Args:
        title: What is measured.
        axis: What the places are.
        curves: What to draw; nothing comes of none.
    """
    spots = [spot for curve in curves for spot in curve.spots]
    if not spots:
        return Markup("")
    values = (v for spot in spots for v in (spot.y, spot.low, spot.high, spot.paper) if v is not None)
    ticks = _ticks(values)
    places = sorted({spot.x for spot in spots})
    first, span = places[0], (places[-1] - places[0]) or 1.0
    top = (len(curves) + 1) * _LINE
    bottom = top + _HEIGHT

    def across(x: float) -> float:
        return _LEFT + 10 + (x - first) / span * (_WIDTH - 20)

    def up(y: float) -> float:
        return bottom - (y - ticks[0]) / (ticks[-1] - ticks[0]) * _HEIGHT

    crosses = "; × is the paper's number" if any(spot.paper is not None for spot in spots) else ""
    parts = [_text(f"{title}, percent{crosses}", 0, _LINE // 2)]
    for tick in ticks:
        parts += [
            _line("grid", _LEFT, up(tick), _LEFT + _WIDTH, up(tick)),
            _text(f"{tick:g}", _LEFT - 8, up(tick), "end"),
        ]
    for x in places:
        parts += [
            _line("axis", across(x), bottom, across(x), bottom + 5),
            _text(f"{x:g}", across(x), bottom + 16, "middle"),
        ]
    parts.append(_line("axis", _LEFT, bottom, _LEFT + _WIDTH, bottom))
    parts.append(_line("axis", _LEFT, top, _LEFT, bottom))
    parts.append(_text(axis, _LEFT + _WIDTH / 2, bottom + 36, "middle"))
    for number, curve in enumerate(curves):
        style, middle = f"curve curve-{number % _STYLES}", (number + 1) * _LINE + _LINE // 2
        parts += [_line(style, _LEFT, middle, _LEFT + 40, middle), _text(curve.name, _LEFT + 48, middle)]
        drawn = [(across(spot.x), up(spot.y)) for spot in curve.spots if spot.y is not None]
        if not drawn:
            edge = [(across(s.x), up(s.high)) for s in curve.spots] + [
                (across(s.x), up(s.low)) for s in curve.spots[::-1]
            ]
            parts.append(_through("polygon", f"{style} band", edge))
        parts.append(_through("polyline", style, drawn))
        parts += [Markup('<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="3"/>').format(style, x, y) for x, y in drawn]
        for spot in curve.spots:
            x = across(spot.x)
            if spot.y is not None and spot.low < spot.high:
                parts.append(_line("spread", x, up(spot.low), x, up(spot.high)))
            if spot.paper is not None:
                y = up(spot.paper)
                parts += [_line("paper", x - 5, y - 5, x + 5, y + 5), _line("paper", x - 5, y + 5, x + 5, y - 5)]
    return _svg(parts, _LEFT + _WIDTH + 20, bottom + 48)


def _ticks(values: Iterable[float]) -> list[float]:
    """Round numbers from below the least value to above the greatest, few enough to be read."""
    known = list(values)
    low, high = min(known), max(known)
    for step in _steps():
        start, end = floor(low / step), ceil(high / step)
        end = end if end > start else start + 1
        if end - start < _TICKS:
            return [number * step for number in range(start, end + 1)]
    raise AssertionError("steps grow without end")


def _steps() -> Iterator[float]:
    return (10.0**power * digit for power in count(-1) for digit in (1, 2, 5))


def _text(text: str, x: float, y: float, anchor: str = "start") -> Markup:
    return Markup('<text x="{:.1f}" y="{:.1f}" text-anchor="{}" dominant-baseline="central">{}</text>').format(
        x, y, anchor, text
    )


def _line(style: str, x: float, y: float, until_x: float, until_y: float) -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}"/>').format(
        style, x, y, until_x, until_y
    )


def _box(x: float, y: float, width: float, height: float) -> Markup:
    return Markup('<rect class="ours" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}"/>').format(
        x, y, width, height
    )


def _through(shape: str, style: str, points: Sequence[tuple[float, float]]) -> Markup:
    places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    return Markup('<{} class="{}" points="{}"/>').format(shape, style, places) if points else Markup("")


def _svg(parts: Sequence[Markup], width: int, height: int) -> Markup:
    if not parts:
        return Markup("")
    return Markup('<svg viewBox="0 0 {0} {1}" width="{0}" role="img">{2}</svg>').format(
        width, height, Markup("").join(parts)
    )
