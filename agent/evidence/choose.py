"""Which attempt is the answer: drafts vote by their results, and a revision has to answer what sent it back.

Weights are in nats, and were set by hand: a draft's fit is a sum of logarithms of probabilities that are not
independent, so it counts for less than half. No weight was fitted to a development set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...tools.sql import constants
from ..records import Attempt, CodeResult
from .compare import compare_code, differs, is_empty, near_value, same_answer

VOTE = 1.0
"""What one more draft with the same result is worth: less than if drafts did not err together."""

FIT = 0.4
"""Share of the fit (`Attempt.fit`) that counts."""

UNREAD = -20.0
"""Fit of a query that cannot be read."""

DOUBT, EMPTY = 2.5, 3.0
"""What a finding costs, and a result without rows.

Of Spider train's gold queries 2.6 % and 1.4 % show these. Of published drafts 9 % have a finding and 8 % are empty; if
one draft in five is wrong, that is a third of the wrong ones: logarithms of 13 and 24.
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
    """Return how well one of several drafts stands on its own: fit, findings, and whether it gave anything."""
    value = FIT * (UNREAD if attempt.fit is None else attempt.fit) - DOUBT * len(attempt.findings)
    return value - EMPTY if attempt.result is not None and is_empty(attempt.result) else value


def group(attempts: Sequence[Attempt]) -> tuple[Group, ...]:
    """Return attempts that ran, grouped by result, the strongest group first (consistency voting, CREDIT-SQL 5.2).

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


def choose(attempts: Sequence[Attempt], code: CodeResult | None = None) -> Attempt:
    """Return the attempt to answer with: the first draft, unless a later one answers what was held against it.

    Candidates that were not selected are out of it.

    Args:
        attempts: In the order in which they were made.
        code: What the pandas code gave.
    """
    best, *later = [attempt for attempt in attempts if attempt.source != "candidate"]
    for attempt in later:
        if objection(attempt, best, code) is None:
            best = attempt
    return best


def objection(attempt: Attempt, previous: Attempt, code: CodeResult | None = None) -> str | None:
    """Return why an attempt does not replace an earlier one, as a predicate ("did not run"); None where it does."""
    if attempt.source == "edited":
        return None  # what a person wrote counts, whatever it gives
    if attempt.result is None:
        return "did not run"
    if previous.result is None:
        return None  # anything is better than nothing
    sought = near_value(previous)
    if sought is None and is_empty(attempt.result) and not is_empty(previous.result):
        return "gave no rows"
    if attempt.source == "merged" or (attempt.sql == previous.sql and attempt.doubt):
        return None  # or the same query, of which its writer now says why it may be wrong
    if sought is not None:
        # With the value that the column holds, a result without rows is the better founded one.
        found = constants(attempt.sql, attempt.dialect).looks_for(sought.near)
        return None if found else f"does not look for {sought.near!r}"
    comparison = compare_code(attempt, code)
    if differs(compare_code(previous, code)) and comparison is not None and comparison.agree:
        return None
    if previous.differences and not attempt.differences:
        return None
    return "answers nothing that was held against the one before"
