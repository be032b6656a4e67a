"""The pictures of pages, drawn by Vega-Lite: runs over attempts, and the papers' figures beside ours."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ...tools.charts.render import can_render, picture
from ...tools.charts.spec import Spec

_NAMESPACES = re.compile(r'\sxmlns(:xlink)?="[^"]*"')
"""What an SVG element within a page does not need."""

Values = Sequence[Mapping[str, Any]]

_INK: Spec = {"color": "currentColor"}
_PAPER: Spec = {"color": "#d85a3b", "filled": True, "size": 60, "opacity": 1}
_OURS: Spec = {"color": "#3b7dd8"}
_AXIS = {f"{part}Color": "currentColor" for part in ("domain", "label", "tick", "title")}
_LEGEND: Spec = {"labelColor": "currentColor", "orient": "top", "labelLimit": 320, "columns": 1, "symbolOpacity": 1}
_STYLE: Spec = {
    "background": None,
    "font": "system-ui, sans-serif",
    "axis": {**_AXIS, "gridColor": "#8884", "labelLimit": 320, "titleFontWeight": "normal"},
    "legend": _LEGEND,
    "view": {"stroke": None},
    "range": {"category": ["#3b7dd8", "#d98a1f", "#9a5fc9", "#2f9e6e", "#b0517e", "#8a8a8a"]},
}
"""In the colour of the page's text, so that one picture stands on a light and on a dark ground."""


def draw(spec: Spec, title: str) -> Markup:
    """Return a chart as an SVG element; empty where the extra `charts` is not installed: tables say the same."""
    if not can_render():
        return Markup("")
    svg = picture({**spec, "config": _STYLE}, "svg").decode()
    named = Markup('<svg role="img" aria-label="{}"').format(title)
    return Markup(_NAMESPACES.sub("", svg).replace("<svg", named, 1))  # noqa: S704 - Vega escapes what it draws


def draw_lines(title: str, axis: str, values: Values) -> Markup:
    """Draw curves of percentages, with what is known beside them.

    Args:
        title: What is measured.
        axis: What `x` is.
        values: `curve`, `x`, and `y` (None where the curve is a band alone), `low` and `high` of a band or an error
            bar, and `paper`, the paper's number; the last three may be left out.
    """
    if not values:
        return Markup("")
    across = _scale("x", axis) | {
        "axis": {"values": sorted({value["x"] for value in values}), "labelExpr": "datum.value"}
    }
    curves = list(dict.fromkeys(value["curve"] for value in values))
    colour = {"field": "curve", "type": "nominal", "title": None, "scale": {"domain": curves}}
    percent = f"{title}, percent"
    band = {"y": _scale("low", percent), "y2": {"field": "high"}}
    layers: list[tuple[str, Spec, Spec]] = [
        ("datum.y === null", {"type": "area", "opacity": 0.2}, {**band, "color": colour}),
        ("isValid(datum.y)", {"type": "line", "point": True}, {"y": _scale("y", percent), "color": colour}),
        ("isValid(datum.y) && datum.low < datum.high", {"type": "rule", **_INK}, band),
        ("isValid(datum.paper)", {"type": "point", "shape": "diamond", **_PAPER}, {"y": _scale("paper", percent)}),
    ]
    layer = [
        {"transform": [{"filter": wanted}], "mark": mark, "encoding": {**up, "x": across}}
        for wanted, mark, up in layers
    ]
    return draw({"data": {"values": list(values)}, "width": 340, "height": 200, "layer": layer}, title)


def draw_boxes(title: str, values: Values) -> Markup:
    """Draw box plots: each `name` with its `value`s; the whiskers are the whole range."""
    names: Spec = {"field": "name", "type": "nominal", "title": None, "sort": None}
    return draw(
        {
            "data": {"values": list(values)},
            "width": 340,
            "height": {"step": 30},
            "mark": {"type": "boxplot", "extent": "min-max", "box": _OURS, "median": _INK, "rule": _INK},
            "encoding": {"y": names, "x": _scale("value", "percent")},
        },
        title,
    )


def _scale(field: str, title: str) -> Spec:
    return {"field": field, "type": "quantitative", "title": title, "scale": {"zero": False}}
