"""From evidence to probabilities: boosted trees item by item, then a small message-passing network.

Tables are scored first, columns given their tables. The net reads all of this and the schema's keys: what joins
two probable tables becomes probable, the weaker of two alternatives improbable (Track-SQL reaches the same by letting a
transformer read all items at once). Both are fitted by `evals.lab train linker`, on training databases only.

In a large schema both are asked only about items that an index finds worth it; the others get a low probability of
their own, so that every item has one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .evidence import Evidence
from .features import Features, column_features, star_features, table_features
from .forest import Forest, pack, unpack
from .net import Net
from .shape import Shape
from .vocabulary import Shares

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
