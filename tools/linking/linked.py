"""Which parts of a schema matter for a turn, with probabilities."""

from __future__ import annotations

from dataclasses import dataclass

from ..database.schema import Schema
from ..database.session import Rights

STAR = "*"
"""The column name that stands for all columns of a table (`table.*`, Track-SQL's all-column intent)."""


@dataclass(frozen=True)
class SchemaItem:
    """One scored table or column.

    Attributes:
        table: The table's name.
        column: The column's name, `*` for all columns, or None for the table itself.
        p: Probability that this turn's SQL uses it.
        used_before: Whether an earlier turn's SQL used it (Track-SQL's [SN] mark); `SELECT *` uses all columns.
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

    def all_columns(self, threshold: float) -> tuple[tuple[str, int], ...]:
        """Tables of which all columns are probably asked for (Track-SQL 2.2, all-column intent), among those kept.

        Args:
            threshold: Least probability of `table.*`.

        Returns:
            Pairs of a table and how many of its columns that are kept are more probable than all of them.
        """
        columns = {(item.table, item.column): item.p for item in self.items}
        return tuple(
            (table.name, sum(columns.get((table.name, column.name), 0.0) > p for column in table.columns))
            for table in self.kept.tables
            if (p := columns.get((table.name, STAR), -1.0)) >= threshold and table.column(STAR) is None
        )


@dataclass(frozen=True)
class PastTurn:
    """An earlier turn of the conversation, as later turns need it.

    Attributes:
        question: As the person put it.
        rephrased: Self-contained.
        sql: The SQL that answered it; empty if none did.
        result: A one-line summary of the result.
        items: The linker's probabilities of that turn, `(table, column or None, p)`, those over 0.
        rights: Under which rights it was answered; None where there is no record of them, as in older conversations.
    """

    question: str
    rephrased: str = ""
    sql: str = ""
    result: str = ""
    items: tuple[tuple[str, str | None, float], ...] = ()
    rights: Rights | None = None
