"""A level is given only where labels bear it out, and then it holds."""

from __future__ import annotations

import numpy as np
import pytest
from tableturn.evals.metrics.statistics import find_confidence_level, find_least_sample_sizes


def labels(right: int, wrong_at: tuple[int, ...] = ()) -> list[tuple[float, bool]]:
    """The surest first; some of them wrong."""
    return [(1 - place / 1000, place not in wrong_at) for place in range(right)]


def test_exact_sizes() -> None:
    assert find_least_sample_sizes(0.05, 0.05, 130) == [59, 93, 124]
    assert find_least_sample_sizes(0.1, 0.05, 50) == [29, 46]


def test_too_few_labels_give_no_level_and_say_how_many_are_missing() -> None:
    found = find_confidence_level(labels(40), 0.05, 0.95)
    assert (found.level, found.missing) == (None, 19)
    assert find_confidence_level([], 0.05, 0.95).missing == 59
    assert find_confidence_level(labels(58), 0.05, 0.95).missing == 1


def test_all_are_trusted_where_none_is_wrong() -> None:
    found = find_confidence_level(labels(80), 0.05, 0.95)
    assert (found.trusted, found.trusted_wrong, found.missing) == (80, 0, 0)
    assert found.level == pytest.approx(1 - 79 / 1000)


def test_one_wrong_answer_among_a_hundred_is_within_the_bound_and_two_are_not() -> None:
    assert find_confidence_level(labels(100, (70,)), 0.05, 0.95).trusted == 100
    found = find_confidence_level(labels(100, (70, 80)), 0.05, 0.95)
    assert (found.trusted, found.wrong) == (59, 2)


def test_among_many_a_single_wrong_answer_does_not_end_the_search() -> None:
    assert find_confidence_level(labels(300, (3,)), 0.05, 0.95).trusted == 300


def test_a_wrong_answer_among_the_surest_ends_the_search() -> None:
    found = find_confidence_level(labels(100, (3,)), 0.05, 0.95)
    assert (found.level, found.missing) == (None, 93 - 59)


def test_answers_of_one_confidence_are_trusted_together_or_not_at_all() -> None:
    same = [(0.9, place != 0) for place in range(60)]
    assert find_confidence_level(same, 0.05, 0.95).level is None, "the one that is wrong has the same confidence"
    assert find_confidence_level(same[1:] + same[1:], 0.05, 0.95).trusted == 118


def test_the_bound_holds_as_often_as_it_says() -> None:
    """Answers of which a share is wrong that grows as they are less sure: over by chance in at most one of twenty."""
    random = np.random.default_rng(1)
    over = 0
    runs = 300
    for _ in range(runs):
        sure = random.random(250)
        right = random.random(250) < 0.85 + 0.15 * sure
        level = find_confidence_level(list(zip(sure.tolist(), right.tolist(), strict=True)), 0.05, 0.95).level
        if level is not None:
            truly_wrong = 0.15 * (1 - (1 + level) / 2)
            over += truly_wrong > 0.05
    assert over / runs <= 0.05
