"""Other ways to answer the same questions, through the same runner: what the agent is compared with."""

from __future__ import annotations

from .registry import BASELINES, Baseline, find_baseline

__all__ = ["BASELINES", "Baseline", "find_baseline"]
