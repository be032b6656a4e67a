"""A small message-passing network over the schema's graph, run with numpy alone.

The trees score each item by itself. Here, in each layer, a table gets messages from its columns, from the tables that
foreign keys join it to and from the turn's best tables; a column from its table, from columns of the same name and from
the table that it refers to. docs/linking.md says what this is worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .evidence import Evidence
from .features import Features, column_features_again, table_features_again
from .shape import Numbers, Shape
from .vocabulary import Shares

Array = Matrix = npt.NDArray[np.float32]

MESSAGES = 5
"""How many messages an item gets in a layer, its own state among them."""

_MOST_DEVIATIONS = 4.0
"""Standard deviations from the mean at which inputs are clipped."""

NET_SHARE = 0.7
"""The net's share of the log-odds; the rest is the trees'."""

_MARGIN = 1e-4
"""Probabilities are clipped to stay this far from 0 and 1."""


@dataclass(frozen=True)
class Graph:
    """Tables and columns by number, of one schema or of several side by side.

    Attributes:
        turn_of: Of each table, which of the schemas it belongs to.
        table_of: Of each column, its table.
        same_name: Of each column, a number that namesakes of its schema share; less than there are columns.
        end_columns: Of each end of a foreign key, the column,
        end_tables: its table,
        end_others: and the table at the other end.
    """

    turn_of: Numbers
    table_of: Numbers
    same_name: Numbers
    end_columns: Numbers
    end_tables: Numbers
    end_others: Numbers

    @classmethod
    def of(cls, shape: Shape, tables: Numbers) -> tuple[Graph, Numbers]:
        """Some tables of a schema with their columns, renumbered, and the columns' numbers in the schema."""
        place = np.full(shape.tables, -1)
        place[tables] = np.arange(len(tables))
        columns = np.flatnonzero(place[shape.table_of] >= 0)
        column_place = np.zeros(len(shape.table_of), dtype=np.intp)
        column_place[columns] = np.arange(len(columns))
        inside = (place[shape.end_tables] >= 0) & (place[shape.end_others] >= 0)
        graph = cls(
            np.zeros(len(tables), dtype=np.intp),
            place[shape.table_of[columns]],
            np.unique(shape.same_name[columns], return_inverse=True)[1],
            column_place[shape.end_columns[inside]],
            place[shape.end_tables[inside]],
            place[shape.end_others[inside]],
        )
        return graph, columns


class Groups:
    """Rows by group, ready to be summed up group by group. Rows hold no number below 0."""

    def __init__(self, group_of: Numbers) -> None:
        self._order = np.argsort(group_of, kind="stable")
        grouped = group_of[self._order]
        self._starts = np.flatnonzero(np.append(True, grouped[1:] != grouped[:-1])[: len(grouped)])
        self._groups = grouped[self._starts]
        self._sizes = np.diff(np.append(self._starts, len(grouped)))

    def most(self, rows: Array, count: int) -> Array:
        """The greatest of each group, column by column; 0 for groups without rows."""
        return self._summed_up(np.maximum, rows, count)

    def mean(self, rows: Array, count: int) -> Array:
        """The mean of each group; 0 for groups without rows."""
        total = self._summed_up(np.add, rows, count)
        total[self._groups] /= self._sizes[:, None].astype(np.float32)
        return total

    def _summed_up(self, how: np.ufunc, rows: Array, count: int) -> Array:
        found = np.zeros((count, rows.shape[1]), dtype=np.float32)
        if len(self._starts):
            found[self._groups] = how.reduceat(rows[self._order], self._starts, axis=0)
        return found


