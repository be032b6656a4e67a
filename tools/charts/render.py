"""Pictures of charts, without a browser and without a network; and pages that draw them by themselves."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any, Literal

from ..errors import ExportError

if TYPE_CHECKING:
    from types import ModuleType

    from .spec import Spec

Theme = Literal["light", "dark"]
Picture = Literal["svg", "png", "html"]

_VERSION = "v6.4"
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


def picture(spec: Spec, kind: Picture, theme: Theme = "light", scale: float = 2.0) -> bytes:
    """A chart as a file's contents.

    Args:
        spec: As `vega_lite` gives it.
        kind: `svg`, `png`, or `html`: a page that holds all that it needs.
        theme: The ground that it stands on.
        scale: Of a PNG, dots to a point.

    Raises:
        ExportError: The renderer is not installed, or cannot draw it.
    """
    vl_convert = _renderer()
    given: dict[str, Any] = {"vl_version": _VERSION, "config": _config(spec, theme)}
    text = json.dumps(spec)
    try:
        match kind:
            case "svg":
                return vl_convert.vegalite_to_svg(text, allowed_base_urls=[], **given).encode()
            case "png":
                return vl_convert.vegalite_to_png(text, scale=scale, allowed_base_urls=[], **given)
            case "html":
                return _page(themed(spec, theme), vl_convert.javascript_bundle(vl_version=_VERSION)).encode()
    except ValueError as error:
        raise ExportError(f"the chart cannot be drawn: {str(error).splitlines()[0][:200]}") from None


def themed(spec: Spec, theme: Theme) -> Spec:
    """The specification with the colours of a theme in it."""
    return spec | {"config": _config(spec, theme)}


def can_render() -> bool:
    """Whether the renderer is installed."""
    from importlib.util import find_spec

    return find_spec("vl_convert") is not None


def _page(spec: Spec, libraries: str) -> str:
    """A page that draws a chart and can reach nothing.

    What a database wrote cannot end the script that it stands in: in JSON every `<` is an escape.
    """
    data = json.dumps(spec).translate({ord(mark): f"\\u{ord(mark):04x}" for mark in "<>&"})
    title = spec.get("title")
    name = escape(str(title["text"])) if isinstance(title, dict) else "Chart"
    policy = (
        "default-src 'none'; script-src 'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data: blob:"
    )
    ground = spec.get("config", {}).get("background", "#fff")
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<script>{libraries}</script></head>\n<body style="background:{ground}"><div id="chart"></div>\n'
        f'<script>vegaEmbed("#chart", {data}, {{"mode": "vega-lite", "actions": false}});</script></body></html>\n'
    )


def _config(spec: Spec, theme: Theme) -> Spec:
    own: Spec = spec.get("config", {})
    return own if theme == "light" else {**_DARK, **own}


def _renderer() -> ModuleType:
    try:
        import vl_convert
    except ImportError:
        raise ExportError("pictures of charts need vl-convert: pip install 'tableturn[charts]'") from None
    return vl_convert
