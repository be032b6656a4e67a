"""Trials: a team's own questions on its own database, repeated after every change."""

from __future__ import annotations

from .question import TrialQuestion, read_trial, trial_schema
from .run import TrialOptions, compared, run_trial

__all__ = ["TrialOptions", "TrialQuestion", "compared", "read_trial", "run_trial", "trial_schema"]
