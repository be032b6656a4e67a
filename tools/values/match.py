"""A database value that a question mentions."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ValueMatch:
    """One mention.

    Attributes:
        table: Table that holds the value.
        column: Its column.
        value: In the database's spelling.
        mention: The question's words that stand for it.
        start: Character offset of the mention in the question.
        end: Offset just past the mention.
        score: From 0 to 1; 1 is the same text.
        how: `exact`, `case`, `inflection`, `typo`, `abbreviation`, `part`, or `flag`: a yes or no of the
            column that the mention names.
    """

    table: str
    column: str
    value: str
    mention: str
    start: int
    end: int
    score: float
    how: str
