"""The graph along which the net passes messages, and sums over its groups of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .shape import Numbers, Shape

Array = npt.NDArray[np.float32]


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

    @classmethod
    def joined(cls, graphs: Sequence[Graph]) -> Graph:
        """Graphs side by side."""
        turns = np.arange(len(graphs))
        tables = _before([len(graph.turn_of) for graph in graphs])
        columns = _before([len(graph.table_of) for graph in graphs])
        names = _before([int(graph.same_name.max(initial=-1)) + 1 for graph in graphs])
        first = {
            "turn_of": turns,
            "table_of": tables,
            "same_name": names,
            "end_columns": columns,
            "end_tables": tables,
            "end_others": tables,
        }
        return cls(
            **{
                name: np.concatenate(
                    [getattr(graph, name) + start for graph, start in zip(graphs, starts, strict=True)]
                )
                for name, starts in first.items()
            }
        )


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


def _before(counts: Sequence[int]) -> Numbers:
    """How many there are before each."""
    return np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.intp)
