"""How sure an answer is, from 0 to 1."""

from __future__ import annotations

from ..tools.sandbox import Comparison
from .convergence import is_empty
from .records import Attempt, Status

DEFAULT = 0.75
"""For a translator that gives none of its own: about what one draft of a good model is worth on Spider."""

BY_CODE = 0.3
"""For an answer from pandas code whose SQL did not run: the code was never confirmed."""


def confidence(attempt: Attempt | None, status: Status, comparison: Comparison | None) -> float:
    """The translator's own confidence, lowered by what speaks against the answer, raised where code agrees with it.

    Args:
        attempt: The chosen attempt; None where there is none.
        status: How the turn ended.
        comparison: How the pandas code's result compares with the query's; None where no code ran.
    """
    if status not in ("converged", "capped"):
        return 0.0
    if attempt is None or attempt.result is None:
        return BY_CODE
    value = DEFAULT if attempt.confidence is None else attempt.confidence
    if attempt.faults:
        value *= 0.5
    elif attempt.findings:
        value *= 0.8
    if is_empty(attempt.result):
        value *= 0.7
    if status == "capped":
        value *= 0.8
    if comparison is not None and comparison.agree:
        value += (1 - value) * 0.5
    elif comparison is not None and comparison.conclusive:
        value *= 0.7
    return round(value, 3)
