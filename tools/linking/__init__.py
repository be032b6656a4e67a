"""Schema linking: relevant tables and columns, their joins, and the past query to build on."""

from .context import LOOK, can_still_run_query, choose_base_turn
from .large import choose_values, find_copies, find_table_families, shorten_schema
from .linked import STAR, LinkedSchema, PastTurn, SchemaItem
from .linker import SchemaLinker

__all__ = [
    "LOOK",
    "STAR",
    "LinkedSchema",
    "PastTurn",
    "SchemaItem",
    "SchemaLinker",
    "can_still_run_query",
    "choose_base_turn",
    "choose_values",
    "find_copies",
    "find_table_families",
    "shorten_schema",
]
