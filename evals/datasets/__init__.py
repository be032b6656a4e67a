"""Benchmarks, and one's own questions, as questions with gold SQL."""

from __future__ import annotations

from .load import LAYOUTS, Dataset, GoldTurn, find_empty, load_dataset, read_plain, read_predictions

__all__ = ["LAYOUTS", "Dataset", "GoldTurn", "find_empty", "load_dataset", "read_plain", "read_predictions"]
