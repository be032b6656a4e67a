"""A diverse sample of vectors, such as those of queries (CREDIT-SQL 3.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from ..errors import SettingsError

Matrix = npt.NDArray[np.float64]
Method = Literal["kmeans", "agglomerative", "spectral"]
"""CREDIT-SQL's table 4."""

_JITTER = 1e-6
"""How far rows are moved before k-means. Of vectors of counts, many lie exactly between two centroids: the last bit of
a sum, which differs by processor, would choose between them."""

_DECIMALS = 3
"""Of squared distances to a centroid: beyond, rows are equally near."""

_MOST_PAIRWISE = 8_000
"""Rows up to which the methods that compare all pairs are run (half a gigabyte); beyond, on an even sample of them."""


def choose_diverse_rows(vectors: Matrix, n: int, rounds: int, seed: int = 0, method: Method = "kmeans") -> list[int]:
    """Return the n rows chosen most often in samples with `rounds` seeds, most chosen first.

    A sample is the nearest row to each cluster's centroid, of equally near ones the first, then farthest points. Of
    equally often chosen rows, the first. Rows that repeat are chosen once.
    """
    # SQL vectors repeat a lot: clustering the distinct ones with weights is the same, faster.
    rows, first, weights = np.unique(vectors, axis=0, return_index=True, return_counts=True)
    order = np.argsort(first)
    rows, first, weights = rows[order], first[order], weights[order]
    if not 0 < n < len(rows):
        return first[:n].tolist()

    def compute_square_distances(centroid: Matrix) -> Matrix:
        return ((rows - centroid) ** 2).sum(axis=1)

    counts: Counter[int] = Counter()
    for centroids in _compute_cluster_centroids(rows, weights, n, range(seed, seed + rounds), method):
        nearest = (int(np.argmin(compute_square_distances(centroid).round(_DECIMALS))) for centroid in centroids)
        selection = list(dict.fromkeys(nearest))
        gaps = np.min([compute_square_distances(rows[row]) for row in selection], axis=0)
        while len(selection) < n:
            selection.append(int(np.argmax(gaps)))
            gaps = np.minimum(gaps, compute_square_distances(rows[selection[-1]]))
        counts.update(selection)
    return first[sorted(counts, key=lambda row: (-counts[row], row))[:n]].tolist()


def _compute_cluster_centroids(
    rows: Matrix, weights: npt.NDArray[np.intp], n: int, seeds: range, method: Method
) -> Iterator[list[Matrix]]:
    """Yield the centroids of n clusters for each seed; only once if seeds change nothing."""
    if find_spec("sklearn") is None:
        raise SettingsError("choosing examples by diversity needs scikit-learn: pip install 'tableturn[evals]'")
    # scikit-learn takes over a second to load; only what follows needs it.
    from sklearn.cluster import AgglomerativeClustering, KMeans

    single, several = cast("tuple[Any, Any]", (1, 10))
    if method == "kmeans":
        points = rows + np.random.default_rng(0).uniform(-_JITTER, _JITTER, rows.shape)
        for seed in seeds:
            yield list(KMeans(n, n_init=single, random_state=seed).fit(points, sample_weight=weights).cluster_centers_)
        return
    # The others know no weights: repeated rows stand for them.
    copies = np.repeat(rows, weights, axis=0)
    rows = copies[:: -(-len(copies) // _MOST_PAIRWISE)]
    if method == "agglomerative":
        labellings = iter([AgglomerativeClustering(n, linkage="ward").fit_predict(rows)])
    else:
        # As in `SpectralClustering`, which would find the places anew for every seed.
        from sklearn.manifold import spectral_embedding
        from sklearn.metrics.pairwise import rbf_kernel

        places = spectral_embedding(rbf_kernel(rows, gamma=1.0), n_components=n, drop_first=False, random_state=0)
        # The best of ten starts, as there: single starts on a spectrum agree far less from seed to seed.
        labellings = (KMeans(n, n_init=several, random_state=seed).fit_predict(places) for seed in seeds)
    for labels in labellings:
        yield [rows[labels == label].mean(axis=0) for label in np.unique(labels)]
