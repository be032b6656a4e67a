"""How sure an answer is, from 0 to 1."""

from __future__ import annotations

from itertools import pairwise

from ...tools.sandbox import Comparison
from ..records import Attempt, Result, Status
from .choose import VOTE, merit
from .compare import is_empty

RIGHT_BY_MERIT = ((-14.2, 0.38), (-9.1, 0.53), (-6.8, 0.64), (-4.8, 0.72), (-3.1, 0.82), (-1.6, 0.92), (-0.6, 0.98))
"""How often drafts of some merit (`choose.merit`) are right, for a translator that gives no confidence of its own.

Counted over six published systems' drafts on Spider dev, with its gold queries: no published drafts are of training
questions. Attempts are not chosen by it; only `gate_confidence`, where it is set, compares with it. Between the points
a straight line. `tableturn bench calibration` counts again on some databases and measures on the others.
"""

BY_CODE = 0.3
"""For an answer from pandas code whose SQL did not run: the code was never confirmed."""


def confidence(attempt: Attempt | None, status: Status, comparison: Comparison | None, votes: int = 0) -> float:
    """The translator's own confidence, lowered by what speaks against the answer, raised where code agrees with it.

    Where it has none of its own: what the evidence says, and, to the same part, how sure the reply says it is. That
    alone would be no measure, but a writer knows of doubts that no check sees.

    Args:
        attempt: The chosen attempt; None where there is none.
        status: How the turn ended.
        comparison: How the pandas code's result compares with the query's; None where no code ran.
        votes: Drafts with the same result less those with another.
    """
    if status not in ("converged", "capped"):
        return 0.0
    if attempt is None or attempt.result is None:
        return BY_CODE
    if attempt.confidence is None:
        value = _by_merit(merit(attempt) + VOTE * votes)
        if attempt.sure is not None:
            value = (value + attempt.sure) / 2
    else:
        value = _lowered(attempt.confidence, attempt, attempt.result)
    if status == "capped":
        value *= 0.8
    if comparison is not None and comparison.agree:
        value += (1 - value) * 0.5
    elif comparison is not None and comparison.conclusive:
        value *= 0.7
    return round(value, 3)


def _by_merit(value: float) -> float:
    """The share of right drafts at that merit."""
    if value <= RIGHT_BY_MERIT[0][0]:
        return RIGHT_BY_MERIT[0][1]
    for (left, low), (right, high) in pairwise(RIGHT_BY_MERIT):
        if value <= right:
            return low + (high - low) * (value - left) / (right - left)
    return RIGHT_BY_MERIT[-1][1]


def _lowered(value: float, attempt: Attempt, result: Result) -> float:
    """A translator's own confidence in the light of what came of its query."""
    if attempt.faults:
        value *= 0.5
    elif attempt.findings:
        value *= 0.8
    return value * 0.7 if is_empty(result) else value
