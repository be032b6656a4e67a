"""Diverse samples and votes (CREDIT-SQL 3.3)."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tableturn.tools.sql.vectors import Method, choose_diverse_rows

METHODS: tuple[Method, ...] = ("kmeans", "agglomerative", "spectral")


def blobs() -> np.ndarray:
    choose = np.random.default_rng(3)
    centres = np.asarray([[0, 0], [9, 0], [0, 9], [9, 9]])
    return np.round(centres[choose.integers(0, 4, 200)] + choose.normal(0, 0.6, (200, 2)), 1)


@pytest.mark.parametrize("method", METHODS)
def test_one_of_each_blob_is_chosen(method: Method) -> None:
    vectors = blobs()
    chosen = choose_diverse_rows(vectors, 4, 5, method=method)
    assert len({(x > 4, y > 4) for x, y in vectors[chosen]}) == 4


@pytest.mark.parametrize("method", METHODS)
def test_votes_are_the_same_for_the_same_seed(method: Method) -> None:
    assert choose_diverse_rows(blobs(), 6, 4, 7, method) == choose_diverse_rows(blobs(), 6, 4, 7, method)


def test_votes_are_over_the_samples_of_one_seed_after_the_other() -> None:
    counts = Counter(row for seed in (20, 21, 22) for row in choose_diverse_rows(blobs(), 6, 1, seed))
    assert choose_diverse_rows(blobs(), 6, 3, 20) == sorted(counts, key=lambda row: (-counts[row], row))[:6]


def test_the_row_nearest_to_a_centroid_stands_for_a_cluster() -> None:
    vectors = np.asarray([[0.0], [1.0], [2.0], [100.0]])
    assert sorted(choose_diverse_rows(vectors, 2, 1)) == [1, 3]


def test_weights_count_repeated_rows() -> None:
    vectors = np.asarray([[0.0]] * 97 + [[10.0], [11.0], [30.0]])
    one = choose_diverse_rows(vectors, 1, 1)
    assert vectors[one[0], 0] == 0


def test_few_distinct_rows_are_all_chosen_once() -> None:
    vectors = np.repeat(np.asarray([[0.0, 1.0], [2.0, 2.0], [5.0, 1.0]]), 20, axis=0)
    assert sorted(choose_diverse_rows(vectors, 18, 3)) == [0, 20, 40]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30), st.integers(0, 8))
def test_choices_are_distinct_rows_and_as_many_as_there_are(rows: list[tuple[int, int]], n: int) -> None:
    vectors = np.asarray(rows, dtype=np.float64).reshape(-1, 2)
    chosen = choose_diverse_rows(vectors, n, 1, 1)
    assert len({tuple(vectors[row]) for row in chosen}) == len(chosen) == min(n, len(set(rows)))


def test_the_choice_is_the_same_on_another_processor() -> None:
    """Linear algebra written for an older one rounds otherwise; vectors of counts have many ties."""
    program = (
        "import numpy as np\n"
        "from tableturn.tools.sql.vectors import choose_diverse_rows\n"
        "rows = np.random.default_rng(1).poisson(0.3, (600, 41)).astype(float)\n"
        "print(choose_diverse_rows(rows, 18, 5))"
    )
    chosen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"OPENBLAS_CORETYPE": core},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for core in ("Haswell", "Nehalem")
    }
    assert len(chosen) == 1
