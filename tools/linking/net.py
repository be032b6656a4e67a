"""A small relational net beside the trees: tables and columns told what their neighbours are like, with numpy alone.

Trees score item by item. Here each table hears of its columns, of the tables that foreign keys join it to and of the
turn's best tables, each column of its table, its namesakes and the table that it refers to, layer by layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
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

_SAY = 0.7
"""The net's share of the log-odds; the trees have the rest."""

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

    def __call__(
        self, e: Evidence, shape: Shape, tables: Shares, columns: Shares, rows: Numbers
    ) -> tuple[Shares, Shares]:
        """Probabilities in which the net has had its say.

        Args:
            e: The turn's evidence.
            shape: The schema's.
            tables: The trees' probabilities of tables,
            columns: and of columns.
            rows: The tables, by number, that the net is asked about, with their columns; others stay as they are.
        """
        of_tables, of_columns = net_features(e, shape, tables, columns)
        graph, theirs = Graph.of(shape, rows)
        odds, columns_odds = self.of(
            matrix(self.table_names, of_tables, rows), matrix(self.column_names, of_columns, theirs), graph
        )
        tables, columns = tables.copy(), columns.copy()
        tables[rows] = mixed(tables[rows], odds)
        columns[theirs] = mixed(columns[theirs], columns_odds)
        return tables, columns

    def raised(self, tables: float, columns: float) -> Net:
        """The net that adds so much to the log-odds that `mixed` gives."""
        table_out, column_out = self.table_out.copy(), self.column_out.copy()
        table_out[-1] += tables / _SAY
        column_out[-1] += columns / _SAY
        return Net.unpack(replace(self, table_out=table_out, column_out=column_out).pack())

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
    """What the net reads of tables and columns: what the trees read, and what they gave."""
    of_tables = table_features_again(e, shape, tables, columns)
    of_columns = column_features_again(e, shape, tables, columns)
    return (
        {**of_tables, **{f"{name}_odds": _odds(of_tables[name]) for name in ("p", "p_column", "p_own")}},
        {**of_columns, **{f"{name}_odds": _odds(of_columns[name]) for name in ("p", "table")}},
    )


def mixed(p: Shares, odds: Shares) -> Shares:
    """Probabilities by the trees' and the net's log-odds."""
    return 1 / (1 + np.exp(-(1 - _SAY) * _odds(p) - _SAY * odds))


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
