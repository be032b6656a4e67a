from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from tableturn.evals.metrics.statistics import (
    ConfidenceInterval,
    JudgedOutcome,
    RunComparison,
    compare_runs,
    compute_interval,
    find_detectable_difference,
)


def outcomes(right: list[bool], clusters: int) -> list[tuple[str, int]]:
    return [(str(place * clusters // len(right)), outcome) for place, outcome in enumerate(right)]


def test_an_interval_holds_its_share_and_clusters_widen_it() -> None:
    right = [True] * 60 + [False] * 40
    alone, together = compute_interval(outcomes(right, 100)), compute_interval(outcomes(right, 10))
    assert alone is not None
    assert together is not None
    assert alone.low < 0.6 < alone.high
    # Outcomes that go together tell less than as many that stand alone.
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert compute_interval(outcomes(right, 100)) == alone
    assert compute_interval(outcomes(right, 1)) is None


def test_a_comparison_counts_what_only_one_run_has_right() -> None:
    first = {str(n): JudgedOutcome(str(n), n < 50) for n in range(100)}
    second = {str(n): JudgedOutcome(str(n), n < 65 and n not in (1, 2, 3)) for n in range(100)}
    found = compare_runs(first, second)
    assert (found.only_first, found.only_second) == (3, 15)
    assert found.difference == pytest.approx(0.12)
    assert found.p == pytest.approx(stats.binomtest(3, 18).pvalue)
    assert found.interval is not None
    assert 0 < found.interval.low < 0.12 < found.interval.high


def test_equal_runs_do_not_differ() -> None:
    run = {str(n): JudgedOutcome(str(n), n % 3 == 0) for n in range(30)}
    found = compare_runs(run, run)
    assert (found.difference, found.p) == (0.0, 1.0)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (0.0, 0.0)


def test_turns_of_one_interaction_count_together() -> None:
    """Seven turns won in one conversation and two lost in another are one win and one loss."""
    alone = [JudgedOutcome(str(n), n < 7) for n in range(9)]
    other = [JudgedOutcome(str(n), n >= 7) for n in range(9)]
    names = list(map(str, range(9)))
    found = compare_runs(dict(zip(names, other, strict=True)), dict(zip(names, alone, strict=True)))
    assert found.p == pytest.approx(stats.binomtest(7, 9).pvalue)

    def together(outcomes: list[JudgedOutcome]) -> dict[str, JudgedOutcome]:
        units = ["a" if n < 7 else "b" for n in range(9)]
        return {
            str(n): JudgedOutcome(unit, one.right, unit)
            for n, (unit, one) in enumerate(zip(units, outcomes, strict=True))
        }

    assert compare_runs(together(other), together(alone)).p == 1.0


def test_few_questions_show_large_differences_only() -> None:
    sixty, thousand = find_detectable_difference(60, 0.12), find_detectable_difference(1000, 0.12)
    assert sixty is not None
    assert thousand is not None
    assert 0.12 < sixty < 0.14
    assert 0.02 < thousand < 0.04
    # So much is found in about four of five comparisons.
    rng = np.random.default_rng(0)
    share, size = 0.3, find_detectable_difference(200, 0.3)
    assert size is not None
    drawn = rng.multinomial(200, [(share + size) / 2, (share - size) / 2, 1 - share], 400)
    found = [stats.binomtest(int(won), int(won + lost)).pvalue < 0.05 for won, lost, _ in drawn]
    assert 0.7 < sum(found) / len(found) < 0.9
    # With five questions p is never under .05; with six only where one run has all of them right, the other none.
    assert find_detectable_difference(5, 1.0) is None
    assert find_detectable_difference(6, 0.0) == pytest.approx(0.8 ** (1 / 6), abs=1e-4)
    ten = find_detectable_difference(10, 0.0)
    assert ten is not None
    assert stats.binom.sf(5, 10, ten) == pytest.approx(0.8, abs=1e-4)
    assert find_detectable_difference(0, 0.0) is None


def test_turns_of_few_interactions_show_nothing() -> None:
    first = {str(n): JudgedOutcome("c", right=False, unit=str(n % 5)) for n in range(50)}
    second = {name: JudgedOutcome("c", right=True, unit=found.unit) for name, found in first.items()}
    found = compare_runs(first, second)
    assert found.p == pytest.approx(0.0625)
    assert found.detectable is None
    assert found.describe("a", "b").endswith("; so few can show no difference at all.")


def test_a_comparison_is_told_in_words() -> None:
    better = RunComparison(2, 20, 0.18, ConfidenceInterval(0.08, 0.28), 0.0001, 100, 0.12)
    assert better.describe("a", "b") == (
        "b is better than a: 18.0 points on 100 questions (b less a: +18.0, between +8.0 and +28.0; p = 0.0001)."
    )
    worse = RunComparison(20, 2, -0.18, None, 0.0001, 100, 0.12)
    assert worse.describe("a", "b") == "a is better than b: 18.0 points on 100 questions (b less a: -18.0; p = 0.0001)."
    open_ = RunComparison(3, 4, 0.0167, ConfidenceInterval(-0.07, 0.1), 1.0, 60, 0.123)
    assert open_.describe("a", "b") == (
        "b and a cannot be told apart on these 60 questions: +1.7 points, between -7.0 and +10.0, p = 1.0000; "
        "so many can show 12 points."
    )
