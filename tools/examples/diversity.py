"""Choosing a few rows that span many: clusters, farthest points, and votes over seeds (CREDIT-SQL 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from ..errors import SettingsError

Matrix = npt.NDArray[np.float64]
Method = Literal["kmeans", "agglomerative", "spectral"]
"""CREDIT-SQL's table 4."""

Centroids = Callable[[int], list[Matrix]]
"""Cluster centroids by seed."""

_JITTER = 1e-6
"""How far rows are moved before k-means. Of vectors of counts, many lie exactly between two centroids: the last bit of
a sum, which differs by processor, would choose between them."""

_DECIMALS = 3
"""Of squared distances to a centroid: beyond, rows are equally near."""

_MOST_PAIRWISE = 8_000
"""Rows up to which the methods that compare all pairs are run (half a gigabyte); beyond, on an even sample of them."""


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
    """Return the distinct rows of a matrix."""
    rows, first, counts = np.unique(vectors, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    return Distinct(rows[order], first[order], counts[order].astype(np.float64))


def voted(vectors: Matrix, n: int = 18, rounds: int = 20, seed: int = 0, method: Method = "kmeans") -> list[int]:
    """Return the n rows chosen most often in `rounds` samples with the seeds from `seed` on, most chosen first.

    Of equally often chosen rows, the first. Agglomerative clustering is the same for every seed.
    """
    few = distinct(vectors)
    clusters = _clusters(few, n, method)
    counts: Counter[int] = Counter()
    for trial in range(1 if method == "agglomerative" else rounds):
        counts.update(_sample(few, n, clusters(seed + trial)))
    return sorted(counts, key=lambda row: (-counts[row], row))[:n]


def _sample(few: Distinct, n: int, centroids: list[Matrix]) -> list[int]:
    """Choose n rows: the nearest to each cluster's centroid, of equally near ones the first, then farthest points."""

    def squares(place: Matrix) -> Matrix:
        return ((few.rows - place) ** 2).sum(axis=1)

    chosen = list(dict.fromkeys(int(np.argmin(squares(centroid).round(_DECIMALS))) for centroid in centroids))
    gaps = np.min([np.full(len(few.rows), np.inf), *(squares(few.rows[row]) for row in chosen)], axis=0)
    while len(chosen) < min(n, len(few.rows)):
        chosen.append(int(np.argmax(gaps)))
        gaps = np.minimum(gaps, squares(few.rows[chosen[-1]]))
    return [int(few.first[row]) for row in chosen]


def _clusters(few: Distinct, n: int, method: Method) -> Centroids:
    n = min(n, len(few.rows))
    if n == len(few.rows):
        return lambda seed: list(few.rows)
    if n < 2:
        return lambda seed: [np.average(few.rows, axis=0, weights=few.weights)] if n else []
    if find_spec("sklearn") is None:
        raise SettingsError("choosing examples by diversity needs scikit-learn: pip install 'tableturn[evals]'")
    return {"kmeans": _kmeans, "agglomerative": _ward, "spectral": _spectral}[method](few, n)


# scikit-learn takes over a second to load; only what follows needs it.


def _kmeans(few: Distinct, n: int) -> Centroids:
    from sklearn.cluster import KMeans

    rows = few.rows + np.random.default_rng(0).uniform(-_JITTER, _JITTER, few.rows.shape)

    def centroids(seed: int) -> list[Matrix]:
        fitted = KMeans(n, n_init=cast(Any, 1), random_state=seed).fit(rows, sample_weight=few.weights)
        return list(fitted.cluster_centers_)

    return centroids


def _ward(few: Distinct, n: int) -> Centroids:
    """Cluster by Ward linkage, for which weights have to be spelt out as repeated rows."""
    from sklearn.cluster import AgglomerativeClustering

    rows = _thinned(np.repeat(few.rows, few.weights.astype(int), axis=0))
    labels = AgglomerativeClustering(n, linkage="ward").fit_predict(rows)
    found = [rows[labels == label].mean(axis=0) for label in np.unique(labels)]
    return lambda seed: found


def _spectral(few: Distinct, n: int) -> Centroids:
    rows, weights = _thinned(few.rows), _thinned(few.weights)
    labelled = spectral_labels(rows, weights, n)

    def centroids(seed: int) -> list[Matrix]:
        labels = labelled(seed)
        groups = [labels == label for label in np.unique(labels)]
        return [np.average(rows[group], axis=0, weights=weights[group]) for group in groups]

    return centroids


def spectral_labels(rows: Matrix, weights: Matrix, n: int) -> Callable[[int], npt.NDArray[np.int32]]:
    """Label distinct rows by seed as scikit-learn's `SpectralClustering` labels rows repeated `weights` times.

    A row's copies are as like one another as can be, but none is like itself: each has `weight - 1` neighbours at its
    own place. Copies have equal coordinates, so the normalised affinity matrix of all is one of the distinct rows.
    """
    from scipy.sparse.linalg import eigsh
    from sklearn.cluster import KMeans
    from sklearn.metrics.pairwise import rbf_kernel

    affinity = rbf_kernel(rows, gamma=1.0)
    degrees = affinity @ weights - 1
    degrees[degrees <= 0] = 1
    scale = np.sqrt(weights / degrees)
    normalised = affinity * np.outer(scale, scale)
    normalised[np.diag_indices_from(normalised)] -= 1 / degrees
    _, vectors = eigsh(normalised, n, which="LA", v0=np.sqrt(weights * degrees))
    embedded = vectors / np.sqrt(weights * degrees)[:, None]

    def labels(seed: int) -> npt.NDArray[np.int32]:
        # The best of ten starts, as there: single starts on a spectrum agree far less from seed to seed.
        return KMeans(n, n_init=cast(Any, 10), random_state=seed).fit_predict(embedded, sample_weight=weights)

    return labels


def _thinned(rows: Matrix) -> Matrix:
    return rows[:: -(-len(rows) // _MOST_PAIRWISE)]
