"""Intervals of shares of independent outcomes."""

from __future__ import annotations

from math import sqrt

from .statistics import Interval

_Z = 1.959963984540054
"""The 97.5th percentile of the normal distribution."""


def wilson(successes: float, n: int) -> Interval | None:
    """Wilson's 95% interval of a share; it stays within 0 and 1 and is honest for 20 questions, also when all pass.

    Args:
        successes: How many of them; a question that passes in some of its tries counts in part.
        n: Questions.

    Returns:
        None where there is none.
    """
    if n == 0:
        return None
    share = successes / n
    middle = share + _Z**2 / (2 * n)
    half = _Z * sqrt(share * (1 - share) / n + _Z**2 / (4 * n**2))
    scale = 1 + _Z**2 / n
    return Interval(max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))
