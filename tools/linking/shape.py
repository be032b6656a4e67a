"""A schema's structure as arrays, and what follows for tables from their columns and neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..database import Schema
from ..database.schema import ColumnKind
from .evidence import Names
from .vocabulary import Shares

Numbers = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Shape:
    """Arrays over columns, and over the ends of foreign keys.

    Attributes:
        table_of: Each column's table.
        position: Each column's position in its table, from 0.
        same_name: A number that columns of one name share.
        primary: 1 for a column of its table's primary key.
        kinds: By kind, 1 for a column of it.
        tables: How many tables there are.
        sizes: How many columns each table has.
        display: 1 for the first text column of its table that is no key: what a thing is called.
        keys: 1 for columns at an end of a foreign key.
        leaving: How many foreign keys each table has,
        arriving: and how many refer to it.
        end_columns: Of each end of a key, the column,
        end_tables: its table,
        end_others: and the table at the other end.
    """

    table_of: Numbers
    position: Numbers
    same_name: Numbers
    primary: Shares
    kinds: dict[ColumnKind, Shares]
    tables: int
    sizes: Shares
    display: Shares
    keys: Shares
    leaving: Shares
    arriving: Shares
    end_columns: Numbers
    end_tables: Numbers
    end_others: Numbers

    @classmethod
    def of(cls, schema: Schema, names: Names) -> Shape:
        """The shape of a schema."""
        columns = [(position, column) for table in schema.tables for position, column in enumerate(table.columns)]
        groups: dict[str, int] = {}
        same_name = [groups.setdefault(column.name.lower(), len(groups)) for _, column in columns]
        kinds: tuple[ColumnKind, ...] = ("number", "time", "text")
        joins = [
            (key, near, far)
            for key in schema.foreign_keys
            if (near := schema.table(key.table)) and (far := schema.table(key.ref_table))
        ]
        # Both ends of a key, column by column.
        ends = [
            (
                names.column_number[table.name, column.name],
                names.table_number[table.name],
                names.table_number[other.name],
            )
            for key, near, far in joins
            for table, ends, other in ((near, key.columns, far), (far, key.ref_columns, near))
            for column in filter(None, map(table.column, ends))
        ]
        end_columns, end_tables, end_others = _numbers(ends).reshape(-1, 3).T
        keys = np.zeros(len(columns))
        keys[end_columns] = 1.0
        table_of = _numbers([names.table_number[table] for table, _ in names.columns])
        return cls(
            table_of=table_of,
            position=_numbers([position for position, _ in columns]),
            same_name=_numbers(same_name),
            primary=np.array([float(bool(column.primary_key)) for _, column in columns]),
            kinds={kind: np.array([float(column.kind == kind) for _, column in columns]) for kind in kinds},
            tables=len(schema.tables),
            sizes=np.array([float(len(table.columns)) for table in schema.tables]),
            display=_display(table_of, np.array([column.kind == "text" for _, column in columns], dtype=bool), keys),
            keys=keys,
            leaving=_counts([names.table_number[near.name] for _, near, _ in joins], len(schema.tables)),
            arriving=_counts([names.table_number[far.name] for _, _, far in joins], len(schema.tables)),
            end_columns=end_columns,
            end_tables=end_tables,
            end_others=end_others,
        )

    def sum_columns(self, columns: Shares) -> Shares:
        """The sum over each table's columns."""
        return np.bincount(self.table_of, weights=columns, minlength=self.tables).astype(np.float64)

    def best_column(self, columns: Shares) -> Shares:
        """The best of each table's columns."""
        best = np.zeros(self.tables)
        np.maximum.at(best, self.table_of, columns)
        return best

    def best_neighbours(self, tables: Shares) -> tuple[Shares, Shares]:
        """The best and the second best of each table's neighbours by foreign keys."""
        order = np.lexsort((-tables[self.end_others], self.end_tables))
        table, share = self.end_tables[order], tables[self.end_others][order]
        first = np.append(True, table[1:] != table[:-1])[: len(table)]
        second = np.append(False, first[:-1] & ~first[1:])[: len(table)]
        best, next_best = np.zeros(self.tables), np.zeros(self.tables)
        best[table[first]], next_best[table[second]] = share[first], share[second]
        return best, next_best


def _counts(tables: Sequence[int], count: int) -> Shares:
    return np.bincount(_numbers(tables), minlength=count).astype(np.float64)


def _display(table_of: Numbers, text: npt.NDArray[np.bool_], keys: Shares) -> Shares:
    display = np.zeros(len(table_of))
    candidates = np.flatnonzero(text & (keys == 0))
    _, first = np.unique(table_of[candidates], return_index=True)
    display[candidates[first]] = 1.0
    return display


def _numbers(numbers: Sequence[int] | Sequence[tuple[int, int, int]]) -> Numbers:
    return np.array(numbers, dtype=np.intp)
