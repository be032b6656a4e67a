"""Schema linking: which tables and columns matter for a turn, what joins them, and which past query it builds on."""

from .context import LOOK, base_turn, still_runs
from .join_path import join_path
from .keep import requested, widen
from .large import copies, drop_samples, families, lighten, set_aside, tell_values
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
    "copies",
    "drop_samples",
    "families",
    "join_path",
    "lighten",
    "requested",
    "set_aside",
    "still_runs",
    "tell_values",
    "widen",
]
