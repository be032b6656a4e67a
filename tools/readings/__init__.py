"""Other readings of a question, as queries beside the written one, and what they give."""

from .compare import Agreement, Outcome, ReadingResult, Rival, outcome_of, short_cell, summarize
from .ties import tie_reading

__all__ = [
    "Agreement",
    "Outcome",
    "ReadingResult",
    "Rival",
    "outcome_of",
    "short_cell",
    "summarize",
    "tie_reading",
]
