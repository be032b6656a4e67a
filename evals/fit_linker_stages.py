"""Fits the linker's forests stage by stage, each on what the one before gives databases that it was not fitted on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingClassifier

from ..tools.linking.features import (
    Features,
    column_features,
    column_features_again,
    star_features,
    table_features,
    table_features_again,
)
from ..tools.linking.forest import Forest, Matrix
from ..tools.linking.scoring import COLUMNS_FROM, Model
from ..tools.linking.vocabulary import Shares
from .fit_linker_turns import FOLDS, LinkedTurn

_LEAVES = 28
_DEPTH = 7
_RATE = 0.13
_SPARED = 0.05
"""The share of columns of improbable tables that are learned from, too."""

Flags = npt.NDArray[np.bool_]


MEASURED = 0
"""The fold of databases that the whole model is measured on."""


def first_findings(turns: Sequence[LinkedTurn], trees: int) -> tuple[list[Shares], list[Shares]]:
    """Probabilities of the turns' tables and columns, each turn's database left out, without the last stage."""
    chain = _Chain(turns, trees)
    tables, columns, _ = chain.first_stages(None)
    return tables, columns


def fit_model(turns: Sequence[LinkedTurn], trees: int) -> tuple[Model, list[Shares], list[Shares]]:
    """Fits all stages.

    Returns:
        The model fitted on all turns; and, by forests fitted on other databases, probabilities of all turns' tables,
        and of the columns of those turns whose fold is `MEASURED`.
    """
    forests: dict[str, Forest] = {}
    chain = _Chain(turns, trees)
    tables, first_columns, learned = chain.first_stages(forests)
    columns = chain.last_stages(tables, first_columns, learned, forests)
    return Model(**forests), tables, columns


class _Chain:
    def __init__(self, turns: Sequence[LinkedTurn], trees: int) -> None:
        self._trees = trees
        self._items = [(turn.evidence, turn.place.shape) for turn in turns]
        self._turns = turns
        self._table_folds = np.concatenate([np.full(turn.place.shape.tables, turn.place.fold) for turn in turns])
        self._column_folds = np.concatenate([np.full(len(turn.columns), turn.place.fold) for turn in turns])
        self._used_tables = np.concatenate([turn.tables for turn in turns])
        self._used_columns = np.concatenate([turn.columns for turn in turns])

    def first_stages(self, forests: dict[str, Forest] | None) -> tuple[list[Shares], list[Shares], Flags]:
        """Tables, columns, and tables again; with them, which columns are learned from."""
        items, every = self._items, range(FOLDS)
        all_tables = np.ones(len(self._used_tables), dtype=bool)
        tables = self._used_tables, self._table_folds, all_tables, every
        first = self._stage("tables", [table_features(*item) for item in items], *tables, forests)
        learned = self._learned(first)
        features = [column_features(*item, p) for item, p in zip(items, first, strict=True)]
        columns = self._stage("columns", features, self._used_columns, self._column_folds, learned, every, forests)
        features = [table_features_again(*item, p, q) for item, p, q in zip(items, first, columns, strict=True)]
        return self._stage("tables_again", features, *tables, forests), columns, learned

    def last_stages(
        self, tables: list[Shares], columns: list[Shares], learned: Flags, forests: dict[str, Forest]
    ) -> list[Shares]:
        """Columns again, and `table.*`."""
        items, one = self._items, (MEASURED,)
        features = [column_features_again(*item, p, q) for item, p, q in zip(items, tables, columns, strict=True)]
        again = self._stage("columns_again", features, self._used_columns, self._column_folds, learned, one, forests)
        stars = np.concatenate([turn.stars for turn in self._turns])
        features = [star_features(*item, p) for item, p in zip(items, tables, strict=True)]
        all_tables = np.ones(len(stars), dtype=bool)
        self._stage("stars", features, stars, self._table_folds, all_tables, (), forests)
        return again

    def _learned(self, tables: list[Shares]) -> Flags:
        """The columns to learn from: those of probable tables, and a few others."""
        probable = np.concatenate([p[turn.place.shape.table_of] for turn, p in zip(self._turns, tables, strict=True)])
        return (probable >= COLUMNS_FROM) | (np.random.default_rng(5).random(len(probable)) < _SPARED)

    def _stage(
        self,
        stage: str,
        features: list[Features],
        used: Shares,
        folds: npt.NDArray[np.intp],
        learned: Flags,
        left_out: Iterable[int],
        forests: dict[str, Forest] | None,
    ) -> list[Shares]:
        names = tuple(features[0])
        inputs: Matrix = np.concatenate(
            [np.stack([item[name] for name in names], axis=1).astype(np.float32) for item in features]
        )
        p = np.zeros(len(used))
        for fold in left_out:
            here, there = folds == fold, learned & (folds != fold)
            if here.any() and there.any():
                p[here] = _boosted(inputs[there], used[there], self._trees).predict_proba(inputs[here])[:, 1]
        if forests is not None:
            forests[stage] = exported(names, _boosted(inputs[learned], used[learned], self._trees))
        sizes = [len(item[names[0]]) for item in features]
        return np.split(p, np.cumsum(sizes)[:-1])


def _boosted(inputs: Matrix, used: Shares, trees: int) -> Any:
    # The library's own annotations are narrower than what it takes.
    boosted = cast("Any", HistGradientBoostingClassifier)(
        max_iter=trees,
        learning_rate=_RATE,
        max_leaf_nodes=_LEAVES,
        max_depth=_DEPTH,
        min_samples_leaf=40,
        l2_regularization=10,
        max_features=0.4,
        early_stopping=False,
        random_state=1,
    )
    return boosted.fit(inputs, used)


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
