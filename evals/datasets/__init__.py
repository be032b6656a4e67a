"""Benchmarks, and one's own questions, as questions with gold SQL."""

from __future__ import annotations

from .load import (
    LAYOUTS,
    Dataset,
    GoldTurn,
    list_empty_table_warnings,
    load_dataset,
    read_predictions,
    read_question_file,
)

__all__ = [
    "LAYOUTS",
    "Dataset",
    "GoldTurn",
    "list_empty_table_warnings",
    "load_dataset",
    "read_predictions",
    "read_question_file",
]
