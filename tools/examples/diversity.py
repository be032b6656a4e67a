"""Choosing a few rows that span many: clusters, farthest points, and votes over seeds (CREDIT-SQL 3.3)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Method = Literal["kmeans", "agglomerative", "spectral"]
"""CREDIT-SQL's table 4."""

_MOST_PAIRWISE = 4_000
"""Distinct rows up to which methods that compare all pairs are run; beyond, on an even sample of them."""


@dataclass(frozen=True)
class Distinct:
    """Rows without repeats. SQL vectors repeat a lot: clustering the distinct ones with weights is the same, faster.

    Attributes:
        rows: Distinct rows in order of first appearance.
        first: Index of each one's first appearance.
        weights: How often each appears.
    """

    rows: Matrix
    first: npt.NDArray[np.intp]
    weights: Matrix


def distinct(vectors: Matrix) -> Distinct:
    """The distinct rows of a matrix."""
    rows, first, counts = np.unique(vectors, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return Distinct(rows[order], first[order], counts[order].astype(np.float64))


def diverse(vectors: Matrix, n: int, seed: int, method: Method = "kmeans") -> list[int]:
    """One sample of n row numbers: the nearest to each cluster's centroid, then farthest points (equation of 3.3).

    Equally near rows: the first.
    """
    return _diverse(distinct(vectors), n, seed, method)


def voted(vectors: Matrix, n: int = 18, rounds: int = 20, seed: int = 0, method: Method = "kmeans") -> list[int]:
    """The n rows chosen most often in `rounds` samples with different seeds, most chosen first.

    Equally often chosen: the first.
    """
    few = distinct(vectors)
    counts: Counter[int] = Counter()
    for trial in range(rounds):
        counts.update(_diverse(few, n, seed * rounds + trial, method))
    ranked = sorted(counts, key=lambda row: (-counts[row], row))
    return ranked[:n]


def _diverse(few: Distinct, n: int, seed: int, method: Method) -> list[int]:
    chosen: list[int] = []
    for centroid in _centroids(few, min(n, len(few.rows)), seed, method):
        nearest = int(np.argmin(((few.rows - centroid) ** 2).sum(axis=1)))
        if nearest not in chosen:
            chosen.append(nearest)
    gaps = np.full(len(few.rows), np.inf)
    for row in chosen:
        gaps = np.minimum(gaps, ((few.rows - few.rows[row]) ** 2).sum(axis=1))
    while len(chosen) < min(n, len(few.rows)):
        farthest = int(np.argmax(gaps))
        chosen.append(farthest)
        gaps = np.minimum(gaps, ((few.rows - few.rows[farthest]) ** 2).sum(axis=1))
    return [int(few.first[row]) for row in chosen]


def _centroids(few: Distinct, clusters: int, seed: int, method: Method) -> list[Matrix]:
    # Loading scikit-learn takes over a second; only this needs it.
    from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering

    if clusters < 2:
        return [np.average(few.rows, axis=0, weights=few.weights)] if clusters else []
    if method == "kmeans":
        fitted = KMeans(clusters, n_init=cast(Any, 1), random_state=seed).fit(few.rows, sample_weight=few.weights)
        return list(fitted.cluster_centers_)
    step = -(-len(few.rows) // _MOST_PAIRWISE)
    rows, weights = few.rows[::step], few.weights[::step]
    if method == "agglomerative":
        labels = AgglomerativeClustering(clusters, linkage="ward").fit_predict(rows)
    else:
        labels = SpectralClustering(clusters, assign_labels="kmeans", n_init=1, random_state=seed).fit_predict(rows)
    return [np.average(rows[labels == c], axis=0, weights=weights[labels == c]) for c in np.unique(labels)]
