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
        "unused_value",
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


class Mention(Protocol):
    """A database value that a question mentions; `tools.values.ValueMatch` is one."""

    @property
    def table(self) -> str:
        """Table that holds the value."""
        ...

    @property
    def column(self) -> str:
        """Its column."""
        ...

    @property
    def value(self) -> str:
        """In the database's spelling."""
        ...

    @property
    def mention(self) -> str:
        """The question's words that stand for it."""
        ...

    @property
    def start(self) -> int:
        """Where they begin in the question."""
        ...

    @property
    def end(self) -> int:
        """Just past their end."""
        ...


@dataclass(frozen=True)
class Asked:
    """What a query should answer.

    Attributes:
        question: Self-contained, as asked or rephrased.
        mentions: Database values that it surely mentions, which a query should look for.
    """

    question: str
    mentions: tuple[Mention, ...] = ()


class ColumnValues(Protocol):
    """What columns hold; `tools.values.ValueIndex` is one."""

    def holds(self, table: str, column: str, text: str) -> bool:
        """Whether a row of the table has exactly this text in the column."""
        ...

    def nearest(self, table: str, column: str, text: str, limit: int = 3) -> tuple[str, ...]:
        """The column's values most like the text, best first."""
        ...
