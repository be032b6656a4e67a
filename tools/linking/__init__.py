"""Schema linking: relevant tables and columns, their joins, and the past query to build on."""

from .context import LOOK, base_turn, still_runs
from .join_path import join_path
from .keep import requested_tables, widen_schema
from .large import drop_samples, find_copies, find_families, is_set_aside, shorten_schema, tell_values
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
    "find_copies",
    "find_families",
    "is_set_aside",
    "join_path",
    "requested_tables",
    "shorten_schema",
    "still_runs",
    "tell_values",
    "widen_schema",
]
