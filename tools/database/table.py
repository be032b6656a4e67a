"""Results: what a query gave back, and under which limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

Cell: TypeAlias = int | float | str | bytes | None
"""A value as SQLite holds it."""


@dataclass(frozen=True)
class Limits:
    """What one query may cost. Each limit ends the query with a typed error, never the connection.

    Attributes:
        seconds: Time to run, including fetching. 5 s keeps a conversation a conversation.
        rows: Rows fetched; one more is looked for, so that `Table.truncated` is known.
        cell_bytes: Largest single value (SQLite's length limit on the connection). Less in statements in which one
            step could take seconds otherwise: very long ones, and those that search a long value in another.
        result_bytes: All values of the result together.
        memory_bytes: Heap that SQLite may use, where the build supports a limit. SQLite knows this limit only for all
            connections of a process together, and lets it be lowered but not raised: the lowest one asked for so far
            holds. 0 asks for none, which lets a few lines of nested common table expressions take all memory.
    """

    seconds: float = 5.0
    rows: int = 1_000
    cell_bytes: int = 1_000_000
    result_bytes: int = 20_000_000
    memory_bytes: int = 256_000_000


@dataclass(frozen=True)
class Table:
    """A query's result.

    Attributes:
        columns: Names as the database gives them; may repeat.
        types: One a column: `integer`, `real`, `text`, `blob`, `null` (no value seen) or `mixed`.
        rows: At most `Limits.rows`, each as long as `columns`.
        truncated: Whether the query had more rows than were fetched.
        elapsed: Seconds from start to the last row fetched.
    """

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated: bool
    elapsed: float
