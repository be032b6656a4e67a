"""Charts of results, as Vega-Lite, as pictures and in a terminal."""

from .chart import Axis, Chart, Kind, Mark, Spec, vega_lite
from .choose_kind import choose
from .wish import Wish, read_wish

__all__ = ["Axis", "Chart", "Kind", "Mark", "Spec", "Wish", "choose", "read_wish", "vega_lite"]
