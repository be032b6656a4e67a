"""Trials: a team's own questions on its own database, repeated after every change."""

from __future__ import annotations

from ...tools.deprecation import make_old_names
from .question import TrialQuestion, build_trial_schema, read_trial_questions
from .run import TrialOptions, compare_trials, run_trial

__all__ = ["TrialOptions", "TrialQuestion", "build_trial_schema", "compare_trials", "read_trial_questions", "run_trial"]

__getattr__ = make_old_names(__name__, {"compared": compare_trials}, "0.3")
