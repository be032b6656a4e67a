"""The tables and columns that matter for a turn, and the turns before it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..database.schema import Schema
from ..database.session import Rights
from ..sql.join_path import find_all_joining_keys

STAR = "*"  # the column name that stands for all columns of a table (`table.*`, Track-SQL's all-column intent)

_STORED_ITEMS = 200
"""Probabilities kept in the state, most probable first: enough for any window, small for a 10,000-column schema."""


class SchemaItem(NamedTuple):
    """A table or column with the probability that the turn's SQL uses it."""

    table: str
    column: str | None  # `*` for all columns, None for the table itself
    p: float  # probability that this turn's SQL uses it
    used_before: bool = False  # whether an earlier turn's SQL did (Track-SQL's [SN] mark); `SELECT *` uses all columns


@dataclass(frozen=True)
class LinkedSchema:
    """The result of schema linking for one turn: scored items and the schema part to show."""

    items: tuple[SchemaItem, ...]  # every table, column and `table.*` of the database, most probable first
    kept: Schema  # the part to show: over the threshold, most probable first, closed over foreign keys; never empty

    def to_state(self) -> tuple[tuple[str, str | None, float], ...]:
        """Return the most probable items in the form that the graph's state stores."""
        return tuple((item.table, item.column, round(item.p, 4)) for item in self.items[:_STORED_ITEMS])

    def all_columns(self, threshold: float) -> tuple[tuple[str, int], ...]:
        """Return tables with all columns probably asked for, and the number of likelier columns.

        Only kept tables and columns count; a column is likelier if its probability is above that of `table.*`.

        Args:
            threshold: Least probability of `table.*`.
        """
        columns = {(item.table, item.column): item.p for item in self.items}
        return tuple(
            (table.name, sum(columns.get((table.name, column.name), 0.0) > p for column in table.columns))
            for table in self.kept.tables
            if (p := columns.get((table.name, STAR), -1.0)) >= threshold
        )


@dataclass(frozen=True)
class PastTurn:
    """An earlier turn of the conversation: question, SQL, result and linked schema items."""

    question: str  # as the person put it
    rephrased: str = ""  # self-contained
    sql: str = ""  # what answered it; empty if none did
    result: str = ""  # a one-line summary
    items: tuple[tuple[str, str | None, float], ...] = ()  # the linker's `(table, column or None, p)`, those over 0
    rights: Rights | None = None  # under which it was answered; None without a record, as in older conversations


def keep_likely_items(schema: Schema, items: Sequence[SchemaItem], threshold: float) -> Schema:
    """Return the schema's tables and columns over the threshold, with their join keys.

    Keys stay whatever their probability: the primary key of each table shown and both ends of each join between
    them; tables in between are added, so that what is shown can be joined wherever keys lead from one to the other.

    Args:
        schema: The whole schema.
        items: Scored items, most probable first.
        threshold: Items at or above it are kept (Track-SQL's s); where there are none, the most probable is.
    """
    likely = [item for item in items if item.p >= threshold] or items[:1]
    # The order of these dictionaries is the order in which tables and columns are shown.
    columns: dict[str, dict[str, None]] = {item.table: {} for item in likely}
    for item in likely:
        if item.column and item.column != STAR:
            columns[item.table][item.column] = None
    keys = find_all_joining_keys(schema, columns) if threshold > 0 else ()
    for place, column in (end for key in keys for pair in key.pairs for end in pair):
        if (table := schema.table(place)) and (named := table.column(column)):
            columns.setdefault(table.name, {})[named.name] = None
    for table in schema.tables:
        if table.name in columns:
            shown_by = table.key or [column.name for column in table.columns[:1]]
            columns[table.name].update(dict.fromkeys(shown_by))
    return schema.part([(name, list(names)) for name, names in columns.items()])
