"""Confidence intervals, tests of differences between runs, and bounds on wrong answers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import count
from math import sqrt
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from ...tools.errors import SettingsError

try:
    from scipy import optimize, stats
except ImportError as error:
    raise SettingsError("statistics of evaluations need scipy: pip install 'tableturn[evals]'") from error

SIGNIFICANT = 0.05  # the usual bound on how often chance alone may look like a difference


@dataclass(frozen=True)
class JudgedOutcome:
    """The outcome of one question, with the cluster that the outcome may depend on."""

    cluster: str  # what its outcome may depend on: the interaction, or the database for single questions
    right: bool
    # Questions of one unit, such as an interaction, are won or lost together; empty: the question is alone.
    unit: str = ""


class ConfidenceInterval(NamedTuple):
    """A 95% confidence interval of a share, or of a difference of shares."""

    low: float
    high: float


@dataclass(frozen=True)
class RunComparison:
    """A statistical comparison of two runs on the same questions."""

    only_first: int  # questions that only the first run has right
    only_second: int  # likewise
    difference: float  # the second's share less the first's
    interval: ConfidenceInterval | None  # of the difference, by paired bootstrap
    p: float  # exact McNemar test: are questions lost as likely as gained? The turns of an interaction count together
    n: int  # questions compared
    # The least difference that so many questions would show as a rule; None also if the turns of too few
    # interactions are counted together.
    detectable: float | None

    def describe(self, first: str, second: str) -> str:
        """Return the comparison of two named runs in one sentence."""
        change, interval_text = f"{100 * self.difference:+.1f}", ""
        if self.interval is not None:
            interval_text = f", between {100 * self.interval.low:+.1f} and {100 * self.interval.high:+.1f}"
        if self.p < SIGNIFICANT:
            better, worse = (second, first) if self.difference > 0 else (first, second)
            return (
                f"{better} is better than {worse}: {abs(100 * self.difference):.1f} points on {self.n} questions "
                f"({second} less {first}: {change}{interval_text}; p = {self.p:.4f})."
            )
        limit = "so few can show no difference at all"
        if self.detectable is not None:
            limit = f"so many can show {100 * self.detectable:.0f} points"
        questions = "one question" if self.n == 1 else f"these {self.n} questions"
        return (
            f"{second} and {first} cannot be told apart on {questions}: "
            f"{change} points{interval_text}, p = {self.p:.4f}; {limit}."
        )


def number_repeats(keys: Iterable[Hashable]) -> Iterator[tuple[Hashable, int]]:
    """Yield each key with the number of equal keys before it, so that each pair is unique."""
    counts = Counter[Hashable]()
    for key in keys:
        yield key, counts[key]
        counts[key] += 1


def compare_runs(first: Mapping[Any, JudgedOutcome], second: Mapping[Any, JudgedOutcome]) -> RunComparison:
    """Compare two runs by the questions that both judged."""
    pairs = [(outcome, second[name]) for name, outcome in first.items() if name in second]
    changes = [b.right - a.right for a, b in pairs]
    units = [a.unit or str(index) for index, (a, _) in enumerate(pairs)]
    # McNemar's exact test: how probable is as large a sum, were each unit's difference as likely to have the other
    # sign? The coefficients of the product of (x^-size + x^size) / 2 are the distribution of the sum.
    sums = _sum_outcomes_by_cluster(list(zip(units, changes, strict=True)))[0]
    spread = np.ones(1)
    for size in np.abs(sums[sums != 0]):
        spread = np.convolve(spread, [0.5, *np.zeros(2 * size - 1), 0.5])
    total, middle = abs(sums.sum()), len(spread) // 2
    inside = spread[middle - total + 1 : middle + total].sum() if total else 0.0
    enough = find_detectable_difference(len(set(units)), 1.0) is not None
    return RunComparison(
        changes.count(-1),
        changes.count(1),
        fmean(changes) if changes else 0.0,
        compute_interval([(a.cluster, change) for (a, _), change in zip(pairs, changes, strict=True)]),
        float(np.clip(1.0 - inside, 0.0, 1.0)),
        len(pairs),
        find_detectable_difference(len(pairs), fmean(map(abs, changes))) if enough else None,
    )


def find_detectable_difference(n: int, discordant: float) -> float | None:
    """Return the least difference that `n` paired questions detect with 80% power.

    By the exact power of McNemar's exact test at 5%, each question being independent of the others. Just one of the two
    has the share `discordant` right; a larger difference makes it as large. None if so few can show no difference.

    >>> round(detectable(6, 0.0), 2), round(detectable(60, 0.115), 2), round(detectable(1000, 0.115), 3)
    (0.96, 0.13, 0.03)
    """
    counts = np.arange(n + 1)
    # So many of the questions that just one has right must be the better one's; more than all of them for five.
    least_wins = stats.binom.isf(SIGNIFICANT / 2, counts, 0.5) + 1

    def compute_power_shortfall(difference: float) -> float:
        # By how much the power is less than the usual one, which finds such a difference in four of five cases.
        share = max(discordant, difference)
        power = stats.binom.sf(least_wins - 1, counts, (share + difference) / (2 * share))
        return 0.8 - float(stats.binom.pmf(counts, n, share) @ power)

    if compute_power_shortfall(1.0) > 0:
        return None
    return float(optimize.root_scalar(compute_power_shortfall, bracket=(1e-9, 1.0), xtol=1e-6).root)


def compute_interval(outcomes: Sequence[tuple[str, int]]) -> ConfidenceInterval | None:
    """Return the cluster bootstrap interval of the mean; None with fewer than two clusters."""
    sums, sizes = _sum_outcomes_by_cluster(outcomes)
    if len(sums) < 2:
        return None

    def compute_share(hit: np.ndarray, size: np.ndarray, axis: int = -1) -> np.ndarray:
        return hit.sum(axis=axis) / size.sum(axis=axis)

    rng = np.random.default_rng(0)
    options: Any = {"paired": True, "vectorized": True, "n_resamples": 2_000, "method": "percentile", "rng": rng}
    interval = stats.bootstrap((sums, sizes), compute_share, **options).confidence_interval
    return ConfidenceInterval(float(interval.low), float(interval.high))


def _sum_outcomes_by_cluster(outcomes: Sequence[tuple[str, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Return the sum and the number of the outcomes of each cluster."""
    groups: dict[str, list[int]] = defaultdict(list)
    for group, outcome in outcomes:
        groups[group].append(outcome)
    return np.array(list(map(sum, groups.values())), int), np.array(list(map(len, groups.values())))


