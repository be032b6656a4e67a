"""Benchmarks, and one's own questions, as questions with gold SQL."""

from __future__ import annotations

from .load import LAYOUTS, Dataset, GoldTurn, find_empty_tables, load_dataset, read_predictions, read_questions

__all__ = ["LAYOUTS", "Dataset", "GoldTurn", "find_empty_tables", "load_dataset", "read_predictions", "read_questions"]
