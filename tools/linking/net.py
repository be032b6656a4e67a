"""A small relational net beside the trees: tables and columns told what their neighbours are like, with numpy alone.

Trees score item by item. Here each table hears of its columns, of the tables that foreign keys join it to and of the
turn's best tables, each column of its table, its namesakes and the table that it refers to, layer by layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from .evidence import Evidence
from .features import Features, column_features_again, table_features_again
from .forest import Matrix
from .net_graph import Array, Graph, Groups
from .shape import Numbers, Shape
from .vocabulary import Shares

HEARD = 5
"""How many things an item hears of in a layer, itself among them."""

_FAR = 4.0
"""Standard deviations that an input may lie from the mean."""

_SURE = 1e-4
"""Probabilities are taken to lie this far from 0 and 1."""


@dataclass(frozen=True)
class Net:
    """The net's weights: `tables` and `columns` first read an item's features, then a layer hears of others.

    Matrices have an input a row, and the bias as the last row.

    Attributes:
        table_names: Names of the features of tables, in order,
        column_names: and of columns.
        table_mean: What is taken from each,
        table_scale: and what it is then multiplied by.
        column_mean: Likewise.
        column_scale: Likewise.
        table_in: From features to hidden numbers.
        column_in: Likewise.
        table_layers: By layer, from what is heard to what is added to the hidden numbers.
        column_layers: Likewise.
        table_out: From hidden numbers to log-odds.
        column_out: Likewise.
    """

    table_names: tuple[str, ...]
    column_names: tuple[str, ...]
    table_mean: Array
    table_scale: Array
    column_mean: Array
    column_scale: Array
    table_in: Array
    column_in: Array
    table_layers: Array
    column_layers: Array
    table_out: Array
    column_out: Array

    def __call__(self, tables: Features, columns: Features, shape: Shape, rows: Numbers) -> tuple[Shares, Shares]:
        """Log-odds of a schema's items; 0 for all but some tables and their columns."""
        graph, of_columns = Graph.of(shape, rows)
        odds, own = self.of(
            matrix(self.table_names, tables, rows), matrix(self.column_names, columns, of_columns), graph
        )
        of_tables, every = np.zeros(shape.tables), np.zeros(len(shape.table_of))
        of_tables[rows], every[of_columns] = odds, own
        return of_tables, every

    def of(self, tables: Matrix, columns: Matrix, graph: Graph) -> tuple[Shares, Shares]:
        """Log-odds of a graph's tables and columns, given their features."""
        t = _active(standard(tables, self.table_mean, self.table_scale), self.table_in)
        c = _active(standard(columns, self.column_mean, self.column_scale), self.column_in)
        turns, of_table, keys = Groups(graph.turn_of), Groups(graph.table_of), Groups(graph.end_tables)
        referring, namesakes = Groups(graph.end_columns), Groups(graph.same_name)
        column_turns = graph.turn_of[graph.table_of]
        for table_layer, column_layer in zip(self.table_layers, self.column_layers, strict=True):
            turn, others = turns.most(t, len(t)), t[graph.end_others]
            heard = [t, of_table.mean(c, len(t)), of_table.most(c, len(t)), keys.most(others, len(t))]
            known = [c, t[graph.table_of], referring.most(others, len(c)), namesakes.most(c, len(c))[graph.same_name]]
            t, c = (
                t + _active(np.concatenate([*heard, turn[graph.turn_of]], axis=1), table_layer),
                c + _active(np.concatenate([*known, turn[column_turns]], axis=1), column_layer),
            )
        return _linear(t, self.table_out)[:, 0].astype(np.float64), _linear(c, self.column_out)[:, 0].astype(np.float64)

    def pack(self) -> dict[str, npt.NDArray[Any]]:
        """The net as named arrays of plain numbers and text, its weights in half precision."""
        arrays = {field.name: np.asarray(getattr(self, field.name)) for field in fields(self)}
        return {f"net.{name}": a.astype(np.float16) if a.ndim > 1 else a for name, a in arrays.items()}

    @classmethod
    def unpack(cls, stored: Mapping[str, npt.NDArray[Any]]) -> Net:
        """The net that `pack` gave."""
        held: dict[str, Any] = {field.name: stored[f"net.{field.name}"] for field in fields(cls)}
        for name, array in held.items():
            held[name] = tuple(array.tolist()) if name.endswith("names") else array.astype(np.float32)
        return cls(**held)


def net_features(e: Evidence, shape: Shape, tables: Shares, columns: Shares) -> tuple[Features, Features]:
    """What the net reads of tables and columns: what the trees do, and the log-odds of what the first stage gave."""
    of_tables = table_features_again(e, shape, tables, columns)
    of_columns = column_features_again(e, shape, tables, columns)
    return (
        {**of_tables, **{f"{name}_odds": _odds(of_tables[name]) for name in ("p", "p_column", "p_own")}},
        {**of_columns, **{f"{name}_odds": _odds(of_columns[name]) for name in ("p", "table")}},
    )


def mixed(p: Shares, odds: Shares) -> Shares:
    """The trees' probabilities and the net's log-odds, half and half."""
    return 1 / (1 + np.exp(-(_odds(p) + odds) / 2))


def _odds(p: Shares) -> Shares:
    sure = np.clip(p, _SURE, 1 - _SURE)
    return np.log(sure / (1 - sure))


def matrix(names: Sequence[str], features: Features, rows: Numbers) -> Matrix:
    """Features of some rows, in order."""
    return np.stack([features[name][rows] for name in names], axis=1).astype(np.float32)


def standard(inputs: Matrix, mean: Array, scale: Array) -> Matrix:
    """Inputs of mean 0 and deviation 1, the farthest drawn in."""
    return np.clip((inputs - mean) * scale, -_FAR, _FAR)


def _linear(rows: Array, weights: Array) -> Array:
    return rows @ weights[:-1] + weights[-1]


def _active(rows: Array, weights: Array) -> Array:
    return np.maximum(_linear(rows, weights), 0)
