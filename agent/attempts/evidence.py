"""What speaks for and against an answer, on any database: nothing here is likeness to queries that were seen before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...tools.sandbox import Comparison
from ..records import Attempt, Status
from .compare import agreement, is_empty


@dataclass(frozen=True)
class SecondReading:
    """What the built-in grammar makes of the question.

    Attributes:
        same: Whether its query gives the same result.
        certainty: How sure it is of its own reading, from 0 to 1.
    """

    same: bool
    certainty: float


@dataclass(frozen=True)
class Evidence:
    """What is known of an answer.

    Attributes:
        proofs: What is as good as proved against the query.
        doubts: Further findings of static checks.
        unheld: Texts and numbers that it looks for and that their columns do not hold.
        empty: Whether nothing came out.
        unexpected: See `Reach`.
        joins: Likewise.
        nested: Likewise.
        columns: Of the result.
        agreeing: Other drafts, pandas code among them, with the same result.
        differing: Those with another.
        second: What the built-in grammar makes of the question; None where it was not asked, or reads nothing.
        readings: Rival readings of the question that were run.
        same_readings: Those of them that give the same.
        sure: How sure the model says it is, from 0 to 1; None where it does not say.
        approved: Whether a person approved the query for this question.
        unfinished: Whether the turn ended without converging.
    """

    proofs: int = 0
    doubts: int = 0
    unheld: int = 0
    empty: bool = False
    unexpected: float = 0.0
    joins: int = 0
    nested: int = 0
    columns: int = 1
    agreeing: int = 0
    differing: int = 0
    second: SecondReading | None = None
    readings: int = 0
    same_readings: int = 0
    sure: float | None = None
    approved: bool = False
    unfinished: bool = False

    def signals(self) -> dict[str, float]:
        """What the confidence weighs, by name; each is 0 where nothing is known."""
        others = self.agreeing + self.differing
        second = self.second
        return {
            "second reading agrees": second.certainty if second and second.same else 0.0,
            "second reading differs": float(second is not None and not second.same),
            "drafts agree": self.agreeing / others if others else 0.0,
            "drafts differ": self.differing / others if others else 0.0,
            "readings differ": 1 - self.same_readings / self.readings if self.readings else 0.0,
            "proofs": float(min(self.proofs, 2)),
            "doubts": float(min(self.doubts, 2)),
            "unheld values": float(min(self.unheld, 1)),
            "empty": float(self.empty),
            "unexpected": min(self.unexpected, 3.0),
            "joins": float(min(self.joins, 3)),
            "nested": float(min(self.nested, 2)),
            "columns": float(min(max(self.columns - 1, 0), 3)),
            "unsure": 0.0 if self.sure is None else 1 - self.sure,
            "approved": float(self.approved),
            "unfinished": float(self.unfinished),
        }


def evidence_of(
    attempt: Attempt,
    status: Status = "converged",
    others: Sequence[Attempt] = (),
    comparison: Comparison | None = None,
    second: SecondReading | None = None,
) -> Evidence:
    """What is known of an attempt that ran.

    Args:
        attempt: With its findings.
        status: How the turn ended.
        others: All attempts of the turn; drafts that were not selected vote.
        comparison: How the pandas code's result compares with the query's, where code ran.
        second: What the built-in grammar makes of the question.
    """
    votes = [agreement(attempt, other) for other in others if other.source == "candidate"]
    if comparison is not None:
        votes.append(True if comparison.agree else False if comparison.conclusive else None)
    reach = attempt.reach
    found = Evidence(
        proofs=attempt.proofs,
        doubts=max(len(attempt.findings) - attempt.proofs, 0),
        unheld=sum(not literal.held for literal in attempt.literals),
        empty=attempt.result is not None and is_empty(attempt.result),
        columns=len(attempt.result.columns) if attempt.result else 1,
        agreeing=votes.count(True),
        differing=votes.count(False),
        second=second,
        sure=attempt.sure,
        approved=attempt.source in ("verified", "edited"),
        unfinished=status == "capped",
    )
    if reach is None:
        return found
    return replace(found, unexpected=reach.unexpected, joins=reach.joins, nested=reach.nested)
