"""Choosing a few rows that span many: clusters, farthest points, and votes over seeds (CREDIT-SQL 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
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
    """Rows without repeats, the index of each one's first appearance, and how often it appears.

    SQL vectors repeat a lot: clustering the distinct ones with weights is the same, faster.
    """

    rows: Matrix
    first: npt.NDArray[np.intp]
    weights: Matrix


def voted(vectors: Matrix, n: int = 18, rounds: int = 20, seed: int = 0, method: Method = "kmeans") -> list[int]:
    """Return the n rows chosen most often in `rounds` samples with the seeds from `seed` on, most chosen first.

    Of equally often chosen rows, the first. Agglomerative clustering is the same for every seed.
    """
    rows, first, weights = np.unique(vectors, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    few = Distinct(rows[order], first[order], weights[order].astype(np.float64))
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
    # scikit-learn takes over a second to load; only what follows needs it.
    from sklearn.cluster import AgglomerativeClustering, KMeans

    if method == "kmeans":
        moved = few.rows + np.random.default_rng(0).uniform(-_JITTER, _JITTER, few.rows.shape)
        start = partial(KMeans, n, n_init=cast(Any, 1))
        return lambda seed: list(start(random_state=seed).fit(moved, sample_weight=few.weights).cluster_centers_)
    # The others know no weights: repeated rows stand for them.
    repeated = np.repeat(few.rows, few.weights.astype(int), axis=0)
    rows = repeated[:: -(-len(repeated) // _MOST_PAIRWISE)]
    if method == "agglomerative":
        ward = _means(rows, AgglomerativeClustering(n, linkage="ward").fit_predict(rows))
        return lambda seed: ward
    # As in `SpectralClustering`, which would find the places anew for every seed.
    from sklearn.manifold import spectral_embedding
    from sklearn.metrics.pairwise import rbf_kernel

    affinity = rbf_kernel(rows, gamma=1.0)
    places = spectral_embedding(affinity, n_components=n, drop_first=False, random_state=0)
    # The best of ten starts, as there: single starts on a spectrum agree far less from seed to seed.
    start = partial(KMeans, n, n_init=cast(Any, 10))
    return lambda seed: _means(rows, start(random_state=seed).fit_predict(places))


def _means(rows: Matrix, labels: npt.NDArray[Any]) -> list[Matrix]:
    return [rows[labels == label].mean(axis=0) for label in np.unique(labels)]
