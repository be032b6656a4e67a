"""Which attempt is the answer: drafts vote by their results, and each is weighed by how it fits the question.

All weights are in nats, and were set by hand: a draft's fit is a sum of logarithms of probabilities that are not
independent, so it counts for less than half; what findings cost is estimated from how often Spider train's gold queries
have them. No weight was fitted to a development set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..records import Attempt, CodeResult
from .compare import compare_code, differs, is_empty, same_answer
from .departures import computes_the_same, departs, drops_request, returns_less

VOTE = 1.0
"""What one more draft with the same result is worth: less than if drafts did not err together."""

FIT = 0.4
"""Share of the fit (`Attempt.fit`) that counts."""

UNREAD = -20.0
"""Fit of a query that cannot be read."""

FAULT, DOUBT, EMPTY = 5.0, 2.5, 3.0
"""What an error found by static checks costs, a warning, and a result without rows.

Of Spider train's gold queries 0 %, 2.6 % and 1.4 % show these. Of published drafts 9 % have a warning and 8 % are
empty; if one draft in five is wrong, that is a third of the wrong ones: logarithms of 13 and 24.
"""

MARGIN = 1.0
"""By how much a revision has to be better than what it replaces: revising alone is no sign of it."""


@dataclass(frozen=True)
class Group:
    """Attempts with the same result.

    Attributes:
        best: The one of most merit.
        size: How many there are.
        score: Votes and the merit of the best.
    """

    best: Attempt
    size: int
    score: float


def merit(attempt: Attempt) -> float:
    """How well an attempt that ran stands on its own: fit, findings, and whether it gave anything."""
    value = FIT * (UNREAD if attempt.fit is None else attempt.fit)
    value -= FAULT * attempt.faults + DOUBT * (len(attempt.findings) - attempt.faults)
    if attempt.result is not None and is_empty(attempt.result):
        value -= EMPTY
    return value + (VOTE if attempt.source == "merged" else 0.0)


def group(attempts: Sequence[Attempt]) -> tuple[Group, ...]:
    """Attempts that ran, grouped by result, the strongest group first (consistency voting, CREDIT-SQL 5.2).

    Equally strong groups keep the order of their first attempts.
    """
    members: list[list[Attempt]] = []
    for attempt in attempts:
        if attempt.result is None:
            continue
        for known in members:
            if same_answer(known[0], attempt):
                known.append(attempt)
                break
        else:
            members.append([attempt])
    found = [_group(same) for same in members]
    return tuple(sorted(found, key=lambda one: -one.score))


def _group(members: Sequence[Attempt]) -> Group:
    best = max(members, key=merit)
    return Group(best, len(members), VOTE * len(members) + merit(best))


def choose(attempts: Sequence[Attempt], words: str, code: CodeResult | None = None) -> Attempt:
    """The attempt to answer with: the first draft, unless a revision is clearly better than all before it.

    Candidates that were not selected are out of it.

    Args:
        attempts: In the order in which they were made.
        words: The person's words; see `departures.departs`.
        code: What the pandas code gave; it speaks against an attempt that differs from it.
    """
    first, *later = [attempt for attempt in attempts if attempt.source != "candidate"]
    best = first
    for attempt in later:
        if objection(attempt, best, words, code) is None:
            best = attempt
    return best


def objection(attempt: Attempt, previous: Attempt, words: str, code: CodeResult | None = None) -> str | None:
    """Why an attempt does not replace an earlier one, as a predicate ("did not run"); None where it does."""
    if attempt.source == "edited":
        return None  # what a person wrote counts, whatever it gives
    if attempt.result is None:
        return "did not run"
    if previous.result is None:
        return None  # anything is better than nothing
    if is_empty(attempt.result) and not is_empty(previous.result):
        return "gave no rows"
    gained = FIT * (_fit(attempt) - _fit(previous))
    mends = previous.repeats is True and attempt.repeats is False and computes_the_same(attempt, previous)
    # No doubt about the one before excuses a revision that answers something else. What mends a proved repetition of
    # rows needs a form that few questions let expect: a subquery, or one table less.
    if (gained < -VOTE and not mends) or departs(attempt, previous, words):
        return "answered something else than was asked"
    less = drops_request(attempt, previous, words) or (gained < MARGIN and returns_less(attempt, previous))
    if less and not _contradicted(attempt, previous, code):
        return "gave less than was asked, or the opposite"
    if mends:
        return None
    better = _standing(attempt, code) - _standing(previous, code)
    return None if better >= MARGIN else "was not clearly better"


def _contradicted(attempt: Attempt, previous: Attempt, code: CodeResult | None) -> bool:
    """Whether the code or the model's explanation speaks against the previous attempt and not against this one."""
    comparison = compare_code(attempt, code)
    by_code = differs(compare_code(previous, code)) and comparison is not None and comparison.agree
    return by_code or bool(previous.differences and not attempt.differences)


def _fit(attempt: Attempt) -> float:
    return UNREAD if attempt.fit is None else attempt.fit


def _standing(attempt: Attempt, code: CodeResult | None) -> float:
    """Its merit, less what the code's result and the model's explanation say against it."""
    against = [differs(compare_code(attempt, code)), bool(attempt.differences)]
    return merit(attempt) - DOUBT * sum(against)
