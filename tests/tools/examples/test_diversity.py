"""Diverse samples and votes (CREDIT-SQL 3.3)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tableturn.tools.examples.diversity import Method, diverse, voted

METHODS: tuple[Method, ...] = ("kmeans", "agglomerative", "spectral")


def blobs() -> np.ndarray:
    choose = np.random.default_rng(3)
    centres = np.asarray([[0, 0], [9, 0], [0, 9], [9, 9]])
    return np.round(centres[choose.integers(0, 4, 200)] + choose.normal(0, 0.6, (200, 2)), 1)


@pytest.mark.parametrize("method", METHODS)
def test_one_of_each_blob_is_chosen(method: Method) -> None:
    vectors = blobs()
    chosen = voted(vectors, 4, 5, method=method)
    assert len({(x > 4, y > 4) for x, y in vectors[chosen]}) == 4


@pytest.mark.parametrize("method", METHODS)
def test_votes_are_the_same_for_the_same_seed(method: Method) -> None:
    assert voted(blobs(), 6, 4, 7, method) == voted(blobs(), 6, 4, 7, method)


def test_the_row_nearest_to_a_centroid_stands_for_a_cluster() -> None:
    vectors = np.asarray([[0.0], [1.0], [2.0], [100.0]])
    assert sorted(diverse(vectors, 2, 0)) == [1, 3]


def test_weights_count_repeated_rows() -> None:
    vectors = np.asarray([[0.0]] * 97 + [[10.0], [11.0], [30.0]])
    one = diverse(vectors, 1, 0)
    assert vectors[one[0], 0] == 0


def test_few_distinct_rows_are_all_chosen_once() -> None:
    vectors = np.repeat(np.asarray([[0.0, 1.0], [2.0, 2.0], [5.0, 1.0]]), 20, axis=0)
    assert sorted(voted(vectors, 18, 3)) == [0, 20, 40]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30), st.integers(0, 8))
def test_choices_are_distinct_rows_and_as_many_as_there_are(rows: list[tuple[int, int]], n: int) -> None:
    vectors = np.asarray(rows, dtype=np.float64).reshape(-1, 2)
    chosen = diverse(vectors, n, 1)
    assert len({tuple(vectors[row]) for row in chosen}) == len(chosen) == min(n, len(set(rows)))
