"""Pictures of the figures in docs/figures.json, as `make pictures` draws them:

python -m tests.support.benchmark_pictures docs/figures
"""

from __future__ import annotations

import sys
from pathlib import Path
from textwrap import wrap
from typing import Any, get_args

from tableturn.tools.charts.chart import SCHEMA, Spec, render_chart_image

from tests.corpus.gallery import small

from .published_figures import KINDS, Figure, Measure, figures, number, spread
from .themes import Theme, themed

_WIDTHS = {1: 420, 2: 260, 3: 190}
_LINE = 24
_LETTER = 6.6
"""Room for a letter of a label: more than the fonts take that a reader may have."""

_COLOURS = {"ours": "#2f7fd1", "other": "#9aa5b1"}
_MARK = "#e07b28"
"""Of intervals and aims: seen on both grounds and on both kinds of bars."""


def specification(figure: Figure) -> Spec:
    """A panel for each measure that is drawn: a bar for each row, with its interval and its value."""
    drawn = [measure for measure in figure.measures if measure.drawn and measure.form != "text"]
    width = _WIDTHS.get(len(drawn), 150)
    labels = round(_LETTER * max(len(row.label) for row in figure.rows))
    panels = [_panel(figure, measure, width, labels if measure is drawn[0] else None) for measure in drawn]
    letters = (width * len(drawn) + labels) / _LETTER
    return {
        "$schema": SCHEMA,
        "title": {
            "text": wrap(figure.claim, round(0.8 * letters)),
            "subtitle": wrap(f"{KINDS[figure.kind].capitalize()}: {figure.n}", round(0.85 * letters)),
            "anchor": "start",
            "offset": 14,
        },
        "hconcat": panels,
        "spacing": 16,
        "config": {"aria": False, "view": {"stroke": None}},
    }


def _panel(figure: Figure, measure: Measure, width: int, labels: int | None) -> Spec:
    """One measure; with the rows' labels in so much room, or without them."""
    compared = any(row.ours for row in figure.rows)
    rows: list[dict[str, Any]] = []
    for row in figure.rows:
        value = row.values.get(measure.key)
        if value is None:
            rows.append({"label": row.label})
            continue
        at, low, high = spread(value, measure.form)
        colour = "ours" if row.ours or not compared else "other"
        ends = {} if low is None else {"low": low, "high": high}
        rows.append({"label": row.label, "value": at, "text": _text(at, measure), "colour": colour, **ends})
    share = measure.form in ("share", "percent")
    # The text stands past the bar and its interval.
    most = max(max(row.get("high", 0), row.get("value", 0)) for row in rows)
    most = 100 if share else max(most, measure.aim or 0)
    across = {
        "type": "quantitative",
        "scale": {"domain": [0, 1.22 * most], "nice": False},
        "axis": {
            "title": wrap(measure.title + (", %" if share else ""), round(width / _LETTER)),
            "tickCount": 4,
            "grid": True,
            "domain": False,
        }
        | ({"values": [0, 25, 50, 75, 100]} if share else {}),
    }
    places = {
        "y": {
            "field": "label",
            "type": "nominal",
            "sort": None,
            "scale": {"domain": [row.label for row in figure.rows]},
            "axis": labels and {"title": None, "labelLimit": 0, "minExtent": labels, "ticks": False, "domain": False},
        }
    }
    layers: list[Spec] = [
        {
            "mark": {"type": "bar", "height": {"band": 0.62}},
            "encoding": {
                **places,
                "x": {"field": "value", **across},
                "color": {"field": "colour", "type": "nominal", "legend": None, "scale": _scale()},
            },
        },
        {
            "mark": {"type": "rule", "strokeWidth": 2, "color": _MARK},
            "encoding": {**places, "x": {"field": "low", **across}, "x2": {"field": "high"}},
        },
        {
            "transform": [
                {"calculate": "isValid(datum.high) ? max(datum.high, datum.value) : datum.value", "as": "end"}
            ],
            "mark": {"type": "text", "align": "left", "dx": 5},
            "encoding": {**places, "x": {"field": "end", **across}, "text": {"field": "text"}},
        },
    ]
    if measure.aim is not None:
        layers.insert(0, _aim(measure.aim, across))
    return {"data": {"values": rows}, "layer": layers, "width": width, "height": _LINE * len(rows)}


def _aim(aim: float, across: Spec) -> Spec:
    return {
        "data": {"values": [{"aim": aim}]},
        "mark": {"type": "rule", "strokeDash": [4, 3], "strokeWidth": 2, "color": _MARK},
        "encoding": {"x": {"field": "aim", **across}},
    }


def _scale() -> Spec:
    return {"domain": list(_COLOURS), "range": list(_COLOURS.values())}


def _text(value: float, measure: Measure) -> str:
    return f"{value:.1f}" if measure.form == "share" else number(value)


def main(folder: Path) -> None:
    """Writes `NAME-light.svg` and `NAME-dark.svg` for each figure."""
    folder.mkdir(exist_ok=True)
    for name, figure in figures().items():
        if not figure.drawn:
            continue
        for theme in get_args(Theme):
            (folder / f"{name}-{theme}.svg").write_bytes(
                small(render_chart_image(themed(specification(figure), theme), "svg"))
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
