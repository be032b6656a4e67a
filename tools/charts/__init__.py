"""Charts of results, as Vega-Lite, as pictures and in a terminal."""

from .chart import Chart, ChartAxis, ChartMark, Kind, Spec, make_spec
from .choose_kind import choose
from .wish import ChartRequest, parse_request

__all__ = ["Chart", "ChartAxis", "ChartMark", "ChartRequest", "Kind", "Spec", "choose", "make_spec", "parse_request"]
