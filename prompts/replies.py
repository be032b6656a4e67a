"""What tasks give back, as frozen data; the same whoever did the task."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Intent = Literal["answerable", "ambiguous", "unanswerable", "small_talk"]
"""CoSQL's user acts, folded to what the agent does about them."""


@dataclass(frozen=True)
class Rephrasing:
    """A question made self-contained.

    Attributes:
        rephrased: In the regular form ("Give me ..."), self-contained (CREDIT-SQL 3.1).
        simplified: In plain common words (revision chain 3.1.1); equal to `rephrased` where not asked for.
        intent: What kind of turn it is.
        reply: For an ambiguous turn, the question to ask back; for an unanswerable one, why; for small talk, a reply.
        choices: For an ambiguous turn, the readings that the schema offers, each a short self-contained phrase.
        self_contained: Whether `rephrased` can be understood without earlier turns; not where nothing rephrased it.
    """

    rephrased: str
    simplified: str
    intent: Intent = "answerable"
    reply: str = ""
    choices: tuple[str, ...] = ()
    self_contained: bool = True


@dataclass(frozen=True)
class Draft:
    """A SQL query, not yet run.

    Attributes:
        sql: One statement.
        confidence: The translator's own, from 0 to 1; None where it gives none.
        notes: Remarks for the answer: other statements dropped, how the question was read.
        caveats: What a reader must know before relying on it, one sentence each: words that were not understood.
        sure: How sure its writer says it is, from 0 to 1: no measured confidence. None where it does not say.
        doubt: Why it is not surer; empty if it does not say.
        understood: How the question was understood, where the same reply says so. Where that declines or asks back,
            there is no SQL.
    """

    sql: str
    confidence: float | None = None
    notes: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    sure: float | None = None
    doubt: str = ""
    understood: Rephrasing | None = None

    @property
    def declines(self) -> bool:
        """Whether it asks back or says why there is no query, instead of giving one."""
        return self.understood is not None and self.understood.intent != "answerable"


@dataclass(frozen=True)
class CodeDraft:
    """Pandas code, with the SQL that goes with it where both came in one reply (SQL-CRAFT 2, PoT).

    Attributes:
        code: Leaves its answer in `result`.
        sql: Empty where only code was asked for (code blocks).
        draft: The SQL with what else the reply says of it and of the question, where that was asked for.
    """

    code: str
    sql: str = ""
    draft: Draft | None = None


@dataclass(frozen=True)
class Explanation:
    """What a query means, and how that differs from what was asked (revision chain 3.2.1).

    Attributes:
        meaning: The query in plain words.
        differences: Empty where there are none.
    """

    meaning: str
    differences: str = ""

    @property
    def text(self) -> str:
        """Both, for a prompt; empty where there is no meaning."""
        differences = f"\nThe question differs: {self.differences}" if self.differences else ""
        return f"The query means: {self.meaning}{differences}" if self.meaning else ""
