"""Scores by verdict, beside those by gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..datasets import Dataset
from ..metrics import Verdict
from .adjudicator import Adjudicator, Outcome
from .ruling import Ruling


@dataclass(frozen=True)
class VerdictScores:
    """Execution accuracy by verdict.

    Attributes:
        n: Questions that were asked.
        right: Answers that a verdict calls right, or that gold calls right and no verdict calls otherwise.
        wrong: Answers that a verdict calls wrong, or that do not run.
        unclear: Answers whose verdict is unclear.
        unjudged: Answers that differ from gold and have no verdict.
        proposed: The unjudged answers for which a judge has proposed a verdict.
        low: EX if all open answers were wrong.
        high: EX if all open answers were right.
        ex: The share of right answers among right and wrong ones; None while any answer is unjudged.
    """

    n: int
    right: int
    wrong: int
    unclear: int
    unjudged: int
    proposed: int
    low: float | None
    high: float | None
    ex: float | None


def score_outcomes(outcomes: Sequence[Outcome]) -> VerdictScores:
    """Counts outcomes; one that is open is never taken for anything."""
    counts = Counter(outcome.verdict for outcome in outcomes)
    right, wrong, unclear, unjudged = (counts[word] for word in ("right", "wrong", "unclear", None))
    n, decided = len(outcomes), right + wrong
    return VerdictScores(
        n=n,
        right=right,
        wrong=wrong,
        unclear=unclear,
        unjudged=unjudged,
        proposed=sum(outcome.verdict is None and outcome.proposal is not None for outcome in outcomes),
        low=right / n if n else None,
        high=(n - wrong) / n if n else None,
        ex=right / decided if decided and not unjudged else None,
    )


@dataclass(frozen=True)
class ByVerdict:
    """A run's answers by verdict.

    Attributes:
        scores: Over all of them.
        outcomes: By question id, of those that were asked.
    """

    scores: VerdictScores
    outcomes: dict[str, Outcome]

    def as_json(self) -> dict[str, Any]:
        """Scores, and what was decided otherwise than by gold, question by question."""
        return {**asdict(self.scores), "per_question": {name: said(found) for name, found in self.outcomes.items()}}

    def told(self, by_gold: float | None) -> str:
        """Both judgements in one line."""
        found = self.scores
        gold = "-" if by_gold is None else f"{100 * by_gold:.1f}"
        if found.low is None or found.high is None:
            return "EX by gold -, by verdict -: nothing was asked"
        ours = f"{100 * found.ex:.1f}" if found.ex is not None else f"{100 * found.low:.1f} to {100 * found.high:.1f}"
        told = (
            f"EX by gold {gold}, by verdict {ours}: {found.right} right, {found.wrong} wrong, {found.unclear} unclear"
        )
        if found.unjudged:
            told += f", {found.unjudged} unjudged"
        return told + (f" ({found.proposed} with a proposal)" if found.proposed else "")


def said(outcome: Outcome) -> dict[str, Any]:
    """An outcome for JSON."""
    fields = {"verdict": outcome.verdict, "basis": outcome.basis, "why": outcome.why, "kind": outcome.kind}
    return fields | {"proposal": _proposed(outcome.proposal), "gold_proposal": _proposed(outcome.gold_proposal)}


def _proposed(proposal: Ruling | None) -> dict[str, Any] | None:
    return proposal.model_dump(include={"verdict", "kind", "why", "by"}) if proposal else None


def by_verdict(dataset: Dataset, verdicts: Iterable[Verdict], rulings: Iterable[Ruling]) -> ByVerdict:
    """What rulings make of judged answers; those that could not be asked are left out."""
    with Adjudicator(dataset, rulings) as adjudicator:
        outcomes = {
            verdict.question.id: adjudicator.outcome(verdict.question, verdict.sql, verdict.ex, verdict.valid)
            for verdict in verdicts
            if verdict.asked
        }
    return ByVerdict(score_outcomes(list(outcomes.values())), outcomes)
