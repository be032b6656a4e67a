"""Runs the agent over a dataset: concurrent, resumable, and without a second call for the same prompt."""

from __future__ import annotations

from .record import TurnRecord
from .run import Engine, Listener, run_evaluation
from .spec import RunSpec

__all__ = ["Engine", "Listener", "RunSpec", "TurnRecord", "run_evaluation"]
