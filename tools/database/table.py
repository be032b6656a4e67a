"""The results of queries, and their limits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

Cell: TypeAlias = int | float | str | bytes | None
"""A value as SQLite holds it."""

Withheld = Literal["", "cells", "all"]
"""What of a result is left out: nothing, cells, or everything, the number of its rows included."""

WITHHELD = "[withheld]"
"""Stands in the place of a cell that may not leave."""


@dataclass(frozen=True)
class Limits:
    """Limits of one query; exceeding one ends the query with a typed error.

    Attributes:
        seconds: Time to run, including fetching. The default of 5 s keeps a conversation fluent.
        rows: Rows to fetch. One more is looked for, so that `Table.truncated` is known.
        cell_bytes: Largest single value (SQLite's length limit on the connection). The limit is lower for statements in
            which one step could otherwise take seconds: very long ones, and those that search a long value in another.
        result_bytes: Size of all values of the result together.
        memory_bytes: Memory that the query may use in its process, including its result; 0 for no limit. If an engine
            cannot run it in a process (see `Database.limits_note`), SQLite's heap is limited instead: for all
            connections together, and by the lowest limit requested so far.
        disk_bytes: Size of all temporary files together, for sorts, groups and recursions that exceed the memory. Each
            file may have an eighth of it. No limit if queries do not run in a process.
        sql_bytes: Longest statement. A person or a model writes far less.
        estimated_rows: Most rows that the engine may expect the query to read (`Estimate.rows`); 0 for no limit.
        estimated_rows_per_day: The same for all queries to the database in one day, counted over all processes of this
            user on this machine that have this limit; 0 for no limit.
    """

    seconds: float = 5.0
    rows: int = 1_000
    cell_bytes: int = 1_000_000
    result_bytes: int = 20_000_000
    memory_bytes: int = 256_000_000
    disk_bytes: int = 1_000_000_000
    sql_bytes: int = 50_000
    estimated_rows: int = 0
    estimated_rows_per_day: int = 0


@dataclass(frozen=True)
class Table:
    """A query's result.

    Attributes:
        columns: Column names as the database gives them; they may repeat.
        types: One type per column: `integer`, `real`, `text`, `blob`, `null` (no value seen) or `mixed`.
        rows: At most `Limits.rows` rows, each as long as `columns`.
        truncated: Whether the query had more rows than were fetched.
        elapsed: Seconds from the start to the last row fetched.
        withheld: Whether cells were left out because they may not be sent to a model (see
            `tools.masked_database`). `WITHHELD` takes the place of each.
        notes: Remarks of the engine on the result: values that it cut, or misread.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated: bool
    elapsed: float
    withheld: Withheld = ""
    notes: tuple[str, ...] = ()


PlainCell: TypeAlias = int | float | str | None
"""A value that JSON can carry; see `convert_cell`."""


def convert_cell(cell: Cell) -> PlainCell:
    """Return a cell as a JSON value: bytes become SQL blob literals, infinities words."""
    if isinstance(cell, bytes):
        return f"x'{cell.hex().upper()}'"
    if isinstance(cell, float) and not math.isfinite(cell):
        return "NaN" if math.isnan(cell) else ("Infinity" if cell > 0 else "-Infinity")
    return cell
