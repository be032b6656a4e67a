"""The scoring of evidence: boosted trees per item, then a small message-passing network.

Tables are scored first, columns given their tables. The net reads all of this and the schema's keys: what joins
two probable tables becomes probable, the weaker of two alternatives improbable (Track-SQL reaches the same by letting a
transformer read all items at once). Both are fitted by `evals.lab train linker`, on training databases only.

In a large schema the trees are asked about columns of probable tables only, and the net about the most probable tables;
what was not asked about keeps a lower probability of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from .evidence import (
    Features,
    LinkingEvidence,
    build_first_column_features,
    build_first_table_features,
    build_second_column_features,
    build_second_table_features,
    build_star_features,
)
from .shape import Numbers, SchemaGraph
from .vocabulary import Shares

Part = TypeVar("Part")
Array = Matrix = npt.NDArray[np.float32]

STAGES = ("tables", "columns", "stars")  # the forests of a model, in the order in which they are asked
TABLES_SCORED = 120  # how many tables of a large schema the net is asked about
COLUMNS_FROM = 0.04  # least probability of a table whose columns the trees are asked about
_UNSCORED = 0.02  # what a table's probability counts for a column that was not scored
MESSAGES = 5  # how many messages an item gets in a layer of the net, its own state among them
_MOST_DEVIATIONS = 4.0  # standard deviations from the mean at which the net's inputs are clipped
NET_SHARE = 0.7  # the net's share of the log-odds; the rest is the trees'
_MARGIN = 1e-4  # probabilities are clipped to stay this far from 0 and 1
_ALONE = 1 << 18  # multiplications up to which OpenBLAS keeps a matrix product to the calling thread (interface/gemm.c)


@dataclass(frozen=True)
class DecisionForest:
    """A sum of decision trees with a logistic output.

    All trees lie in one list of nodes. A leaf leads to itself, so that every row may take the same number of steps.
    """

    features: tuple[str, ...]  # names of the inputs, in order
    roots: npt.NDArray[np.int32]  # the number of each tree's first node
    feature: npt.NDArray[np.int32]  # of each node, which input it looks at
    threshold: npt.NDArray[np.float32]  # up to which value it goes left; infinity in a leaf
    left: npt.NDArray[np.int32]  # the node to the left, right before that to the right; a leaf's is itself
    value: npt.NDArray[np.float32]  # what a leaf adds to the log-odds; 0 for others
    base: float  # log-odds to start from
    depth: int  # the most steps from a root to a leaf

    def predict(self, inputs: Matrix) -> Shares:
        """Return the predicted probability for each row of inputs."""
        rows, width = inputs.shape
        flat = inputs.ravel()
        start = (np.arange(rows, dtype=np.int32) * width)[:, None]
        node = np.broadcast_to(self.roots, (rows, len(self.roots)))
        for _ in range(self.depth):
            right = flat[start + self.feature[node]] > self.threshold[node]
            node = self.left[node] + right
        odds = self.base + self.value[node].sum(axis=1, dtype=np.float64)
        return 1 / (1 + np.exp(-odds))

    def predict_rows(self, features: Features, rows: Numbers) -> Shares:
        """Return the predicted probabilities of some items."""
        return self.predict(build_feature_matrix(self.features, features, rows))


def _reduce_row_groups(rows: Array, group_of: Numbers, count: int, how: np.ufunc = np.maximum) -> Array:
    """Reduce the rows of each group to one row, by default to the maximum; 0 for empty groups."""
    order = np.argsort(group_of, kind="stable")
    groups, starts = np.unique(group_of[order], return_index=True)
    result = np.zeros((count, rows.shape[1]), dtype=np.float32)
    if len(groups):
        result[groups] = how.reduceat(rows[order], starts, axis=0)
    return result


@dataclass(frozen=True)
class MessagePassingNet:
    """A message-passing network on a schema graph; the last row of each matrix is the bias.

    In each layer, a table gets messages from its columns, from the tables that foreign keys join it to and from the
    turn's best tables; a column from its table, from columns of the same name and from the table that it refers to.
    """

    table_names: tuple[str, ...]  # of features, in order
    column_names: tuple[str, ...]
    table_mean: Array  # what is taken from each feature
    table_scale: Array  # what it is then multiplied by
    column_mean: Array
    column_scale: Array
    table_in: Array  # from features to the hidden state
    column_in: Array
    table_layers: Array  # by layer, from messages to what is added to the hidden state
    column_layers: Array
    table_out: Array  # from the hidden state to log-odds
    column_out: Array

    def __call__(self, e: LinkingEvidence, tables: Shares, columns: Shares, rows: Numbers) -> tuple[Shares, Shares]:
        """Return the combined probabilities of trees and network, given those of the trees.

        Only the tables of these rows are scored, with their columns; the others keep the trees' probabilities.
        """
        of_tables, of_columns = build_net_features(e, tables, columns)
        graph, theirs = e.shape.part(rows)
        odds, columns_odds = self.predict(
            build_feature_matrix(self.table_names, of_tables, rows),
            build_feature_matrix(self.column_names, of_columns, theirs),
            graph,
        )
        tables, columns = tables.copy(), columns.copy()
        tables[rows] = combine_log_odds(tables[rows], odds)
        columns[theirs] = combine_log_odds(columns[theirs], columns_odds)
        return tables, columns

    def predict(self, tables: Matrix, columns: Matrix, graph: SchemaGraph) -> tuple[Shares, Shares]:
        """Return the log-odds of the tables and columns of a graph, given their features."""
        t = _apply_relu_layer(standardize_inputs(tables, self.table_mean, self.table_scale), self.table_in)
        c = _apply_relu_layer(standardize_inputs(columns, self.column_mean, self.column_scale), self.column_in)
        sizes = np.maximum(np.bincount(graph.table_of, minlength=len(t)), 1)[:, None].astype(np.float32)
        for table_layer, column_layer in zip(self.table_layers, self.column_layers, strict=True):
            turn, others = _reduce_row_groups(t, graph.turn_of, len(t))[graph.turn_of], t[graph.end_others]
            to_tables = [
                t,
                _reduce_row_groups(c, graph.table_of, len(t), np.add) / sizes,
                _reduce_row_groups(c, graph.table_of, len(t)),
                _reduce_row_groups(others, graph.end_tables, len(t)),
                turn,
            ]
            to_columns = [
                c,
                t[graph.table_of],
                _reduce_row_groups(others, graph.end_columns, len(c)),
                _reduce_row_groups(c, graph.same_name, len(c))[graph.same_name],
                turn[graph.table_of],
            ]
            t = t + _apply_relu_layer(np.concatenate(to_tables, axis=1), table_layer)
            c = c + _apply_relu_layer(np.concatenate(to_columns, axis=1), column_layer)
        out = _apply_linear_layer(t, self.table_out), _apply_linear_layer(c, self.column_out)
        return out[0][:, 0].astype(np.float64), out[1][:, 0].astype(np.float64)


def build_net_features(e: LinkingEvidence, tables: Shares, columns: Shares) -> tuple[Features, Features]:
    """Return the network's table and column inputs: tree features and the trees' log-odds."""

    def add_log_odds(features: Features, *names: str) -> Features:
        return {**features, **{f"{name}_odds": _compute_log_odds(np.asarray(features[name])) for name in names}}

    return (
        add_log_odds(build_second_table_features(e, tables, columns), "p", "p_column", "p_own"),
        add_log_odds(build_second_column_features(e, tables, columns), "p", "table"),
    )


def combine_log_odds(p: Shares, odds: Shares) -> Shares:
    """Return probabilities from the weighted sum of the trees' and the network's log-odds."""
    return 1 / (1 + np.exp(-(1 - NET_SHARE) * _compute_log_odds(p) - NET_SHARE * odds))


def _compute_log_odds(p: Shares) -> Shares:
    share = np.clip(p, _MARGIN, 1 - _MARGIN)
    return np.log(share / (1 - share))


def build_feature_matrix(names: Sequence[str], features: Features, rows: Numbers) -> Matrix:
    """Return the named features of the given rows as a matrix, one column per feature."""
    matrix = np.empty((len(rows), len(names)), dtype=np.float32)
    for place, name in enumerate(names):
        feature = features[name]
        matrix[:, place] = feature[rows] if isinstance(feature, np.ndarray) else feature
    return matrix


def standardize_inputs(inputs: Matrix, mean: Array, scale: Array) -> Matrix:
    """Scale inputs to mean 0 and standard deviation 1, and clip outliers."""
    return np.clip((inputs - mean) * scale, -_MOST_DEVIATIONS, _MOST_DEVIATIONS)


def _apply_linear_layer(rows: Array, weights: Array) -> Array:
    # In blocks so small that no threads are woken up: they would spin for longer than they compute. The limits of
    # thread pools are global to a process, and so to the programs that embed this one.
    block = max(_ALONE // weights.size, 1)
    parts = [rows[start : start + block] @ weights[:-1] for start in range(0, max(len(rows), 1), block)]
    return np.concatenate(parts) + weights[-1]


def _apply_relu_layer(rows: Array, weights: Array) -> Array:
    return np.maximum(_apply_linear_layer(rows, weights), 0)


def unpack_model_part(kind: type[Part], name: str, arrays: Mapping[str, npt.NDArray[Any]]) -> Part:
    """Rebuild a forest or network from its stored arrays; matrices have half precision."""
    parts: dict[str, Any] = {field.name: arrays[f"{name}.{field.name}"] for field in fields(cast("Any", kind))}
    for field, array in parts.items():
        if array.ndim == 0 or array.dtype.kind == "U":
            parts[field] = array.item() if array.ndim == 0 else tuple(array.tolist())
        elif array.dtype == np.float16:
            parts[field] = array.astype(np.float32)
    return kind(**parts)


@dataclass(frozen=True)
class LinkingModel:
    """A schema linking model: one forest per stage, and a network before the last stage."""

    tables: DecisionForest
    columns: DecisionForest
    stars: DecisionForest
    net: MessagePassingNet | None = None

    @classmethod
    def read(cls, path: Path) -> LinkingModel:
        """Read a linking model from an archive of NumPy arrays."""
        with np.load(path, allow_pickle=False) as arrays:
            net = unpack_model_part(MessagePassingNet, "net", arrays) if "net.table_in" in arrays else None
            return cls(*(unpack_model_part(DecisionForest, stage, arrays) for stage in STAGES), net=net)

    def score(self, e: LinkingEvidence) -> tuple[Shares, Shares, Shares]:
        """Return the probabilities of tables, columns and `table.*`."""
        every = np.arange(e.shape.tables)
        tables = self.tables.predict_rows(build_first_table_features(e), every)
        columns = tables[e.shape.table_of] * _UNSCORED
        probable = np.flatnonzero(tables[e.shape.table_of] >= COLUMNS_FROM)
        columns[probable] = self.columns.predict_rows(build_first_column_features(e, tables), probable)
        if self.net:
            likeliest = np.sort(np.argsort(-tables, kind="stable")[:TABLES_SCORED])
            tables, columns = self.net(e, tables, columns, likeliest)
        return tables, columns, self.stars.predict_rows(build_star_features(e, tables), every)


@cache
def load_shipped_model() -> LinkingModel:
    """Load the linking model that is shipped with the package."""
    with as_file(files(__package__ or "") / "data" / "forests.npz") as path:
        return LinkingModel.read(path)
