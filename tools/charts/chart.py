"""Charts as data, as Vega-Lite specifications and as pictures."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from importlib.util import find_spec
from typing import Any, Literal

from ..database.table import PlainCell
from ..errors import ExportError
from ..formats import ENGLISH, PLAIN_NUMBER, ColumnFormat, find_babel_locale, find_number_marks, format_cell

# Kinds of charts; `area`, `pie` and `histogram` are drawn only if a person asks for them.
Kind = Literal["number", "line", "area", "bar", "stacked", "pie", "point", "histogram"]
TimeUnit = Literal["year", "quarter", "month", "date", "second"]
# Points in time; something measured; named groups; numbers or keys that name; bytes, mixtures, nothing but NULL.
Scale = Literal["time", "number", "category", "label", "none"]
Picture = Literal["svg", "png", "html"]
Spec = dict[str, Any]

# The version that is written; charts use nothing that version 5 does not have too.
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_VERSION = "v6.4"
_WIDTH, _HEIGHT, _BAR = 480, 280, 22
_LONG_LABEL, _MANY_BARS = 10, 8  # characters of names that don't fit under a bar: then the bars lie
_TIMES = {"year": "%Y", "quarter": "%Y Q%q", "month": "%b %Y", "date": "%-d %b %Y", "second": "%-d %b %Y %H:%M"}
# At least so many milliseconds lie between two labels, so that Vega does not write the same one twice.
_LEAST_STEPS = {"quarter": 89 * 86_400_000, "month": 28 * 86_400_000, "date": 36 * 3_600_000, "second": 60_000}
# Vega's signs for those of Unicode's patterns of dates.
_UNICODE_SIGNS = "y=%Y yy=%y M=%-m MM=%m MMM=%b MMMM=%B LLL=%b LLLL=%B d=%-d dd=%d H=%-H HH=%H h=%-I hh=%I mm=%M a=%p"
_SIGNS: dict[str, str] = {sign: code for sign, _, code in (pair.partition("=") for pair in _UNICODE_SIGNS.split())}
_TYPES: dict[Scale, str] = {"time": "temporal", "number": "quantitative"}  # the others are names
_POLICY = "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"


@dataclass(frozen=True)
class ChartAxis:
    """An axis of a chart."""

    title: str
    scale: Scale
    unit: TimeUnit = "second"  # of times, the finest part that is given
    form: ColumnFormat = PLAIN_NUMBER  # of numbers

    def format(self, value: object) -> str:
        """Return a position on the axis as text; dates are as precise as the axis."""
        text = str(value)
        if self.scale != "time":
            return text
        if self.unit in ("year", "quarter"):
            return text[:4] if self.unit == "year" else f"{text[:4]} Q{(int(text[5:7]) + 2) // 3}"
        return format_cell(text, ColumnFormat(self.unit), self.form.locale)


@dataclass(frozen=True)
class ChartMark:
    """A data mark of a chart: a bar, a point or a part of a line."""

    y: int | float
    x: PlainCell = None  # None only where the chart has no axis `x`
    group: str | None = None
    label: str | None = None  # what else is known of it, for whoever points at it


@dataclass(frozen=True)
class Chart:
    """A chart of a result, with marks in the order of the result's rows."""

    kind: Kind
    x: ChartAxis | None  # None for a single number, and for one bar or pie that is divided into groups
    y: ChartAxis
    marks: tuple[ChartMark, ...]
    groups: str = ""  # what the colours stand for; empty where there is one colour
    title: str = ""
    partial: bool = False  # whether the result had more rows than these


def make_spec(chart: Chart) -> Spec:
    """Return the chart's Vega-Lite specification as JSON values.

    Fields have names of our own, and what a database wrote stands in values and titles only: no name of a column can be
    read as a path or an expression. It is drawn over zero where lengths are compared, and in the order of the result,
    since the query's order is a choice.
    """
    values = [{name: value for name, value in vars(mark).items() if value is not None} for mark in chart.marks]
    spec: Spec = {"$schema": SCHEMA, "data": {"values": values}}
    if chart.kind == "number":
        (mark,) = chart.marks
        number = {"fontSize": 56, "fontWeight": "bold", "text": format_cell(mark.y, chart.y.form), "dy": -12}
        texts = (number, {"fontSize": 16, "text": chart.y.title or " ", "dy": 34})
        spec["layer"] = [{"mark": {"type": "text", **text}} for text in texts]
        spec |= {"width": 320, "height": 140, "config": {"view": {"stroke": None}}}
    else:
        spec |= _make_mark_encoding(chart)
    if chart.title or chart.partial:
        more = {"subtitle": f"the first {len(chart.marks):,} only"} if chart.partial else {}
        spec["title"] = {"text": chart.title, "anchor": "start", **more}
    return spec


