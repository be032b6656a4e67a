"""The papers' tables and figures as runs of the agent, their numbers beside ours."""

from __future__ import annotations

from .experiment import Experiment, experiment_names, read_experiment
from .measure import Measured, NotRun, Setup, measure, plumbing_only

__all__ = [
    "Experiment",
    "Measured",
    "NotRun",
    "Setup",
    "experiment_names",
    "measure",
    "plumbing_only",
    "read_experiment",
]
