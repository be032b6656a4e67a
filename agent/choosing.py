"""Which attempt is the answer: drafts vote by their results, and each is weighed by how it fits the question.

All weights are in nats. They were set beforehand, not fitted to any benchmark's gold: a draft's fit is a sum of
logarithms of probabilities that are not independent, so it counts for less than half.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .comparing import is_empty, same_answer
from .records import Attempt
from .straying import strays

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


def votes(attempt: Attempt, attempts: Sequence[Attempt]) -> int:
    """Candidates with the attempt's result, less those with another; failed ones don't vote."""
    others = [other for other in attempts if other.source == "candidate" and other.result is not None]
    return sum(1 if same_answer(attempt, other) else -1 for other in others)


def choose(attempts: Sequence[Attempt], said: str) -> Attempt:
    """The attempt to answer with: the last one that is no worse than any before it, starting from the first draft.

    Candidates that were not selected are out of it.

    Args:
        attempts: In the order in which they were made.
        said: The person's words; see `straying.strays`.
    """
    first, *later = [attempt for attempt in attempts if attempt.source != "candidate"]
    best = first
    for attempt in later:
        if not _worse(attempt, best, said):
            best = attempt
    return best


def _worse(attempt: Attempt, than: Attempt, said: str) -> bool:
    if attempt.result is None or than.result is None:
        return attempt.result is None
    if attempt.source == "edited":
        return False  # a person wrote it
    if is_empty(attempt.result) and not is_empty(than.result):
        return True
    # No finding against the one before excuses a revision that answers something else.
    return merit(attempt) < merit(than) or _fits_less(attempt, than) or strays(attempt, than, said)


def _fits_less(attempt: Attempt, than: Attempt) -> bool:
    """Whether it fits the question so much less that findings alone must not decide."""
    if than.fit is None:
        return False
    return FIT * (than.fit - (UNREAD if attempt.fit is None else attempt.fit)) > VOTE
