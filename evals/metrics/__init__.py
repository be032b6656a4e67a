"""Judging predictions, and scores over many of them."""

from __future__ import annotations

from .official import OfficialJudge
from .predictions import read_predictions
from .strict import StrictJudge
from .summary import Scores, Summary, as_json, summarize
from .verdict import Judge, Verdict

__all__ = [
    "Judge",
    "OfficialJudge",
    "Scores",
    "StrictJudge",
    "Summary",
    "Verdict",
    "as_json",
    "read_predictions",
    "summarize",
]
