"""Results of tasks as frozen data, the same for a model and the offline translator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Intent = Literal["answerable", "ambiguous", "unanswerable", "small_talk"]
"""CoSQL's user acts, folded to what the agent does about them."""


@dataclass(frozen=True)
class Rephrasing:
    """A question rephrased so that it can be understood without earlier turns."""

    rephrased: str  # in the regular form ("Give me ..."), CREDIT-SQL 3.1
    simplified: str  # in plain common words (revision chain 3.1.1); equal to `rephrased` where not asked for
    intent: Intent = "answerable"
    reply: str = ""  # the question to ask back, why the turn is unanswerable, or a reply to small talk
    choices: tuple[str, ...] = ()  # the readings of an ambiguous turn, each a short self-contained phrase
    self_contained: bool = True  # not where nothing rephrased it


@dataclass(frozen=True)
class OtherReading:
    """Another interpretation of a question, with its query."""

    words: str  # how it reads the question
    sql: str


@dataclass(frozen=True)
class WriterComments:
    """The comments of a query's writer: confidence, doubt, another interpretation, the answer."""

    sure: float | None = None  # how sure it says it is, from 0 to 1: no measured confidence; None if it did not say
    doubt: str = ""  # why it is not surer
    other: OtherReading | None = None  # what else a careful person could mean
    say: str = ""  # the answer in one sentence, with places for cells, which only the program fills


@dataclass(frozen=True)
class SQLDraft:
    """A draft of a SQL query, not yet run."""

    sql: str
    confidence: float | None = None  # the offline translator's own, from 0 to 1
    notes: tuple[str, ...] = ()  # for the answer: other statements dropped, how the question was read
    caveats: tuple[str, ...] = ()  # sentences that a reader must know before relying on it: words not understood
    comments: WriterComments = WriterComments()
    understood: Rephrasing | None = None  # how the same reply understood the question

    @property
    def declines(self) -> bool:
        """Whether the reply asks back or gives a reason instead of a query."""
        return self.understood is not None and self.understood.intent != "answerable"


@dataclass(frozen=True)
class CodeDraft:
    """A draft in pandas code, with SQL if the reply has both (SQL-CRAFT 2, PoT)."""

    code: str  # leaves its answer in `result`
    sql: str = ""
    draft: SQLDraft | None = None  # the SQL with what else the reply says of it, where that was asked for


@dataclass(frozen=True)
class Explanation:
    """A query's meaning, and its differences from the question (revision chain 3.2.1)."""

    meaning: str
    differences: str = ""

    @property
    def text(self) -> str:
        """The meaning and the differences as text for a prompt; empty without a meaning."""
        differences = f"\nThe question differs: {self.differences}" if self.differences else ""
        return f"The query means: {self.meaning}{differences}" if self.meaning else ""