def render_chart_image(spec: Spec, kind: Picture) -> bytes:
    """Render a Vega-Lite specification as SVG, PNG or HTML, without browser or network.

    Raises:
        ExportError: The renderer is not installed, or cannot draw it.
    """
    if not can_render_charts():
        raise ExportError("pictures of charts need vl-convert: pip install 'tableturn[charts]'")
    import vl_convert

    text = json.dumps(spec)
    try:
        if kind == "svg":
            return vl_convert.vegalite_to_svg(text, vl_version=_VERSION, allowed_base_urls=[]).encode()
        if kind == "png":
            return vl_convert.vegalite_to_png(text, vl_version=_VERSION, allowed_base_urls=[], scale=2.0)
        libraries = vl_convert.javascript_bundle(vl_version=_VERSION)  # pyright: ignore[reportCallIssue] - a default untold
    except ValueError as error:
        raise ExportError(f"the chart cannot be drawn: {str(error).splitlines()[0][:200]}") from None
    # What a database wrote cannot end the script that it stands in: in JSON every `<` is an escape.
    data = text.translate({ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&"})
    name = escape(spec.get("title", {"text": "Chart"})["text"])
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<script>{libraries}</script></head>\n<body style="background:#fff"><div id="chart"></div>\n'
        f'<script>vegaEmbed("#chart", {data}, {{"mode": "vega-lite", "actions": false}});</script></body></html>\n'
    ).encode()


def can_render_charts() -> bool:
    """Whether the package that renders charts as images is installed."""
    return find_spec("vl_convert") is not None


def _make_mark_encoding(chart: Chart) -> Spec:
    """Return the part of the specification that sets the position and colour of each mark."""
    mark: Spec = {"type": chart.kind, "tooltip": True}
    drawn: Spec = {"mark": mark, "encoding": {}, "width": _WIDTH, "height": _HEIGHT}
    # The unit of one format is shown at the numbers, money first; other axes show units in their titles.
    forms = [axis.form for axis in (chart.y, chart.x) if axis and axis.form.measure]
    plain = replace(PLAIN_NUMBER, locale=chart.y.form.locale)
    number_format = max(forms, key=lambda form: bool(form.currency), default=plain)
    up = _make_axis_channel("y", chart.y, number_format)
    across = {} if chart.x is None else _make_axis_channel("x", chart.x, number_format)
    drawn["config"] = {"numberFormat": up["axis"]["format"], "locale": _make_chart_locale(number_format)}
    places: Spec = {"x": across, "y": up}
    if chart.kind in ("line", "point"):  # from zero if that still shows how its values differ
        low, high = min(mark.y for mark in chart.marks), max(mark.y for mark in chart.marks)
        up["scale"] = {"zero": low <= 0 <= high or min(abs(low), abs(high)) < 0.5 * max(abs(low), abs(high))}
    match chart.kind:
        case "line" | "area":
            mark["point"] = chart.kind == "line" and len(chart.marks) <= 60
        case "point":
            mark |= {"filled": True, "opacity": 0.7}
            if across["type"] == "quantitative":
                across["scale"] = {"zero": False}
            if any(mark.label for mark in chart.marks):
                places["detail"] = {"field": "label", "title": "title"}  # the heading of what is told of a mark
        case "histogram":
            mark["type"], across["bin"] = "bar", {"maxbins": 20}
            places["y"] = {"aggregate": "count", "type": "quantitative", "title": chart.y.title}
        case "bar" | "stacked" if chart.x is not None:
            mark["type"] = "bar"
            places, drawn["height"] = _make_bar_axes(chart, across, up)
        case _:  # a pie, or one bar without names beneath; its parts in the order of the result
            drawn["transform"] = [{"window": [{"op": "row_number", "as": "order"}]}]
            places = {"order": {"field": "order", "type": "quantitative"}}
            if chart.kind == "pie":
                del up["axis"]
                mark["type"], drawn["width"], places["theta"] = "arc", 280, up
            else:
                mark["type"], mark["size"], drawn["height"], places["x"] = "bar", 60, 90, up
    if chart.groups:
        groups = list(dict.fromkeys(mark.group for mark in chart.marks))
        scale = {"scheme": "tableau10" if len(groups) <= 10 else "tableau20", "domain": groups}
        title = None if chart.groups == "measure" else chart.groups
        places["color"] = {"field": "group", "type": "nominal", "scale": scale, "title": title}
    return drawn | {"encoding": places}


def _make_bar_axes(chart: Chart, across: Spec, up: Spec) -> tuple[Spec, int]:
    """Return the axes of upright or horizontal bars, and the chart's height."""
    names = {str(mark.x) for mark in chart.marks}
    longest = max(map(len, names))
    bars = len({mark.group for mark in chart.marks}) if chart.groups and chart.kind == "bar" else 1
    lie = longest > _LONG_LABEL or len(names) > _MANY_BARS * 2
    angle = -40 if len(names) > _MANY_BARS and longest > 3 else 0
    across["axis"] = {"labelLimit": 220} if lie else {"labelAngle": angle}
    places = {"y": across, "x": up} if lie else {"x": across, "y": up}
    if bars > 1:
        places["yOffset" if lie else "xOffset"] = {"field": "group", "sort": None}
    return places, max(80, len(names) * max(_BAR, 10 * bars)) if lie else _HEIGHT


def _make_axis_channel(field: str, axis: ChartAxis, number_format: ColumnFormat) -> Spec:
    unit = axis.form.measure
    at_numbers = unit and unit == number_format.measure
    has_unit = not unit or not axis.title or unit.lower() in axis.title.lower().split()  # as in `price eur`
    title = axis.title if at_numbers or has_unit else f"{axis.title} ({unit})"
    channel: Spec = {"field": field, "type": _TYPES.get(axis.scale, "nominal"), "title": title or None}
    if axis.scale not in _TYPES:
        channel["sort"] = None
    if axis.scale == "number":
        # In Vega's formats `$` stands for what the locale has before and after an amount.
        channel["axis"] = {"format": f"{'$' if at_numbers else ''},.{max(2, axis.form.decimals)}~f"}
    if axis.scale == "time":
        ticks = {"tickCount": "year"} if axis.unit == "year" else {"tickMinStep": _LEAST_STEPS[axis.unit]}
        channel["axis"] = {"format": _write_time_pattern(axis.unit, axis.form.locale), "labelOverlap": True, **ticks}
    return channel


@lru_cache(maxsize=64)
def _make_chart_locale(form: ColumnFormat) -> dict[str, Any]:
    """Return Vega's locale for a format: number marks, and names of months if not English."""
    before, thousands, decimal, after = find_number_marks(form)
    marks = {"decimal": decimal, "thousands": thousands, "grouping": [3], "currency": [before, after], "minus": "-"}
    if form.locale in ENGLISH:
        return {"number": marks}
    locale = find_babel_locale(form.locale)
    months, days, clock = locale.months["format"], locale.days["format"], locale.day_periods["format"]["abbreviated"]
    week = (6, 0, 1, 2, 3, 4, 5)  # from Sunday
    return {
        "number": marks,
        "time": {
            # Vega asks for these three, which no axis uses.
            **dict.fromkeys(("dateTime", "date", "time"), _write_time_pattern("second", form.locale)),
            "periods": [clock.get("am", "AM"), clock.get("pm", "PM")],
            "days": [days["wide"][day] for day in week],
            "shortDays": [days["abbreviated"][day] for day in week],
            "months": list(months["wide"].values()),
            "shortMonths": list(months["abbreviated"].values()),
        },
    }


def _write_time_pattern(unit: TimeUnit, locale_name: str) -> str:
    """Return Vega's pattern for dates that are precise to a unit, in a locale."""
    if unit in ("year", "quarter") or locale_name in ENGLISH:
        return _TIMES[unit]
    locale = find_babel_locale(locale_name)
    pattern = (locale.datetime_skeletons["yMMM"] if unit == "month" else locale.date_formats["medium"]).pattern
    if unit == "second":
        pattern += f" {locale.time_formats['short'].pattern}"
    text = re.sub(r"'([^']*)'|([A-Za-z])\2*", lambda part: part[1] or _SIGNS.get(part[0], part[0]), pattern)
    return text.replace("\N{NARROW NO-BREAK SPACE}", " ")  # which browsers do not write
