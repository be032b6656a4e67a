"""How sure an answer is, from 0 to 1."""

from __future__ import annotations

from .convergence import is_empty
from .records import Attempt, Status

DEFAULT = 0.75
"""For a translator that gives none of its own: about what one draft of a good model is worth on Spider."""


def confidence(attempt: Attempt | None, status: Status, code_agrees: bool | None) -> float:
    """The translator's own confidence, lowered by what speaks against the answer, raised where code agrees with it.

    Args:
        attempt: The chosen attempt; None where there is none.
        status: How the turn ended.
        code_agrees: Whether the pandas code gave the same result; None where no code ran.
    """
    if attempt is None or attempt.result is None or status not in ("converged", "capped"):
        return 0.0
    value = DEFAULT if attempt.confidence is None else attempt.confidence
    if attempt.faults:
        value *= 0.5
    elif attempt.findings:
        value *= 0.8
    if is_empty(attempt.result):
        value *= 0.7
    if status == "capped":
        value *= 0.8
    if code_agrees is not None:
        value = value + (1 - value) * 0.5 if code_agrees else value * 0.7
    return round(value, 3)
