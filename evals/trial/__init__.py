"""Trials: a team's own questions on its own database, repeated after every change."""

from __future__ import annotations

from .question import TrialQuestion, build_trial_schema, read_trial_questions
from .run import TrialOptions, compared, run_trial

__all__ = ["TrialOptions", "TrialQuestion", "build_trial_schema", "compared", "read_trial_questions", "run_trial"]
