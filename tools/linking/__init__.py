"""Schema linking: relevant tables and columns, their joins, and the past query to build on."""

from .context import LOOK, can_still_run_query, choose_base_turn
from .join_path import find_joining_foreign_keys
from .keep import extend_schema_for_query, find_requested_tables
from .large import (
    choose_shown_values,
    drop_samples_of_later_tables,
    find_copied_tables,
    find_table_families,
    is_empty_or_copied_table,
    shorten_schema,
)
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
    "choose_shown_values",
    "drop_samples_of_later_tables",
    "extend_schema_for_query",
    "find_copied_tables",
    "find_joining_foreign_keys",
    "find_requested_tables",
    "find_table_families",
    "is_empty_or_copied_table",
    "shorten_schema",
]
