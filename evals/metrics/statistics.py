"""How sure a score is, and whether two runs differ: all by scipy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

_RESAMPLES = 2_000
PARTS = 10
"""SQL-CRAFT A.2 divides a run's queries into this many equal parts."""


@dataclass(frozen=True)
class Judged:
    """One question's outcome, as statistics see it.

    Attributes:
        cluster: What its outcome may depend on: the interaction, or the database where questions stand alone.
        right: The outcome.
    """

    cluster: str
    right: bool


@dataclass(frozen=True)
class Interval:
    """A 95% confidence interval of a share, or of a difference of shares."""

    low: float
    high: float


@dataclass(frozen=True)
class Comparison:
    """Two runs on the same questions.

    Attributes:
        only_first: Questions that only the first run has right.
        only_second: Likewise.
        difference: The second's share less the first's.
        interval: Of the difference, by paired bootstrap.
        mcnemar_p: Exact McNemar test: are questions lost as likely as gained?
        mann_whitney_p: Of the shares on ten equal parts (SQL-CRAFT A.2); None with fewer questions than parts.
    """

    only_first: int
    only_second: int
    difference: float
    interval: Interval | None
    mcnemar_p: float
    mann_whitney_p: float | None


def interval(outcomes: Sequence[Judged], seed: int = 0) -> Interval | None:
    """Bootstrap interval of the share of right answers, whole clusters resampled; None with fewer than two clusters."""
    right: dict[str, int] = defaultdict(int)
    size: dict[str, int] = defaultdict(int)
    for outcome in outcomes:
        right[outcome.cluster] += outcome.right
        size[outcome.cluster] += 1
    return _bootstrap(list(right.values()), list(size.values()), seed)


def compare(first: Mapping[str, Judged], second: Mapping[str, Judged], seed: int = 0) -> Comparison:
    """Compares two runs by the questions that both judged.

    Args:
        first: By question id, in the dataset's order.
        second: Likewise.
        seed: Of the bootstrap.
    """
    pairs = [(outcome, second[name]) for name, outcome in first.items() if name in second]
    only_first = sum(a.right and not b.right for a, b in pairs)
    only_second = sum(b.right and not a.right for a, b in pairs)
    gain: dict[str, int] = defaultdict(int)
    size: dict[str, int] = defaultdict(int)
    for a, b in pairs:
        gain[a.cluster] += b.right - a.right
        size[a.cluster] += 1
    discordant = only_first + only_second
    return Comparison(
        only_first,
        only_second,
        (only_second - only_first) / len(pairs) if pairs else 0.0,
        _bootstrap(list(gain.values()), list(size.values()), seed),
        float(stats.binomtest(only_second, discordant, 0.5).pvalue) if discordant else 1.0,
        _mann_whitney([a.right for a, _ in pairs], [b.right for _, b in pairs]),
    )


def _bootstrap(hits: Sequence[int], sizes: Sequence[int], seed: int) -> Interval | None:
    if len(sizes) < 2:
        return None

    def share(hit: np.ndarray, size: np.ndarray, axis: int = -1) -> np.ndarray:
        return hit.sum(axis=axis) / size.sum(axis=axis)

    found = stats.bootstrap(
        (np.array(hits), np.array(sizes)),
        share,
        paired=True,
        vectorized=True,
        n_resamples=_RESAMPLES,
        method="percentile",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return Interval(float(found.low), float(found.high))


def _mann_whitney(first: Sequence[bool], second: Sequence[bool]) -> float | None:
    if len(first) < PARTS:
        return None
    return float(stats.mannwhitneyu(_part_shares(first), _part_shares(second)).pvalue)


def _part_shares(outcomes: Sequence[bool]) -> list[float]:
    return [float(part.mean()) for part in np.array_split(np.array(outcomes, dtype=float), PARTS)]
