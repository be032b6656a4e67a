"""The papers' tables and figures as runs of the agent, their numbers beside ours."""

from __future__ import annotations

from .measure import NotRun, Setup, experiment_names, measure, read_experiment

__all__ = ["NotRun", "Setup", "experiment_names", "measure", "read_experiment"]
