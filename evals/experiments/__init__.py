"""The papers' tables and figures as runs of the agent, their numbers beside ours."""

from __future__ import annotations

from .experiment import experiment_names, read_experiment
from .measure import NotRun, Setup, measure

__all__ = ["NotRun", "Setup", "experiment_names", "measure", "read_experiment"]
