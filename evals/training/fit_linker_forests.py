"""Fits forests, and turns them into the plain arrays that the linker reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from ...tools.linking.forest import Forest, Matrix
from ...tools.linking.vocabulary import Shares

_LEAVES = 31
_DEPTH = 8
_BINS = 100


@dataclass(frozen=True)
class Size:
    """How large the forests are, and how long the net is trained.

    Attributes:
        trees: Trees of the forests of tables and `table.*`,
        column_trees: and of columns, of which there are many more to learn from.
        rate: What a tree counts for.
        epochs: How often the net sees each turn; there is no net where that is never.
    """

    trees: int
    column_trees: int
    rate: float
    epochs: int = 0


def boosted(stage: str, inputs: Matrix, wanted: Shares, weights: Shares | None, size: Size) -> Any:
    """Trees fitted to one stage's inputs."""
    # The library's own annotations are narrower than what it takes.
    unfitted = cast("Any", HistGradientBoostingClassifier)(
        max_iter=size.column_trees if stage == "columns" else size.trees,
        learning_rate=size.rate,
        max_leaf_nodes=_LEAVES,
        max_depth=_DEPTH,
        min_samples_leaf=40,
        l2_regularization=10,
        max_features=0.4,
        max_bins=_BINS,
        early_stopping=False,
        random_state=1,
    )
    return unfitted.fit(inputs, wanted, sample_weight=weights)


def given(boosted: Any, inputs: Matrix) -> Shares:
    """What fitted trees say of rows."""
    return np.asarray(boosted.predict_proba(inputs)[:, 1], dtype=np.float64)


def exported(names: tuple[str, ...], boosted: Any) -> Forest:
    """A fitted classifier's trees as plain arrays, each node's two children side by side."""
    roots: list[int] = []
    nodes: list[tuple[int, float, int, float]] = []
    depth = 0
    for (predictor,) in boosted._predictors:
        theirs = predictor.nodes
        roots.append(len(nodes))
        nodes.append((0, np.inf, 0, 0.0))
        waiting = [(0, roots[-1], 0)]
        while waiting:
            number, place, level = waiting.pop()
            node = theirs[number]
            depth = max(depth, level)
            if node["is_leaf"]:
                nodes[place] = (0, np.inf, place, float(node["value"]))
                continue
            left = len(nodes)
            nodes += [(0, np.inf, 0, 0.0)] * 2
            nodes[place] = (int(node["feature_idx"]), float(node["num_threshold"]), left, 0.0)
            waiting += [(int(node["left"]), left, level + 1), (int(node["right"]), left + 1, level + 1)]
    feature, threshold, lefts, value = zip(*nodes, strict=True)
    return Forest(
        names,
        np.array(roots, dtype=np.int32),
        np.array(feature, dtype=np.int32),
        np.array(threshold, dtype=np.float32),
        np.array(lefts, dtype=np.int32),
        np.array(value, dtype=np.float32),
        float(np.ravel(boosted._baseline_prediction)[0]),
        depth,
    )
