"""A chart as data, before anything draws it, and as a Vega-Lite specification: plain JSON, with the data in it.

Fields of specifications have names of our own, and what a database wrote stands in values and titles only: no name of
a column can be read as a path or an expression.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["number", "line", "area", "bar", "stacked", "pie", "point", "histogram"]
"""Kinds of charts; `area`, `pie` and `histogram` are drawn only if a person asks for them."""

TimeUnit = Literal["", "year", "quarter", "month", "day", "second"]

SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
"""The version that is written; charts use nothing that version 5 does not have too."""

Spec = dict[str, Any]

_WIDTH, _HEIGHT, _BAR = 480, 280, 22
_LONG_LABEL = 10
"""Characters of names that don't fit under a bar: then the bars lie."""

_MANY_BARS = 8
_TIMES: dict[TimeUnit, str] = {
    "year": "%Y",
    "quarter": "%Y Q%q",
    "month": "%b %Y",
    "day": "%-d %b %Y",
    "second": "%-d %b %Y %H:%M",
}
_TYPES = {"time": "temporal", "number": "quantitative", "category": "nominal"}
_COLOURS = {"scheme": "tableau10"}
_MORE_COLOURS = {"scheme": "tableau20"}


@dataclass(frozen=True)
class Axis:
    """What one axis shows.

    Attributes:
        title: For people.
        scale: What its values are.
        unit: Of times, the finest part that is given.
    """

    title: str
    scale: Literal["time", "number", "category"]
    unit: TimeUnit = ""


