"""From evidence to probabilities: boosted trees and a small net, in two stages, the second knowing what the first gave.

Tables are scored first, columns in the light of their tables, then both again, knowing what the others got: keys that
join two probable tables become probable, the poorer of two rivals improbable (Track-SQL reaches the same by letting a
transformer read all items at once). The trees are fitted by `evals/fit_linker.py`, on training databases only.

In a large schema the trees are asked only about items that an index finds worth it; the others get a low probability
of their own, so that every item has one. Rows are scored one by one, so that segments (Track-SQL B.1) need no joining.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .evidence import Evidence
from .features import (
    Features,
    column_features,
    column_features_again,
    star_features,
    table_features,
)
from .forest import Forest
from .net import Net, mixed, net_features
from .shape import Shape
from .table_sets import TableSets, set_features
from .vocabulary import Shares

STAGES = ("tables", "columns", "tables_again", "sets", "columns_again", "stars")
"""The forests of a model, in the order in which they are asked."""

_RAISED = 1.0
"""Log-odds that tables' probabilities are raised by."""

_BELOW = 0.49
"""The most that a table outside the chosen set gets."""

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
    """The forests, one a stage, and the net that has a say in the second."""

    tables: Forest
    columns: Forest
    tables_again: Forest
    sets: Forest
    columns_again: Forest
    stars: Forest
    net: Net | None = None

    @classmethod
    def read(cls, path: Path) -> Model:
        """Reads an archive of plain arrays."""
        with np.load(path, allow_pickle=False) as stored:
            return cls(
                *(Forest.unpack(stage, stored) for stage in STAGES),
                net=Net.unpack(stored) if "net.table_in" in stored else None,
            )

    def pack(self) -> dict[str, npt.NDArray[Any]]:
        """The archive's arrays."""
        forests = {name: a for stage in STAGES for name, a in getattr(self, stage).pack(stage).items()}
        return forests | (self.net.pack() if self.net else {})

    def score(self, evidence: Evidence, shape: Shape) -> tuple[Shares, Shares, Shares]:
        """Probabilities of tables, columns and `table.*`."""
        rows = worth_scoring(evidence, shape)
        first = _filled(self.tables, table_features(evidence, shape), rows, np.full(shape.tables, _FLOOR))
        of_columns = column_rows(first, shape)
        unscored = first[shape.table_of] * _UNSCORED
        columns = _filled(self.columns, column_features(evidence, shape, first), of_columns, unscored)
        again, columns_again = net_features(evidence, shape, first, columns)
        tables = _filled(self.tables_again, again, rows, first)
        odds, columns_odds = self.net(again, columns_again, shape, rows) if self.net else (None, None)
        tables, columns = _mixed(tables, odds, rows), _mixed(columns, columns_odds, of_columns)
        tables = self._decided(evidence, shape, tables, columns)
        columns_again = column_features_again(evidence, shape, tables, columns)
        columns = _filled(self.columns_again, columns_again, of_columns, unscored)
        columns = _mixed(columns, columns_odds, of_columns)
        stars = _filled(self.stars, star_features(evidence, shape, tables), rows, tables * _UNSCORED)
        return tables, columns, stars

    def _decided(self, evidence: Evidence, shape: Shape, tables: Shares, columns: Shares) -> Shares:
        if not shape.tables:
            return tables
        sets = TableSets.of(evidence, tables)
        redundancy = self.sets(set_features(evidence, shape, tables, columns, sets))
        return decided(tables, sets, int(redundancy.argmin()))


def decided(tables: Shares, sets: TableSets, chosen: int) -> Shares:
    """Probabilities on the right side of one half: the chosen set's tables on or over it, the others below.

    They are raised first, as what is missing costs more than what is too much (Track-SQL's equation 11).
    """
    raised = tables / (tables + (1 - tables) * math.exp(-_RAISED))
    decided = np.minimum(raised, _BELOW)
    inside = sets.tables[sets.members[chosen]]
    decided[inside] = np.maximum(raised[inside], 0.5)
    return decided


def worth_scoring(e: Evidence, shape: Shape) -> Rows:
    """The tables that something speaks for, at most `TABLES_SCORED`; all of a schema that has no more."""
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
        + e.tables_before.said
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


def _mixed(p: Shares, odds: Shares | None, rows: Rows) -> Shares:
    """Probabilities in which the net, if there is one, has had its say on the rows."""
    if odds is None:
        return p
    heard = p.copy()
    heard[rows] = mixed(p[rows], odds[rows])
    return heard


def score(evidence: Evidence, shape: Shape) -> tuple[Shares, Shares, Shares]:
    """Probabilities of tables, columns and `table.*`, by the model that comes with the package."""
    return _shipped().score(evidence, shape)


@cache
def _shipped() -> Model:
    with as_file(files(__package__ or "") / "data" / "forests.npz") as path:
        return Model.read(path)
