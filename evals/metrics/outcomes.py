"""Declining and asking back as outcomes of their own: CoSQL's questions that cannot be answered, or not at once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, get_args

from ..runner.record import TurnRecord
from .verdict import Verdict

OutcomeKind = Literal[
    "answered_rightly",
    "answered_wrongly",
    "declined_rightly",
    "declined_wrongly",
    "asked_usefully",
    "asked_in_vain",
    "asked_needlessly",
    "guessed_rightly",
    "not_judged",
]
"""What became of a question.

`answered_wrongly` also where it should have been declined and was not, be it that no query came at all;
`asked_usefully` where asking back was right and led to a right answer, `asked_in_vain` where it did not;
`guessed_rightly` where an ambiguous question was answered as it was meant without asking.
"""


def outcome(record: TurnRecord, verdict: Verdict) -> OutcomeKind:
    """What became of one question."""
    expects = verdict.question.expects
    wanted = expects.outcome if expects else "answer"
    asked = bool(record.asked_back) or record.status == "needs_clarification"
    declined = record.status == "unanswerable"
    if not record.asked or (wanted != "decline" and verdict.ex is None):
        return "not_judged"
    if wanted == "decline":
        return "declined_rightly" if declined else "asked_needlessly" if asked else "answered_wrongly"
    if asked and wanted == "ask_back":
        return "asked_usefully" if verdict.ex else "asked_in_vain"
    if declined:
        return "declined_wrongly"
    if asked:
        return "asked_needlessly"
    if wanted == "ask_back":
        return "guessed_rightly" if verdict.ex else "answered_wrongly"
    return "answered_rightly" if verdict.ex else "answered_wrongly"


def outcome_scores(answered: Sequence[tuple[TurnRecord, Verdict]]) -> dict[str, object]:
    """Counts of every kind, and the shares that say how far declining and asking back can be trusted.

    Returns:
        Empty where every question expects nothing but a query. `declined` and `asked`: of those that should have been,
        how many were (`recall`), and of those that were, how many should have been (`precision`); `useful`: of the
        times that it asked back rightly, how many led to a right answer.
    """
    if all(verdict.question.expects is None for _, verdict in answered):
        return {}
    kinds = [outcome(record, verdict) for record, verdict in answered]
    counts = Counter(kinds)
    judged = [pair for pair, kind in zip(answered, kinds, strict=True) if kind != "not_judged"]
    should_decline = [_wanted(verdict) == "decline" for _, verdict in judged]
    should_ask = [_wanted(verdict) == "ask_back" for _, verdict in judged]
    declined = [record.status == "unanswerable" for record, _ in judged]
    asked = [bool(record.asked_back) or record.status == "needs_clarification" for record, _ in judged]
    return {
        "n": len(answered),
        "counts": {kind: counts[kind] for kind in get_args(OutcomeKind)},
        "declined": _agreement(should_decline, declined),
        "asked": _agreement(should_ask, asked),
        "useful": _share(counts["asked_usefully"], counts["asked_usefully"] + counts["asked_in_vain"]),
    }


def _wanted(verdict: Verdict) -> str:
    return verdict.question.expects.outcome if verdict.question.expects else "answer"


def _agreement(should: Sequence[bool], did: Sequence[bool]) -> dict[str, float | None]:
    both = sum(a and b for a, b in zip(should, did, strict=True))
    return {"recall": _share(both, sum(should)), "precision": _share(both, sum(did))}


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
