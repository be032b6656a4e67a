"""A schema's structure as arrays, and values that tables get from columns and neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..database import Schema
from ..database.schema import ColumnKind
from .vocabulary import Shares

Numbers = npt.NDArray[np.intp]


@dataclass
class SchemaGraph:
    """A graph of numbered tables and columns, of one schema or of several side by side."""

    turn_of: Numbers  # of each table, which of the schemas it belongs to
    table_of: Numbers  # of each column, its table
    same_name: Numbers  # of each column, a number that namesakes of its schema share, less than there are columns
    # Of each end of a foreign key: its column, its table, and the table at the other end.
    end_columns: Numbers
    end_tables: Numbers
    end_others: Numbers

    def part(self, tables: Numbers) -> tuple[SchemaGraph, Numbers]:
        """Return the subgraph of some tables, and the numbers of its columns in the whole graph."""
        place = np.full(len(self.turn_of), -1)
        place[tables] = np.arange(len(tables))
        columns = np.flatnonzero(place[self.table_of] >= 0)
        inside = (place[self.end_tables] >= 0) & (place[self.end_others] >= 0)
        graph = SchemaGraph(
            self.turn_of[tables],
            place[self.table_of[columns]],
            np.unique(self.same_name[columns], return_inverse=True)[1],
            np.searchsorted(columns, self.end_columns[inside]),
            place[self.end_tables[inside]],
            place[self.end_others[inside]],
        )
        return graph, columns


class SchemaShape(SchemaGraph):
    """The graph of one schema, with facts about its tables and columns."""

    def __init__(self, schema: Schema) -> None:
        """Number the tables and columns of a schema in its order."""
        number = {table.name: number for number, table in enumerate(schema.tables)}
        columns = [
            (number[table.name], place, column) for table in schema.tables for place, column in enumerate(table.columns)
        ]
        column_number = {(table, column.name): number for number, (table, _, column) in enumerate(columns)}
        joins = [
            (key, near, far)
            for key in schema.foreign_keys
            if (near := schema.table(key.table)) and (far := schema.table(key.ref_table))
        ]
        # Both ends of a key, column by column.
        ends = [
            (column_number[number[table.name], column.name], number[table.name], number[other.name])
            for key, near, far in joins
            for table, ends, other in ((near, key.columns, far), (far, key.ref_columns, near))
            for column in filter(None, map(table.column, ends))
        ]
        table_of = np.array([table for table, _, _ in columns], dtype=np.intp)
        self.position = np.array([place for _, place, _ in columns])  # of each column in its table, from 0
        super().__init__(
            np.zeros(len(number), dtype=np.intp),
            table_of,
            np.unique([column.name.lower() for *_, column in columns], return_inverse=True)[1],
            *np.array(ends, dtype=np.intp).reshape(-1, 3).T,
        )
        self.tables = len(number)  # how many there are
        self.primary = np.array([float(bool(column.primary_key)) for *_, column in columns])
        self.kinds: dict[ColumnKind, Shares] = {  # by kind, 1 for a column of it
            kind: np.array([float(column.kind == kind) for *_, column in columns])
            for kind in ("number", "time", "text")
        }
        self.keys = np.zeros(len(columns))  # 1 for columns at an end of a foreign key
        self.keys[self.end_columns] = 1.0
        # 1 for the first text column of its table that is no key: what a thing is called.
        self.display = np.zeros(len(columns))
        candidates = np.flatnonzero((self.kinds["text"] > 0) & (self.keys == 0))
        self.display[candidates[np.unique(table_of[candidates], return_index=True)[1]]] = 1.0
        # How many columns each table has, how many foreign keys, and how many refer to it.
        self.sizes = self.sum_columns_by_table(np.ones(len(columns)))
        self.leaving, self.arriving = np.zeros((2, self.tables))
        for _, near, far in joins:
            self.leaving[number[near.name]] += 1
            self.arriving[number[far.name]] += 1

    def sum_columns_by_table(self, columns: Shares) -> Shares:
        """Return, for each table, the sum of the values of its columns."""
        return np.bincount(self.table_of, weights=columns, minlength=self.tables).astype(np.float64)

    def max_by_table(self, columns: Shares) -> Shares:
        """Return, for each table, the highest of the values of its columns."""
        best = np.zeros(self.tables)
        np.maximum.at(best, self.table_of, columns)
        return best

    def get_best_neighbour_values(self, tables: Shares) -> tuple[Shares, Shares]:
        """Return the two highest values among each table's neighbours by foreign key."""
        order = np.lexsort((-tables[self.end_others], self.end_tables))
        table, share = self.end_tables[order], tables[self.end_others][order]
        first = np.append(True, table[1:] != table[:-1])[: len(table)]
        second = np.append(False, first[:-1] & ~first[1:])[: len(table)]
        best, next_best = np.zeros(self.tables), np.zeros(self.tables)
        best[table[first]], next_best[table[second]] = share[first], share[second]
        return best, next_best
