"""Which parts of a schema matter for a turn, with probabilities."""

from __future__ import annotations

from dataclasses import dataclass

from ..database.schema import Schema

STAR = "*"
"""The column name that stands for all columns of a table (`table.*`, Track-SQL's all-column intent)."""


@dataclass(frozen=True)
class SchemaItem:
    """One scored table or column.

    Attributes:
        table: The table's name.
        column: The column's name, `*` for all columns, or None for the table itself.
        p: Probability that this turn's SQL uses it.
        used_before: Whether an earlier turn's SQL used it (Track-SQL's [SN] mark).
    """

    table: str
    column: str | None
    p: float
    used_before: bool = False


@dataclass(frozen=True)
class LinkedSchema:
    """A linker's finding for one turn.

    Attributes:
        items: Every table, column and `table.*` of the database, most probable first.
        kept: The part of the schema to show: over the threshold, most probable first, closed over foreign keys;
            never empty.
    """

    items: tuple[SchemaItem, ...]
    kept: Schema


@dataclass(frozen=True)
class PastTurn:
    """An earlier turn of the conversation, as later turns need it.

    Attributes:
        question: As the person put it.
        rephrased: Self-contained.
        sql: The SQL that answered it; empty if none did.
        result: A one-line summary of the result.
        items: The linker's probabilities of that turn, `(table, column or None, p)`, those over 0.
    """

    question: str
    rephrased: str = ""
    sql: str = ""
    result: str = ""
    items: tuple[tuple[str, str | None, float], ...] = ()
