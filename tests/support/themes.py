"""Pictures of charts for pages with a dark ground, as the documentation has them beside the light ones."""

from __future__ import annotations

from typing import Literal

from tableturn.tools.charts import Spec

Theme = Literal["light", "dark"]

_DARK = {
    "background": "#1e1e1e",
    "title": {"color": "#eee", "subtitleColor": "#bbb"},
    "axis": {
        "labelColor": "#ccc",
        "titleColor": "#ddd",
        "gridColor": "#3a3a3a",
        "domainColor": "#777",
        "tickColor": "#777",
    },
    "legend": {"labelColor": "#ccc", "titleColor": "#ddd"},
    "view": {"stroke": "#444"},
    "text": {"color": "#eee"},
    "bar": {"color": "#6ba3d6"},
    "line": {"color": "#6ba3d6"},
    "area": {"color": "#6ba3d6"},
    "point": {"color": "#6ba3d6"},
}


def themed(spec: Spec, theme: Theme) -> Spec:
    """Return the specification with the colours of a theme in it."""
    return spec if theme == "light" else spec | {"config": {**_DARK, **spec.get("config", {})}}
