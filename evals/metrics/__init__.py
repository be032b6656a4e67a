"""Judging predictions, and scores over many of them."""

from __future__ import annotations

from ..datasets.load import read_predictions
from .judging import BirdJudge, OfficialJudge, StrictJudge, Verdict, official_judge
from .summary import Scores, Summary, as_json, summarize

__all__ = [
    "BirdJudge",
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
