"""Schema linking: which tables and columns matter for a turn, what joins them, and which past query it builds on."""

from .context import LOOK, base_turn, latest_base, still_runs
from .copies import families, is_copy, set_aside
from .join_path import join_path
from .keep import requested, widen
from .large import drop_samples, lighten, tell_values
from .linked import STAR, LinkedSchema, PastTurn, SchemaItem
from .linker import SchemaLinker

__all__ = [
    "LOOK",
    "STAR",
    "LinkedSchema",
    "PastTurn",
    "SchemaItem",
    "SchemaLinker",
    "base_turn",
    "drop_samples",
    "families",
    "is_copy",
    "join_path",
    "latest_base",
    "lighten",
    "requested",
    "set_aside",
    "still_runs",
    "tell_values",
    "widen",
]
