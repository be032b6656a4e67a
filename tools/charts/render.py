"""Pictures of charts, without a browser and without a network; and pages that draw them by themselves."""

from __future__ import annotations

import json
from html import escape
from importlib.util import find_spec
from typing import Literal

from ..errors import ExportError
from .chart import Spec

Picture = Literal["svg", "png", "html"]

_VERSION = "v6.4"


def picture(spec: Spec, kind: Picture) -> bytes:
    """Return a chart as a file's contents.

    Args:
        spec: As `vega_lite` gives it.
        kind: `svg`, `png`, or `html`: a page that holds all that it needs.

    Raises:
        ExportError: The renderer is not installed, or cannot draw it.
    """
    if not can_render():
        raise ExportError("pictures of charts need vl-convert: pip install 'tableturn[charts]'")
    import vl_convert

    text = json.dumps(spec)
    try:
        match kind:
            case "svg":
                return vl_convert.vegalite_to_svg(text, vl_version=_VERSION, allowed_base_urls=[]).encode()
            case "png":
                return vl_convert.vegalite_to_png(text, vl_version=_VERSION, allowed_base_urls=[], scale=2.0)
            case "html":
                libraries = vl_convert.javascript_bundle(vl_version=_VERSION)  # pyright: ignore[reportCallIssue] - a default untold
                return _page(spec, libraries).encode()
    except ValueError as error:
        raise ExportError(f"the chart cannot be drawn: {str(error).splitlines()[0][:200]}") from None


def can_render() -> bool:
    """Whether the renderer is installed."""
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
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{name}</title>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        f'<script>{libraries}</script></head>\n<body style="background:#fff"><div id="chart"></div>\n'
        f'<script>vegaEmbed("#chart", {data}, {{"mode": "vega-lite", "actions": false}});</script></body></html>\n'
    )
