"""Runs the agent over a dataset: concurrent, resumable, and without a second call for the same prompt."""

from __future__ import annotations

from .record import TurnRecord
from .run import Engine, Listener, RunStopped, run_evaluation
from .spec import RunSpec

__all__ = ["Engine", "Listener", "RunSpec", "RunStopped", "TurnRecord", "run_evaluation"]
