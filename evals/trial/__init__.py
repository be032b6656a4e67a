"""Trials: a team's own questions on its own database, repeated after every change."""

from __future__ import annotations

from .question import TrialQuestion, build_trial_schema, read_trial_questions
from .run import TrialOptions, compare_trials, run_trial
from .run import compared as compared  # its old name

__all__ = ["TrialOptions", "TrialQuestion", "build_trial_schema", "compare_trials", "read_trial_questions", "run_trial"]