def compute_wilson_interval(successes: float, n: int) -> ConfidenceInterval | None:
    """Return Wilson's 95% confidence interval of a share, or None if `n` is 0.

    Of a question that passes in some of its tries, that part is a success.
    """
    if n == 0:
        return None
    z = 1.959963984540054  # the 97.5th percentile of the normal distribution
    share = successes / n
    middle = share + z**2 / (2 * n)
    half = z * sqrt(share * (1 - share) / n + z**2 / (4 * n**2))
    scale = 1 + z**2 / n
    return ConfidenceInterval(max(0.0, (middle - half) / scale), min(1.0, (middle + half) / scale))


@dataclass(frozen=True)
class ConfidenceLevel:
    """The confidence level that labelled answers support, with the numbers of labels."""

    level: float | None  # the least confidence of answers that may be trusted; None if labels show none
    labels: int  # all of them
    wrong: int  # those that are wrong
    trusted: int = 0  # labels of that confidence or more
    trusted_wrong: int = 0  # those of them that are wrong
    missing: int = 0  # the least number of further labels that could show a level, all of them right; 0 if there is one


def find_confidence_level(answers: Sequence[tuple[float, bool]], alpha: float, certainty: float) -> ConfidenceLevel:
    """Return the lowest confidence level above which at most a share `alpha` is wrong.

    An answer is its confidence, and whether it is right. Learn then test (Angelopoulos and others, 2021,
    arXiv:2110.01052): for each level the hypothesis that more than `alpha` of the answers from it are wrong has the
    exact binomial p-value. Levels are tested in a fixed sequence, from that of the surest half down, until one is not
    rejected (their section 4). Which ones follows from how many answers there are and from ties of their confidence,
    never from which are right.
    """
    surest = sorted(answers, key=lambda answer: -answer[0])
    wrong = np.cumsum([0, *(not right for _, right in surest)]).tolist()
    risk, best_size, end, total = 1 - certainty, 0, 0, len(surest)
    # Among few a single wrong answer, met by chance, would end the search; by simulation of models that are wrong on 1
    # to 10 % the surest half does about as well as any other start. Only sizes at which one more may be wrong than
    # before are tested, and all answers: in between, a wrong answer would end what the next few right ones let go on.
    sizes = [size for size in find_least_sample_sizes(alpha, risk, total) if size >= total / 2]
    for size in (*sizes, total) if sizes else ():
        if size <= end:
            continue
        # Answers of one confidence are trusted together or not at all.
        end = next((n for n in range(size, total) if surest[n][0] < surest[size - 1][0]), total)
        if _compute_binomial_tail(wrong[end], end, alpha) > risk:
            break
        best_size = end
    if best_size:
        return ConfidenceLevel(surest[best_size - 1][0], total, wrong[total], best_size, wrong[best_size])
    # Of the surest answers, so many as would do without a wrong one.
    enough = _find_next_sample_size(0, 1, alpha, risk)
    size = _find_next_sample_size(wrong[min(enough, total)], enough, alpha, risk)
    return ConfidenceLevel(None, total, wrong[total], missing=max(size - min(total, enough), 1))


def find_least_sample_sizes(alpha: float, risk: float, max_size: int) -> list[int]:
    """Return the least samples that prove at most `alpha` wrong, with 0, 1, 2... errors seen."""
    sizes: list[int] = []
    while (size := _find_next_sample_size(len(sizes), sizes[-1] + 1 if sizes else 1, alpha, risk)) <= max_size:
        sizes.append(size)
    return sizes


def _find_next_sample_size(wrong: int, size: int, alpha: float, risk: float) -> int:
    """Return the least sample size from `size` on that allows `wrong` wrong answers."""
    return next(n for n in count(size) if _compute_binomial_tail(wrong, n, alpha) <= risk)


@cache
def _compute_binomial_tail(wrong: int, size: int, alpha: float) -> float:
    """Return the probability of at most `wrong` wrong answers, if a share `alpha` is wrong."""
    return float(stats.binom.cdf(wrong, size, alpha))
