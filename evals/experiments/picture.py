"""Small pictures of percentages as SVG: bars with the paper's number marked, and box plots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import quantiles

from markupsafe import Markup, escape

_LABELS, _SCALE, _LINE = 300, 4, 22
"""Room for labels, points a percent, and height of a line."""

_END = _LABELS + 100 * _SCALE


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


def bars(marks: Sequence[Mark]) -> Markup:
    """A bar a line, from 0 to 100 %."""
    parts: list[Markup] = []
    for number, mark in enumerate(marks):
        top, middle = number * _LINE, number * _LINE + _LINE // 2
        parts.append(_label(mark.name, middle))
        parts.append(Markup('<rect class="ours" x="{}" y="{}" width="{:.1f}" height="{}"/>').format(
            _LABELS, top + 4, mark.ours * _SCALE, _LINE - 8
        ))  # fmt: skip
        parts.append(_text(f"{mark.ours:.1f}", _LABELS + mark.ours * _SCALE + 4, middle))
        if mark.spread is not None:
            parts.append(_line(mark.ours - mark.spread, middle, mark.ours + mark.spread, middle, "spread"))
        if mark.paper is not None:
            parts.append(_line(mark.paper, top + 1, mark.paper, top + _LINE - 1, "paper"))
    return _svg(parts, len(marks))


def boxes(rows: Sequence[tuple[str, Sequence[float], float]]) -> Markup:
    """A box plot a line: quartiles as the box, all of the range as whiskers, the median as a line."""
    parts: list[Markup] = []
    for number, (name, values, middle_value) in enumerate(rows):
        top, middle = number * _LINE, number * _LINE + _LINE // 2
        first, _, third = quantiles(values, n=4, method="inclusive")
        parts.append(_label(name, middle))
        parts.append(_line(min(values), middle, max(values), middle, "spread"))
        parts.append(Markup('<rect class="ours" x="{:.1f}" y="{}" width="{:.1f}" height="{}"/>').format(
            _LABELS + first * _SCALE, top + 4, max((third - first) * _SCALE, 1), _LINE - 8
        ))  # fmt: skip
        parts.append(_line(middle_value, top + 2, middle_value, top + _LINE - 2, "paper"))
    return _svg(parts, len(rows))


def _label(name: str, y: int) -> Markup:
    return Markup('<text x="{}" y="{}" text-anchor="end" dominant-baseline="central">{}</text>').format(
        _LABELS - 8, y, escape(name[:60])
    )


def _text(text: str, x: float, y: int) -> Markup:
    return Markup('<text x="{:.1f}" y="{}" dominant-baseline="central">{}</text>').format(x, y, text)


def _line(start: float, y: int, end: float, until: int, kind: str) -> Markup:
    return Markup('<line class="{}" x1="{:.1f}" y1="{}" x2="{:.1f}" y2="{}"/>').format(
        kind, _LABELS + start * _SCALE, y, _LABELS + end * _SCALE, until
    )


def _svg(parts: Sequence[Markup], lines: int) -> Markup:
    if not parts:
        return Markup("")
    return Markup('<svg viewBox="0 0 {} {}" role="img">{}</svg>').format(
        _END + 60, lines * _LINE, Markup("").join(parts)
    )
