"""Judging predictions, and scores over many of them."""

from __future__ import annotations

from .bird import BirdJudge
from .official import OfficialJudge, official_judge
from .predictions import read_predictions
from .strict import StrictJudge
from .summary import Scores, Summary, as_json, summarize
from .verdict import Judge, Verdict

__all__ = [
    "BirdJudge",
    "Judge",
    "OfficialJudge",
    "Scores",
    "StrictJudge",
    "Summary",
    "Verdict",
    "as_json",
    "official_judge",
    "read_predictions",
    "summarize",
]
