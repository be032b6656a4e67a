"""The tables and columns that matter for a turn, and the turns before it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..database.schema import ForeignKey, Schema
from ..database.session import Rights
from .join_path import find_all_joining_keys

STAR = "*"  # the column name that stands for all columns of a table (`table.*`, Track-SQL's all-column intent)


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

    def all_columns(self, threshold: float) -> tuple[tuple[str, int], ...]:
        """Return the kept tables of which the question probably asks for all columns.

        With each comes how many of its columns that are kept are more probable than all of them.

        Args:
            threshold: Least probability of `table.*`.
        """
        columns = {(item.table, item.column): item.p for item in self.items}
        return tuple(
            (table.name, sum(columns.get((table.name, column.name), 0.0) > p for column in table.columns))
            for table in self.kept.tables
            if (p := columns.get((table.name, STAR), -1.0)) >= threshold and table.column(STAR) is None
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


# The part of a schema to show, by the probabilities of its items.

_COLUMNS_A_TABLE = 5  # where only so many columns are shown, a fifth as many tables are

_LIKELY = 0.1
"""Where not all are shown, tables in between are added for those that are so probable; Track-SQL's threshold."""


def keep_likely_items(schema: Schema, items: Sequence[SchemaItem], threshold: float, max_columns: int | None) -> Schema:
    """Return the schema's tables and columns over the threshold, with their join keys.

    Keys stay whatever their probability: the primary key of each table shown and both ends of each join between
    them; tables in between are added, so that what is shown can be joined wherever keys lead from one to the other.

    Args:
        schema: The whole schema.
        items: Scored items, most probable first.
        threshold: Items at or above it are kept (Track-SQL's s); where there are none, the most probable is.
        max_columns: How many columns to show, keys aside, and five times how many tables, those in between aside;
            None for all over the threshold.
    """
    over = [item for item in items if item.p >= threshold] or list(items[:1])
    # A column may really be called `*`; otherwise that stands for all columns of a table.
    starred = {table.name for table in schema.tables for column in table.columns if column.name == STAR}
    single = {item for item in over if item.column and (item.column != STAR or item.table in starred)}
    shown = over if max_columns is None else _take_most_probable_items(over, single, max_columns)
    # The order of these dictionaries is the order in which tables and columns are shown.
    columns: dict[str, dict[str, None]] = {item.table: {} for item in shown or over[:1]}
    for item in shown:
        if item in single:
            columns[item.table][str(item.column)] = None
    keys: Sequence[ForeignKey] = ()
    if len(shown) < len(over):
        # Without room for all, likely tables alone bring others in between: those that merely fill the room would
        # bring as many again.
        likely = {item.table for item in shown if item.p >= _LIKELY}
        whole = [(table.name, [each.name for each in table.columns]) for table in map(schema.table, columns) if table]
        keys = find_all_joining_keys(schema, [name for name in columns if name in likely])
        keys += find_all_joining_keys(schema.part(whole), columns)
    elif threshold > 0:
        keys = find_all_joining_keys(schema, columns)
    for key in keys:
        for table, ends in ((schema.table(key.table), key.columns), (schema.table(key.ref_table), key.ref_columns)):
            if table:
                held = columns.setdefault(table.name, {})
                held.update((column.name, None) for column in map(table.column, ends) if column)
    for table in schema.tables:
        if table.name in columns:
            shown_by = table.key or [column.name for column in table.columns[:1]]
            columns[table.name].update(dict.fromkeys(shown_by))
    return schema.part([(name, list(names)) for name, names in columns.items()])


def _take_most_probable_items(
    items: Sequence[SchemaItem], columns: Collection[SchemaItem], max_columns: int
) -> Sequence[SchemaItem]:
    """Return the most probable tables within the limit, and their most probable columns."""
    # They are counted apart: in a crowd of tables those outrank columns that were not scored one by one, and a table
    # without the columns asked for is of no use.
    room = max_columns
    tables: set[str] = set()
    first: list[SchemaItem] = []
    for item in items:
        if item.table not in tables and len(tables) >= max(1, max_columns // _COLUMNS_A_TABLE):
            continue
        if item in columns:
            if not room:
                continue
            room -= 1
        tables.add(item.table)
        first.append(item)
    return first
