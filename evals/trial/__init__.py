"""Trials: a team's own questions on its own database, repeated after every change."""

from __future__ import annotations

from ...tools import make_lazy_importer
from .question import TrialQuestion, build_trial_schema, read_trial_questions
from .run import TrialOptions, compare_trials, run_trial

__all__ = ["TrialOptions", "TrialQuestion", "build_trial_schema", "compare_trials", "read_trial_questions", "run_trial"]

__getattr__ = make_lazy_importer(__name__, {"run": "compare_trials"}, renamed={"compared": "compare_trials"})
