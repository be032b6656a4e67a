"""From evidence to probabilities: boosted trees item by item, then a small message-passing network.

Tables are scored first, columns given their tables. The net reads all of this and the schema's keys: what joins
two probable tables becomes probable, the weaker of two alternatives improbable (Track-SQL reaches the same by letting a
transformer read all items at once). Both are fitted by `evals.lab train linker`, on training databases only.

In a large schema both are asked only about items that an index finds worth it; the others get a low probability of
their own, so that every item has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

from .evidence import Evidence
from .features import Features, column_features, star_features, table_features
from .net import Matrix, Net
from .shape import Shape
from .vocabulary import Shares

Part = TypeVar("Part")


STAGES = ("tables", "columns", "stars")
"""The forests of a model, in the order in which they are asked."""

TABLES_SCORED = 120
"""How many tables of a large schema the trees are asked about."""

COLUMNS_FROM = 0.04
"""Least probability of a table whose columns the trees are asked about."""

_UNSCORED = 0.02
"""What a table's probability counts for a column that was not scored."""

_FLOOR = 1e-4
"""Probability of a table that was not scored."""

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Forest:
    """A sum of trees, and a logistic output.

    All trees lie in one list of nodes. A leaf leads to itself, so that every row may take the same number of steps.

    Attributes:
        features: Names of the inputs, in order.
        roots: The number of each tree's first node.
        feature: Of each node, which input it looks at.
        threshold: Up to which value it goes left; infinity in a leaf.
        left: The node to the left; the right one comes right after it. A leaf's is itself.
        value: What a leaf adds to the log-odds; 0 for others.
        base: Log-odds to start from.
        depth: The most steps from a root to a leaf.
    """

    features: tuple[str, ...]
    roots: npt.NDArray[np.int32]
    feature: npt.NDArray[np.int32]
    threshold: npt.NDArray[np.float32]
    left: npt.NDArray[np.int32]
    value: npt.NDArray[np.float32]
    base: float
    depth: int

    def __call__(self, features: Mapping[str, Shares], rows: npt.NDArray[np.intp] | None = None) -> Shares:
        """Probabilities of the rows, by default all."""
        chosen = slice(None) if rows is None else rows
        return self.of(np.stack([features[name][chosen] for name in self.features], axis=1).astype(np.float32))

    def of(self, inputs: Matrix) -> Shares:
        """Probabilities, one a row of inputs."""
        rows, width = inputs.shape
        flat = inputs.ravel()
        start = (np.arange(rows, dtype=np.int32) * width)[:, None]
        node = np.broadcast_to(self.roots, (rows, len(self.roots)))
        for _ in range(self.depth):
            right = flat[start + self.feature[node]] > self.threshold[node]
            node = self.left[node] + right
        odds = self.base + self.value[node].sum(axis=1, dtype=np.float64)
        return 1 / (1 + np.exp(-odds))


def pack(name: str, part: Any) -> dict[str, npt.NDArray[Any]]:
    """A part of the model as arrays of plain numbers and text under its name, matrices in half precision."""
    arrays = {f"{name}.{field.name}": np.asarray(getattr(part, field.name)) for field in fields(part)}
    return {name: array.astype(np.float16) if array.ndim > 1 else array for name, array in arrays.items()}


def unpack(kind: type[Part], name: str, stored: Mapping[str, npt.NDArray[Any]]) -> Part:
    """The part that `pack` gave."""
    return kind(*(_plain(stored[f"{name}.{field.name}"]) for field in fields(cast("Any", kind))))


def _plain(array: npt.NDArray[Any]) -> Any:
    if not array.ndim:
        return array.item()
    if array.dtype == np.float16:
        return array.astype(np.float32)
    return tuple(array.tolist()) if array.dtype.kind == "U" else array


@dataclass(frozen=True)
class Model:
    """The forests, one for each stage, and the net, which is applied before the last."""

    tables: Forest
    columns: Forest
    stars: Forest
    net: Net | None = None

    @classmethod
    def read(cls, path: Path) -> Model:
        """Reads an archive of plain arrays."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(
                *(unpack(Forest, stage, stored) for stage in STAGES),
                net=unpack(Net, "net", stored) if "net.table_in" in stored else None,
            )

    def pack(self) -> dict[str, npt.NDArray[Any]]:
        """The archive's arrays."""
        parts = {**vars(self)} if self.net else {stage: getattr(self, stage) for stage in STAGES}
        return {key: array for name, part in parts.items() for key, array in pack(name, part).items()}

    def score(self, evidence: Evidence, shape: Shape) -> tuple[Shares, Shares, Shares]:
        """Probabilities of tables, columns and `table.*`."""
        rows = worth_scoring(evidence, shape)
        first = _filled(self.tables, table_features(evidence, shape), rows, np.full(shape.tables, _FLOOR))
        of_columns = column_rows(first, shape)
        unscored = first[shape.table_of] * _UNSCORED
        columns = _filled(self.columns, column_features(evidence, shape, first), of_columns, unscored)
        tables, columns = self.net(evidence, shape, first, columns, rows) if self.net else (first, columns)
        stars = _filled(self.stars, star_features(evidence, shape, tables), rows, tables * _UNSCORED)
        return tables, columns, stars


def worth_scoring(e: Evidence, shape: Shape) -> Rows:
    """The tables with evidence for them, at most `TABLES_SCORED`; all of a schema that has no more."""
    if shape.tables <= TABLES_SCORED:
        return np.arange(shape.tables)
    strength = (
        2 * e.tables.share
        + e.tables.head
        + e.tables.associated
        + shape.best_column(e.columns.share + e.own_parts.share + e.columns.associated)
        + 2 * shape.best_column(e.value)
        + 4 * e.tables_before.last
        + 2 * e.tables_before.earlier
        + e.tables_before.before
    )
    # What lies next to strong tables may join them.
    near, between = shape.best_neighbours(strength)
    strength = strength + 0.4 * near + 0.4 * between
    return np.sort(np.argsort(-strength, kind="stable")[:TABLES_SCORED])


def column_rows(tables: Shares, shape: Shape) -> Rows:
    """The columns of tables that are probable enough."""
    return np.flatnonzero(tables[shape.table_of] >= COLUMNS_FROM)


def _filled(forest: Forest, features: Features, rows: Rows, others: Shares) -> Shares:
    """The forest's probabilities of the rows, and the others'."""
    filled = others.copy()
    if len(rows):
        filled[rows] = forest(features, rows)
    return filled


def score(evidence: Evidence, shape: Shape) -> tuple[Shares, Shares, Shares]:
    """Probabilities of tables, columns and `table.*`, by the model that comes with the package."""
    return _shipped().score(evidence, shape)


@cache
def _shipped() -> Model:
    with as_file(files(__package__ or "") / "data" / "forests.npz") as path:
        return Model.read(path)
