"""Results: what a query gave back, and under which limits."""

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
    """What one query may cost. Each limit ends the query with a typed error, never the connection.

    Attributes:
        seconds: Time to run, including fetching. 5 s keeps a conversation a conversation.
        rows: Rows fetched; one more is looked for, so that `Table.truncated` is known.
        cell_bytes: Largest single value (SQLite's length limit on the connection). Less in statements in which one
            step could take seconds otherwise: very long ones, and those that search a long value in another.
        result_bytes: All values of the result together.
        memory_bytes: Memory that the query may use in its process, its result included; 0 for no limit. Where an
            engine cannot run it in a process (see `Database.limits_note`), SQLite's heap is limited instead: for all
            connections together, and by the lowest limit asked for so far.
        disk_bytes: Temporary files together, of which each may have an eighth: sorts, groups and recursions that
            outgrow memory. No limit where queries do not run in a process.
        sql_bytes: Longest statement. A person or a model writes far less.
        estimated_rows: Rows that the engine may expect the query to read (`Estimate.rows`); 0 for any number.
        estimated_rows_per_day: The same for all queries of a day to the database, of all processes of this user of the
            machine, counted where there is this cap; 0 for any number.
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
        columns: Names as the database gives them; may repeat.
        types: One a column: `integer`, `real`, `text`, `blob`, `null` (no value seen) or `mixed`.
        rows: At most `Limits.rows`, each as long as `columns`.
        truncated: Whether the query had more rows than were fetched.
        elapsed: Seconds from start to the last row fetched.
        withheld: Whether cells were left out because they may not leave (see `tools.outgoing`): `WITHHELD` stands for
            each.
        notes: What the engine remarks on the result: values that it cut, or took for something that they are not.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated: bool
    elapsed: float
    withheld: Withheld = ""
    notes: tuple[str, ...] = ()


PlainCell: TypeAlias = int | float | str | None
"""A value that JSON can carry; see `plain_cell`."""


def plain_cell(cell: Cell) -> PlainCell:
    """The value as JSON can carry it: bytes are written as SQL blob literals, infinities as words."""
    if isinstance(cell, bytes):
        return f"x'{cell.hex().upper()}'"
    if isinstance(cell, float) and not math.isfinite(cell):
        return "NaN" if math.isnan(cell) else ("Infinity" if cell > 0 else "-Infinity")
    return cell
