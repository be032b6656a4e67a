"""A schema's structure as arrays, and values that tables get from columns and neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ..database import Schema
from ..database.schema import ColumnKind
from .vocabulary import Shares

Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True)
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
        column_place = np.zeros(len(self.table_of), dtype=np.intp)
        column_place[columns] = np.arange(len(columns))
        inside = (place[self.end_tables] >= 0) & (place[self.end_others] >= 0)
        graph = SchemaGraph(
            self.turn_of[tables],
            place[self.table_of[columns]],
            np.unique(self.same_name[columns], return_inverse=True)[1],
            column_place[self.end_columns[inside]],
            place[self.end_tables[inside]],
            place[self.end_others[inside]],
        )
        return graph, columns


@dataclass(frozen=True)
class SchemaShape(SchemaGraph):
    """The graph of one schema, with facts about its tables and columns."""

    position: Numbers  # of each column in its table, from 0
    primary: Shares  # 1 for a column of its table's primary key
    kinds: dict[ColumnKind, Shares]  # by kind, 1 for a column of it
    sizes: Shares  # how many columns each table has
    display: Shares  # 1 for the first text column of its table that is no key: what a thing is called
    keys: Shares  # 1 for columns at an end of a foreign key
    leaving: Shares  # how many foreign keys each table has
    arriving: Shares  # how many refer to it

    @classmethod
    def of(cls, schema: Schema) -> SchemaShape:
        """Build the shape of a schema."""
        tables = {table.name: number for number, table in enumerate(schema.tables)}
        columns = [(table, place, column) for table in schema.tables for place, column in enumerate(table.columns)]
        column_number = {(table.name, column.name): number for number, (table, _, column) in enumerate(columns)}
        names: dict[str, int] = {}
        joins = [
            (key, near, far)
            for key in schema.foreign_keys
            if (near := schema.table(key.table)) and (far := schema.table(key.ref_table))
        ]
        # Both ends of a key, column by column.
        ends = [
            (column_number[table.name, column.name], tables[table.name], tables[other.name])
            for key, near, far in joins
            for table, ends, other in ((near, key.columns, far), (far, key.ref_columns, near))
            for column in filter(None, map(table.column, ends))
        ]
        end_columns, end_tables, end_others = _to_index_array(ends).reshape(-1, 3).T
        keys = np.zeros(len(columns))
        keys[end_columns] = 1.0
        table_of = _to_index_array([tables[table.name] for table, *_ in columns])
        kinds: dict[ColumnKind, Shares] = {
            kind: np.array([float(column.kind == kind) for *_, column in columns])
            for kind in ("number", "time", "text")
        }
        named = np.flatnonzero((kinds["text"] > 0) & (keys == 0))
        display = np.zeros(len(columns))
        display[named[np.unique(table_of[named], return_index=True)[1]]] = 1.0
        return cls(
            turn_of=np.zeros(len(tables), dtype=np.intp),
            table_of=table_of,
            same_name=_to_index_array([names.setdefault(column.name.lower(), len(names)) for *_, column in columns]),
            end_columns=end_columns,
            end_tables=end_tables,
            end_others=end_others,
            position=_to_index_array([place for _, place, _ in columns]),
            primary=np.array([float(bool(column.primary_key)) for *_, column in columns]),
            kinds=kinds,
            sizes=np.array([float(len(table.columns)) for table in schema.tables]),
            display=display,
            keys=keys,
            leaving=_count_by_table([tables[near.name] for _, near, _ in joins], len(tables)),
            arriving=_count_by_table([tables[far.name] for *_, far in joins], len(tables)),
        )

    @cached_property
    def tables(self) -> int:
        """The number of tables in the schema."""
        return len(self.sizes)

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


def _count_by_table(tables: Sequence[int], count: int) -> Shares:
    return np.bincount(_to_index_array(tables), minlength=count).astype(np.float64)


def _to_index_array(numbers: Sequence[int] | Sequence[tuple[int, int, int]]) -> Numbers:
    return np.array(numbers, dtype=np.intp)
