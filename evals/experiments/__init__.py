"""The papers' tables and figures as runs of the agent, their numbers beside ours."""

from __future__ import annotations

from .experiment import Experiment, experiment_names, read_experiment
from .measure import Measured, Setup, measure

__all__ = ["Experiment", "Measured", "Setup", "experiment_names", "measure", "read_experiment"]
