from __future__ import annotations

import pytest
from scipy import stats
from tableturn.evals.metrics.statistics import Judged, compare, interval


def outcomes(right: list[bool], clusters: int) -> list[Judged]:
    return [Judged(str(place * clusters // len(right)), outcome) for place, outcome in enumerate(right)]


def test_an_interval_holds_its_share_and_clusters_widen_it() -> None:
    right = [True] * 60 + [False] * 40
    alone, together = interval(outcomes(right, 100)), interval(outcomes(right, 10))
    assert alone is not None
    assert together is not None
    assert alone.low < 0.6 < alone.high
    # Outcomes that go together tell less than as many that stand alone.
    assert together.high - together.low > 2 * (alone.high - alone.low)
    assert interval(outcomes(right, 100)) == alone
    assert interval(outcomes(right, 1)) is None


def test_a_comparison_counts_what_only_one_run_has_right() -> None:
    first = {str(n): Judged(str(n), n < 50) for n in range(100)}
    second = {str(n): Judged(str(n), n < 65 and n not in (1, 2, 3)) for n in range(100)}
    found = compare(first, second)
    assert (found.only_first, found.only_second) == (3, 15)
    assert found.difference == pytest.approx(0.12)
    assert found.mcnemar_p == pytest.approx(stats.binomtest(3, 18).pvalue)
    assert found.interval is not None
    assert 0 < found.interval.low < 0.12 < found.interval.high
    assert found.mann_whitney_p is not None


def test_equal_runs_do_not_differ() -> None:
    run = {str(n): Judged(str(n), n % 3 == 0) for n in range(30)}
    found = compare(run, run)
    assert (found.difference, found.mcnemar_p) == (0.0, 1.0)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (0.0, 0.0)