@dataclass(frozen=True)
class Mark:
    """One thing that is drawn: a bar, a point, a part of a line.

    Attributes:
        x: Where, on the axis `x`; None where there is none.
        y: How much.
        group: Which of the groups it belongs to; empty where there are none.
        label: What else is known of it, for whoever points at it.
    """

    x: int | float | str | None
    y: int | float
    group: str = ""
    label: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart of a result.

    Attributes:
        kind: What it looks like.
        x: Across; None for a single number, and for one bar or pie that is divided into groups.
        y: Up: what is measured.
        marks: What is drawn, in the result's order.
        groups: What the colours stand for; empty where there is one colour.
        title: Over it; may be empty.
        partial: Whether the result had more rows than these.
    """

    kind: Kind
    x: Axis | None
    y: Axis
    marks: tuple[Mark, ...]
    groups: str = ""
    title: str = ""
    partial: bool = False


def vega_lite(chart: Chart) -> Spec:
    """Return the specification, as JSON values.

    Drawn over zero where lengths are compared; in the order of the result, since the query's order is a choice.
    """
    drawn = _DRAWN[chart.kind](chart)
    spec: Spec = {"$schema": SCHEMA, "data": {"values": [_row(chart, mark) for mark in chart.marks]}, **drawn}
    if chart.title or chart.partial:
        more = {"subtitle": f"the first {len(chart.marks):,} only"} if chart.partial else {}
        spec["title"] = {"text": chart.title, "anchor": "start", **more}
    return spec


def shown_number(value: int | float) -> str:
    """Return a number for people: 1,600 and 12.35."""
    if isinstance(value, int) or value.is_integer():
        return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:,.2f}" if 0.01 <= abs(value) < 1e15 else f"{value:.4g}"


def shown_time(value: str, unit: str) -> str:
    """Return a point in time with no finer parts than are known."""
    if unit == "quarter":
        return f"{value[:4]} Q{(int(value[5:7]) + 2) // 3}"
    return value[: {"year": 4, "month": 7, "day": 10}.get(unit, 19)].replace("T", " ")


def _row(chart: Chart, mark: Mark) -> Spec:
    row: Spec = {"y": _plain(mark.y)}
    if chart.x is not None:
        row["x"] = mark.x if isinstance(mark.x, str) else _plain(mark.x)
    if chart.groups:
        row["group"] = mark.group
    if mark.label:
        row["label"] = mark.label
    return row


def _plain(value: int | float | None) -> int | float | None:
    """A number that JSON readers hold: integers beyond the exact ones become floats."""
    return float(value) if isinstance(value, int) and abs(value) > 2**53 else value


def _bars(chart: Chart) -> Spec:
    assert chart.x is not None
    names = list(dict.fromkeys(str(mark.x) for mark in chart.marks))
    lying = max(map(len, names)) > _LONG_LABEL or len(names) > _MANY_BARS * 2
    beside = len({mark.group for mark in chart.marks}) if chart.groups and chart.kind == "bar" else 1
    across = {**_channel("x", chart.x), "sort": None}
    up = _channel("y", chart.y)
    if chart.kind == "stacked":
        up["stack"] = "zero"
    if lying:
        across["axis"] = {"labelLimit": 220}
        places: Spec = {"y": across, "x": up}
    else:
        across["axis"] = {"labelAngle": -40 if len(names) > _MANY_BARS and max(map(len, names)) > 3 else 0}
        places = {"x": across, "y": up}
    if beside > 1:
        places["yOffset" if lying else "xOffset"] = {"field": "group", "sort": None}
    return _drawing(chart, "bar", places, height=max(80, len(names) * max(_BAR, 10 * beside)) if lying else _HEIGHT)


def _divided(chart: Chart) -> Spec:
    """A pie, or one bar, without names beneath, since there is only one; its parts in the order of the result."""
    ordered: Spec = {"transform": [{"window": [{"op": "row_number", "as": "order"}]}]}
    order = {"field": "order", "type": "quantitative"}
    if chart.kind == "pie":
        angle = {"field": "y", "type": "quantitative", "stack": True, "title": chart.y.title}
        return ordered | _drawing(chart, "arc", {"theta": angle, "order": order}, width=280)
    up = {**_channel("y", chart.y), "stack": "zero"}
    return ordered | _drawing(chart, "bar", {"x": up, "order": order}, height=90, size=60)


def _lines(chart: Chart) -> Spec:
    assert chart.x is not None
    across, up = _channel("x", chart.x), _channel("y", chart.y)
    if chart.x.scale == "category":
        across["sort"] = None
    if chart.kind == "line":
        up["scale"] = {"zero": _near_zero(chart)}
    else:
        up["stack"] = "zero"
    points = {"point": True} if chart.kind == "line" and len(chart.marks) <= 60 else {}
    return _drawing(chart, chart.kind, {"x": across, "y": up}, **points)


def _points(chart: Chart) -> Spec:
    assert chart.x is not None
    across, up = _channel("x", chart.x), _channel("y", chart.y)
    up["scale"] = {"zero": _near_zero(chart)}
    if chart.x.scale == "number":
        across["scale"] = {"zero": False}
    tooltip = [{"field": "label", "title": ""}] if any(mark.label for mark in chart.marks) else []
    tooltip += [
        {"field": name, **{key: value for key, value in channel.items() if key in ("type", "title", "format")}}
        for name, channel in (("x", across), ("y", up))
    ]
    drawing = _drawing(chart, "point", {"x": across, "y": up, "tooltip": tooltip})
    return drawing | {"mark": {"type": "point", "filled": True, "opacity": 0.7}}


def _histogram(chart: Chart) -> Spec:
    assert chart.x is not None
    across = {"field": "x", "type": "quantitative", "bin": {"maxbins": 20}, "title": chart.x.title}
    up = {"aggregate": "count", "type": "quantitative", "title": chart.y.title}
    return _drawing(chart, "bar", {"x": across, "y": up})


def _drawing(chart: Chart, mark: str, places: Spec, width: int = _WIDTH, height: int = _HEIGHT, **more: Any) -> Spec:
    """Return what draws each mark at its place, in the colour of its group."""
    places = places | _coloured(chart)
    return {"mark": {"type": mark, "tooltip": True, **more}, "encoding": places, "width": width, "height": height}


def _number(chart: Chart) -> Spec:
    (mark,) = chart.marks
    words = ", ".join(filter(None, (chart.y.title, mark.label)))
    large = {"mark": {"type": "text", "fontSize": 56, "fontWeight": "bold", "text": shown_number(mark.y), "dy": -12}}
    small = {"mark": {"type": "text", "fontSize": 16, "text": words or " ", "dy": 34}}
    return {"layer": [large, small], "width": 320, "height": 140, "config": {"view": {"stroke": None}}}


_DRAWN: dict[Kind, Callable[[Chart], Spec]] = {
    "number": _number,
    "line": _lines,
    "area": _lines,
    "bar": _bars,
    "stacked": lambda chart: _bars(chart) if chart.x else _divided(chart),
    "pie": _divided,
    "point": _points,
    "histogram": _histogram,
}


def _channel(field: str, axis: Axis) -> Spec:
    channel: Spec = {"field": field, "type": _TYPES[axis.scale], "title": axis.title or None}
    if axis.scale == "time":
        channel["axis"] = {"format": _TIMES[axis.unit], "labelOverlap": True}
        if axis.unit == "year":
            channel["axis"]["tickCount"] = "year"
    return channel


def _coloured(chart: Chart) -> Spec:
    if not chart.groups:
        return {}
    groups = list(dict.fromkeys(mark.group for mark in chart.marks))
    scale = (_COLOURS if len(groups) <= 10 else _MORE_COLOURS) | {"domain": groups}
    title = None if chart.groups == "measure" else chart.groups
    return {"color": {"field": "group", "type": "nominal", "scale": scale, "title": title}}


def _near_zero(chart: Chart) -> bool:
    """Whether an axis from zero still shows how its values differ."""
    values = [mark.y for mark in chart.marks]
    low, high = min(values), max(values)
    return low <= 0 <= high or min(abs(low), abs(high)) < 0.5 * max(abs(low), abs(high))
