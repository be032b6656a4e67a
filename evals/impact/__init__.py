"""History as a test: which past answers a change of the schema, the rows, the knowledge or the model would change."""

from __future__ import annotations

from .asking import Asking
from .history import Held, PastAnswer, read_examples_of, read_history
from .impact import Ask, Impact, impact
from .replay import Change, ChangeKind, Replay
from .side import Side, read_side

__all__ = [
    "Ask",
    "Asking",
    "Change",
    "ChangeKind",
    "Held",
    "Impact",
    "PastAnswer",
    "Replay",
    "Side",
    "impact",
    "read_examples_of",
    "read_history",
    "read_side",
]
