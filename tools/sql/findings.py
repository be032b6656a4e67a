"""What a check of a query reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from ..errors import QueryErrorKind

FindingKind = (
    QueryErrorKind
    | Literal[
        "missing_join",
        "suspicious_join",
        "cartesian_product",
        "bare_column",
        "type_mismatch",
        "unknown_value",
        "always_empty",
        "output_columns",
    ]
)
"""A query error that running the query would give, or a doubt about one that runs."""

Severity = Literal["error", "warning", "info"]


@dataclass(frozen=True)
class Finding:
    """One remark about a query.

    Attributes:
        kind: What it is about.
        severity: `error`: it won't run, or a condition can never hold; `warning`: likely not what was meant; `info`:
            worth a look.
        message: One sentence.
        place: The part of the query that it is about; empty for the whole.
        suggestion: What to write instead; empty if there is none.
    """

    kind: FindingKind
    severity: Severity
    message: str
    place: str = ""
    suggestion: str = ""


@dataclass(frozen=True)
class Asked:
    """What a query should answer.

    Attributes:
        question: Self-contained, as asked or rephrased.
    """

    question: str


class ColumnValues(Protocol):
    """What columns hold; `tools.values.ValueIndex` is one."""

    def holds(self, table: str, column: str, text: str) -> bool:
        """Whether a row of the table has exactly this text in the column."""
        ...

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        """The column's values most like the text, best first."""
        ...
