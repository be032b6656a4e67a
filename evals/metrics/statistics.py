"""Confidence intervals of scores and tests of differences between two runs, with scipy."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...tools.errors import SettingsError

try:
    from scipy import optimize, stats
except ImportError as error:
    raise SettingsError("statistics of evaluations need scipy: pip install 'tableturn[evals]'") from error

_RESAMPLES = 2_000
SIGNIFICANT = 0.05
"""The usual bound on how often chance alone may look like a difference."""

_POWER = 0.8
"""How often a difference of the size that `detectable` gives is found."""

PARTS = 10
"""SQL-CRAFT A.2 divides a run's queries into this many equal parts."""


@dataclass(frozen=True)
class Judged:
    """One question's outcome, as statistics see it.

    Attributes:
        cluster: What its outcome may depend on: the interaction, or the database for single questions.
        right: The outcome.
        unit: Questions of one unit, such as an interaction, are won or lost together; empty: the question is alone.
    """

    cluster: str
    right: bool
    unit: str = ""


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
        n: Questions compared.
        clustered_p: As `mcnemar_p`, the turns of an interaction counted together; the same where each stands alone.
        detectable: The least difference that so many questions would show as a rule (`detectable`); None also where
            the turns of too few interactions are counted together.
    """

    only_first: int
    only_second: int
    difference: float
    interval: Interval | None
    mcnemar_p: float
    mann_whitney_p: float | None
    n: int = 0
    clustered_p: float = 1.0
    detectable: float | None = None

    @property
    def significant(self) -> bool:
        """Whether chance alone would seldom give such a difference."""
        return self.clustered_p < SIGNIFICANT

    def told(self, first: str, second: str) -> str:
        """What the comparison comes to, in one sentence.

        Args:
            first: What the first run is called.
            second: Likewise.
        """
        between = ""
        if self.interval is not None:
            between = f", between {100 * self.interval.low:+.1f} and {100 * self.interval.high:+.1f}"
        if self.significant:
            better, worse = (second, first) if self.difference > 0 else (first, second)
            return (
                f"{better} is better than {worse}: {abs(100 * self.difference):.1f} points on {self.n} questions "
                f"({second} less {first}: {100 * self.difference:+.1f}{between}; p = {self.clustered_p:.4f})."
            )
        points = "no difference at all" if self.detectable is None else f"{100 * self.detectable:.0f} points"
        return (
            f"{second} and {first} cannot be told apart on these {self.n} questions: "
            f"{100 * self.difference:+.1f} points{between}, p = {self.clustered_p:.4f}; "
            f"so {'few' if self.detectable is None else 'many'} can show {points}."
        )


def interval(outcomes: Sequence[Judged], seed: int = 0) -> Interval | None:
    """Bootstrap interval of the share of right answers, whole clusters resampled; None with fewer than two clusters."""
    return _bootstrap([(outcome.cluster, outcome.right) for outcome in outcomes], seed)


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
    discordant = only_first + only_second
    units = [a.unit or str(place) for place, (a, _) in enumerate(pairs)]
    enough = detectable(len(set(units)), 1.0) is not None
    return Comparison(
        only_first,
        only_second,
        (only_second - only_first) / len(pairs) if pairs else 0.0,
        _bootstrap([(a.cluster, b.right - a.right) for a, b in pairs], seed),
        float(stats.binomtest(only_second, discordant, 0.5).pvalue) if discordant else 1.0,
        _mann_whitney([a.right for a, _ in pairs], [b.right for _, b in pairs]),
        len(pairs),
        _clustered_mcnemar([(unit, b.right - a.right) for unit, (a, b) in zip(units, pairs, strict=True)]),
        detectable(len(pairs), discordant / len(pairs)) if enough else None,
    )


def detectable(n: int, discordant: float) -> float | None:
    """The least difference of shares that a paired comparison finds in four of five cases.

    By the exact power of McNemar's exact test at 5%, each question being independent of the others.

    Args:
        n: Questions.
        discordant: Share of the questions that just one of the two has right; a larger difference makes it as large.

    Returns:
        From 0 to 1; None where so few questions can show no difference at all, however they are answered.

    >>> round(detectable(6, 0.0), 2), round(detectable(60, 0.115), 2), round(detectable(1000, 0.115), 3)
    (0.96, 0.13, 0.03)
    """
    told_apart = np.arange(n + 1)
    # So many of the questions that just one has right must be the better one's; more than all of them for five.
    won = stats.binom.isf(SIGNIFICANT / 2, told_apart, 0.5) + 1

    def lacking(difference: float) -> float:
        """By how much the power is less than wanted."""
        share = max(discordant, difference)
        found = stats.binom.sf(won - 1, told_apart, (share + difference) / (2 * share))
        return _POWER - float(stats.binom.pmf(told_apart, n, share) @ found)

    if lacking(1.0) > 0:
        return None
    return float(optimize.root_scalar(lacking, bracket=(1e-9, 1.0), xtol=1e-6).root)


def _clustered_mcnemar(differences: Sequence[tuple[str, int]]) -> float:
    """The exact probability of as large a sum of differences, were each unit's as likely to have the other sign.

    With one question a unit that is McNemar's exact test.
    """
    sums: dict[str, int] = defaultdict(int)
    for unit, difference in differences:
        sums[unit] += difference
    sizes = [abs(found) for found in sums.values() if found]
    total = abs(sum(sums.values()))
    # Coefficients of the product of (x^-size + x^size) / 2: the distribution of the sum.
    spread = np.ones(1)
    for size in sizes:
        step = np.zeros(2 * size + 1)
        step[0] = step[-1] = 0.5
        spread = np.convolve(spread, step)
    middle = len(spread) // 2
    inside = spread[middle - total + 1 : middle + total].sum() if total else 0.0
    return float(min(1.0, max(0.0, 1.0 - inside)))


def _bootstrap(outcomes: Sequence[tuple[str, int]], seed: int) -> Interval | None:
    """Interval of the mean outcome, whole clusters resampled; None with fewer than two clusters."""
    clusters: dict[str, list[int]] = defaultdict(list)
    for cluster, outcome in outcomes:
        clusters[cluster].append(outcome)
    if len(clusters) < 2:
        return None

    def share(hit: np.ndarray, size: np.ndarray, axis: int = -1) -> np.ndarray:
        return hit.sum(axis=axis) / size.sum(axis=axis)

    found = stats.bootstrap(
        (np.array([sum(found) for found in clusters.values()]), np.array([len(found) for found in clusters.values()])),
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