@dataclass(frozen=True)
class Net:
    """The net's weights.

    Matrices have an input a row, and the bias as the last row.

    Attributes:
        table_names: Names of the features of tables, in order,
        column_names: and of columns.
        table_mean: What is taken from each,
        table_scale: and what it is then multiplied by.
        column_mean: Likewise.
        column_scale: Likewise.
        table_in: From features to the hidden state.
        column_in: Likewise.
        table_layers: By layer, from messages to what is added to the hidden state.
        column_layers: Likewise.
        table_out: From the hidden state to log-odds.
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
        """Probabilities by trees and net together.

        Args:
            e: The turn's evidence.
            shape: The schema's.
            tables: The trees' probabilities of tables,
            columns: and of columns.
            rows: Numbers of the tables to score, with their columns; the others keep the trees' probabilities.
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

    def of(self, tables: Matrix, columns: Matrix, graph: Graph) -> tuple[Shares, Shares]:
        """Log-odds of a graph's tables and columns, given their features."""
        t = _active(standard(tables, self.table_mean, self.table_scale), self.table_in)
        c = _active(standard(columns, self.column_mean, self.column_scale), self.column_in)
        turns, of_table, keys = Groups(graph.turn_of), Groups(graph.table_of), Groups(graph.end_tables)
        referring, namesakes = Groups(graph.end_columns), Groups(graph.same_name)
        column_turns = graph.turn_of[graph.table_of]
        for table_layer, column_layer in zip(self.table_layers, self.column_layers, strict=True):
            turn, others = turns.most(t, len(t)), t[graph.end_others]
            to_tables = [t, of_table.mean(c, len(t)), of_table.most(c, len(t)), keys.most(others, len(t))]
            to_columns = [
                c,
                t[graph.table_of],
                referring.most(others, len(c)),
                namesakes.most(c, len(c))[graph.same_name],
            ]
            t, c = (
                t + _active(np.concatenate([*to_tables, turn[graph.turn_of]], axis=1), table_layer),
                c + _active(np.concatenate([*to_columns, turn[column_turns]], axis=1), column_layer),
            )
        return _linear(t, self.table_out)[:, 0].astype(np.float64), _linear(c, self.column_out)[:, 0].astype(np.float64)


def net_features(e: Evidence, shape: Shape, tables: Shares, columns: Shares) -> tuple[Features, Features]:
    """The net's inputs: the features that the trees read, and the trees' probabilities."""
    of_tables = table_features_again(e, shape, tables, columns)
    of_columns = column_features_again(e, shape, tables, columns)
    return (
        {**of_tables, **{f"{name}_odds": _odds(of_tables[name]) for name in ("p", "p_column", "p_own")}},
        {**of_columns, **{f"{name}_odds": _odds(of_columns[name]) for name in ("p", "table")}},
    )


def mixed(p: Shares, odds: Shares) -> Shares:
    """Probabilities by the weighted sum of the trees' and the net's log-odds."""
    return 1 / (1 + np.exp(-(1 - NET_SHARE) * _odds(p) - NET_SHARE * odds))


def _odds(p: Shares) -> Shares:
    clipped = np.clip(p, _MARGIN, 1 - _MARGIN)
    return np.log(clipped / (1 - clipped))


def matrix(names: Sequence[str], features: Features, rows: Numbers) -> Matrix:
    """Features of some rows, in order."""
    return np.stack([features[name][rows] for name in names], axis=1).astype(np.float32)


def standard(inputs: Matrix, mean: Array, scale: Array) -> Matrix:
    """Inputs of mean 0 and deviation 1, clipped."""
    return np.clip((inputs - mean) * scale, -_MOST_DEVIATIONS, _MOST_DEVIATIONS)


_ALONE = 1 << 18
"""Multiplications up to which OpenBLAS keeps a matrix product to the calling thread (interface/gemm.c)."""


def _linear(rows: Array, weights: Array) -> Array:
    """In blocks so small that no threads are woken up: they would spin for longer than they compute.

    The limits of thread pools are global to a process, and so to the programs that embed this one.
    """
    block = max(_ALONE // weights.size, 1)
    if len(rows) <= block:
        return rows @ weights[:-1] + weights[-1]
    parts = [rows[start : start + block] @ weights[:-1] for start in range(0, len(rows), block)]
    return np.concatenate(parts) + weights[-1]


def _active(rows: Array, weights: Array) -> Array:
    return np.maximum(_linear(rows, weights), 0)
