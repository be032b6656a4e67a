"""A chart as a Vega-Lite specification: plain JSON that any renderer draws, with the data in it.

Fields have names of our own, and what a database wrote stands in values and titles only: no name of a column can be
read as a path or an expression.
"""

from __future__ import annotations

from typing import Any

from .chart import Axis, Chart, Mark
from .columns import TimeUnit

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


def vega_lite(chart: Chart) -> Spec:
    """The specification, as JSON values.

    Drawn over zero where lengths are compared; in the order of the result, since the query's order is a choice.
    """
    drawn = _DRAWN[chart.kind](chart)
    spec: Spec = {"$schema": SCHEMA, "data": {"values": [_row(chart, mark) for mark in chart.marks]}, **drawn}
    if chart.title or chart.partial:
        more = {"subtitle": f"the first {len(chart.marks):,} only"} if chart.partial else {}
        spec["title"] = {"text": chart.title, "anchor": "start", **more}
    return spec


def shown_number(value: int | float) -> str:
    """A number for people: 1,600 and 12.35."""
    if isinstance(value, int) or value.is_integer():
        return f"{value:,.0f}" if abs(value) < 1e15 else f"{value:.4g}"
    return f"{value:,.2f}" if 0.01 <= abs(value) < 1e15 else f"{value:.4g}"


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
    size = {"width": _WIDTH, "height": max(80, len(names) * max(_BAR, 10 * beside))} if lying else _size()
    return {"mark": {"type": "bar", "tooltip": True}, "encoding": places | _coloured(chart), **size}


def _whole(chart: Chart) -> Spec:
    """One bar, divided; without names beneath, since there is only one."""
    up = {**_channel("y", chart.y), "stack": "zero"}
    places = {"x": up, "order": {"field": "order", "type": "quantitative"}}
    ordered = [{"window": [{"op": "row_number", "as": "order"}]}]
    mark = {"type": "bar", "tooltip": True, "size": 60}
    return {"transform": ordered, "mark": mark, "encoding": places | _coloured(chart), "width": _WIDTH, "height": 90}


def _pie(chart: Chart) -> Spec:
    angle = {"field": "y", "type": "quantitative", "stack": True, "title": chart.y.title}
    ordered = [{"window": [{"op": "row_number", "as": "order"}]}]
    places = {"theta": angle, "order": {"field": "order", "type": "quantitative"}}
    mark = {"type": "arc", "tooltip": True}
    return {"transform": ordered, "mark": mark, "encoding": places | _coloured(chart), "width": 280, "height": 280}


def _lines(chart: Chart) -> Spec:
    assert chart.x is not None
    across, up = _channel("x", chart.x), _channel("y", chart.y)
    if chart.x.scale == "category":
        across["sort"] = None
    if chart.kind == "line":
        up["scale"] = {"zero": _near_zero(chart)}
    else:
        up["stack"] = "zero"
    points = len(chart.marks) <= 60
    mark = {"type": chart.kind, "tooltip": True, **({"point": True} if points and chart.kind == "line" else {})}
    return {"mark": mark, "encoding": {"x": across, "y": up} | _coloured(chart), **_size()}


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
    mark = {"type": "point", "filled": True, "opacity": 0.7}
    return {"mark": mark, "encoding": {"x": across, "y": up, "tooltip": tooltip} | _coloured(chart), **_size()}


def _histogram(chart: Chart) -> Spec:
    assert chart.x is not None
    across = {"field": "x", "type": "quantitative", "bin": {"maxbins": 20}, "title": chart.x.title}
    up = {"aggregate": "count", "type": "quantitative", "title": chart.y.title}
    return {"mark": {"type": "bar", "tooltip": True}, "encoding": {"x": across, "y": up}, **_size()}


def _number(chart: Chart) -> Spec:
    (mark,) = chart.marks
    words = ", ".join(filter(None, (chart.y.title, mark.label)))
    large = {"mark": {"type": "text", "fontSize": 56, "fontWeight": "bold", "text": shown_number(mark.y), "dy": -12}}
    small = {"mark": {"type": "text", "fontSize": 16, "text": words or " ", "dy": 34}}
    return {"layer": [large, small], "width": 320, "height": 140, "config": {"view": {"stroke": None}}}


_DRAWN = {
    "number": _number,
    "line": _lines,
    "area": _lines,
    "bar": _bars,
    "stacked": lambda chart: _bars(chart) if chart.x else _whole(chart),  # pyright: ignore[reportUnknownLambdaType]
    "pie": _pie,
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


def _size() -> Spec:
    return {"width": _WIDTH, "height": _HEIGHT}
