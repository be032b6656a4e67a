"""Runs the agent over a dataset: concurrent, resumable, and without a second call for the same prompt."""

from __future__ import annotations

from .record import RunSpec, TurnRecord
from .run import Engine, Listener, RunStopped, run_evaluation

__all__ = ["Engine", "Listener", "RunSpec", "RunStopped", "TurnRecord", "run_evaluation"]
