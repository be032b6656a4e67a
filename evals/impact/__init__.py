"""History as a test: which past answers a change of the schema, the rows, the knowledge or the model would change."""

from __future__ import annotations

from .history import Held, PastAnswer, Side, read_examples_of, read_history, read_side
from .impact import Ask, Change, ChangeKind, Impact, Replay, asking, impact

__all__ = [
    "Ask",
    "Change",
    "ChangeKind",
    "Held",
    "Impact",
    "PastAnswer",
    "Replay",
    "Side",
    "asking",
    "impact",
    "read_examples_of",
    "read_history",
    "read_side",
]
