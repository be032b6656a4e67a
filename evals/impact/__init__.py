"""History as a test: which past answers a change of the schema, the rows, the knowledge or the model would change."""

from __future__ import annotations

from .history import Held, PastAnswer, read_examples_of, read_history, read_side
from .impact import Ask, Change, Impact, Replay, asking, impact

__all__ = [
    "Ask",
    "Change",
    "Held",
    "Impact",
    "PastAnswer",
    "Replay",
    "asking",
    "impact",
    "read_examples_of",
    "read_history",
    "read_side",
]
