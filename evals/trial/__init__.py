"""Trials: a team's own questions on its own database, asked before a roll-out and after every change."""

from __future__ import annotations

from .draft import draft, write_draft
from .question import TrialFile, TrialQuestion, read_trial, trial_schema
from .run import TrialOptions, read_trial_results, run_trial

__all__ = [
    "TrialFile",
    "TrialOptions",
    "TrialQuestion",
    "draft",
    "read_trial",
    "read_trial_results",
    "run_trial",
    "trial_schema",
    "write_draft",
]
