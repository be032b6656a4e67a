"""The findings of a query's checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from ..errors import QueryErrorKind

FindingKind = QueryErrorKind | Literal["unknown_value", "always_empty", "never_holds"]
"""A query error that running the query would give, or a remark about a query that runs.

`always_empty`: a condition can never hold, and so the query has no rows; `never_holds`: it has rows all the same.
"""

NO_DATE = "is not a date"
"""What a `never_holds` says of a text such as `2024-13-45` beside dates, whichever rows come out."""

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """An error in a query or a doubt about a query, found by a check."""

    kind: FindingKind
    # `error`: it won't run, or a condition can never hold; `warning`: likely not what was meant; `info`: worth a look.
    severity: Severity
    message: str
    place: str = ""  # the part of the query that it is about; empty for the whole
    suggestion: str = ""  # what to write instead; empty if there is none
    # Whether it is evidence enough to have the query written again. An error always is. Every other finding is a doubt,
    # for which no good query should have to be written again.
    proof: bool = False

    def __post_init__(self) -> None:
        if self.severity == "error":
            object.__setattr__(self, "proof", True)


class ColumnValueLookup(Protocol):
    """A look-up of column values, such as `tools.values.ValueIndex`."""

    def holds(self, table: str, column: str, text: str) -> bool:
        """Whether a row of the table has exactly this text in the column."""
        ...

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        """Return the column's values that are most similar to the text, best first."""
        ...


MOST_LOOKED_UP = 100
"""Constants of one query that are looked up: a list of thousands would be looked up for minutes."""


class LimitedValueLookup:
    """A limited look-up of column values; beyond the limit, every text counts as present."""

    def __init__(self, values: ColumnValueLookup) -> None:
        self._values = values
        self._remaining = MOST_LOOKED_UP

    def holds(self, table: str, column: str, text: str) -> bool:
        """Whether a row has the text in the column, or the limit on look-ups is exceeded."""
        self._remaining -= 1
        return self._remaining < 0 or self._values.holds(table, column, text)

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        return self._values.nearest(table, column, text, limit)
