"""The comparison of results, and the choice of the attempt that is the answer.

Weights are in nats, and were set by hand: a draft's fit is a sum of logarithms of probabilities that are not
independent, so it counts for less than half. No weight was fitted to a development set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...tools.database import Table
from ...tools.errors import SQLParseError
from ...tools.results import same_result
from ...tools.sql import Query, SearchedLiteral, find_query_constants, is_ordered
from ..records import Attempt, CodeResult, PlainResult

if TYPE_CHECKING:
    from ...tools.sandbox import ResultComparison


def is_empty_result(result: PlainResult) -> bool:
    """Whether a result has no rows, or only one row with nothing but NULL."""
    return not result.rows or (len(result.rows) == 1 and all(cell is None for cell in result.rows[0]))


def is_empty_or_zero_result(result: PlainResult) -> bool:
    """Whether a result has no rows, or only one row with nothing but NULL and 0."""
    return is_empty_result(result) or (len(result.rows) == 1 and all(cell in (None, 0) for cell in result.rows[0]))


def find_near_miss_literal(attempt: Attempt) -> SearchedLiteral | None:
    """Return a text that an empty query looks for and that nearly matches a value, or None."""
    if attempt.result is None or not is_empty_or_zero_result(attempt.result):
        return None
    return next((literal for literal in attempt.literals if literal.needed and literal.near), None)


def compare_code_with_query(attempt: Attempt, code: CodeResult | None) -> ResultComparison | None:
    """Return how the pandas code's result compares with the query's; None if one is missing."""
    if code is None or attempt.result is None or attempt.result.withheld:
        return None
    from ...tools.sandbox import SandboxResult, compare_code_and_sql_results

    ran = SandboxResult(
        _make_table(code.result), "", None, 0.0, index_columns=code.index_columns, labelled=code.labelled
    )
    return compare_code_and_sql_results(
        ran, _make_table(attempt.result), ordered=is_ordered(attempt.sql, attempt.dialect), sampled=code.sampled
    )


def differs(comparison: ResultComparison | None) -> bool:
    """Whether the result of the pandas code conclusively contradicts the query's result."""
    return comparison is not None and comparison.conclusive and not comparison.agree


def _make_table(result: PlainResult) -> Table:
    return Table(result.columns, ("mixed",) * len(result.columns), result.rows, result.truncated, 0.0)


def compare_attempts(first: Attempt, second: Attempt) -> bool | None:
    """Return whether two attempts gave the same result; None if unknown.

    Of results that were both cut, the first rows tell nothing, unless they are the same query's. Nor do results of
    which cells are withheld.
    """
    if first.result is None or second.result is None:
        return None
    cut = first.result.truncated and second.result.truncated
    if cut or first.result.withheld or second.result.withheld:
        try:  # they are the same query if their text or syntax tree is
            return Query.of(first.sql, first.dialect).tree == Query.of(second.sql, first.dialect).tree or None
        except SQLParseError:
            return first.sql.strip() == second.sql.strip() or None
    if first.result.truncated or second.result.truncated:
        return False
    in_order = is_ordered(first.sql, first.dialect) and is_ordered(second.sql, second.dialect)
    return same_result(first.result.rows, second.result.rows, ordered=in_order)


def have_same_result(first: Attempt, second: Attempt) -> bool:
    """Whether two attempts certainly gave the same result."""
    return compare_attempts(first, second) is True


VOTE = 1.0  # what one more draft with the same result is worth: less than if drafts did not err together
FIT = 0.4  # share of the fit (`Attempt.fit`) that counts
UNREAD = -20.0  # fit of a query that cannot be read

DOUBT, EMPTY = 2.5, 3.0
"""What a finding costs, and a result without rows.

Of Spider train's gold queries 2.6 % and 1.4 % show these. Of published drafts 9 % have a finding and 8 % are empty; if
one draft in five is wrong, that is a third of the wrong ones: logarithms of 13 and 24.
"""


@dataclass(frozen=True)
class ResultGroup:
    """A group of attempts with the same result."""

    best: Attempt  # the one of most compute_draft_score
    size: int
    score: float  # votes and the compute_draft_score of the best


def compute_draft_score(attempt: Attempt) -> float:
    """Return the score of a draft, from its fit, its findings and whether it returned rows."""
    value = FIT * (UNREAD if attempt.fit is None else attempt.fit) - DOUBT * len(attempt.findings)
    return value - EMPTY if attempt.result is not None and is_empty_result(attempt.result) else value


def group_attempts_by_result(attempts: Sequence[Attempt]) -> tuple[ResultGroup, ...]:
    """Return attempts grouped by result, the highest score first (CREDIT-SQL 5.2).

    Equally strong groups keep the order of their first attempts.
    """
    members: list[list[Attempt]] = []
    for attempt in attempts:
        if attempt.result is None:
            continue
        for group in members:
            if have_same_result(group[0], attempt):
                group.append(attempt)
                break
        else:
            members.append([attempt])
    groups = [
        ResultGroup(best := max(same, key=compute_draft_score), len(same), VOTE * len(same) + compute_draft_score(best))
        for same in members
    ]
    return tuple(sorted(groups, key=lambda best_group: -best_group.score))


def choose(attempts: Sequence[Attempt], code: CodeResult | None = None) -> Attempt:
    """Return the attempt to answer with: the first, unless a later one has better evidence.

    Candidates that were not selected are out of it.
    """
    best, *later = [attempt for attempt in attempts if attempt.source != "candidate"]
    for attempt in later:
        if get_rejection_reason(attempt, best, code) is None:
            best = attempt
    return best


def get_rejection_reason(attempt: Attempt, previous: Attempt, code: CodeResult | None = None) -> str | None:
    """Return why an attempt does not replace the previous attempt; None if it does."""
    if attempt.source == "edited":
        return None  # what a person wrote counts, whatever it gives
    if attempt.result is None:
        return "did not run"
    if previous.result is None:
        return None  # anything is better than nothing
    sought = find_near_miss_literal(previous)
    if sought is None and is_empty_result(attempt.result) and not is_empty_result(previous.result):
        return "gave no rows"
    if attempt.source == "merged" or (attempt.sql == previous.sql and attempt.comments.doubt):
        return None  # or the same query, of which its writer now says why it may be wrong
    if sought is not None:
        # With the value that the column holds, a result without rows is the better founded one.
        has_value = find_query_constants(attempt.sql, attempt.dialect).has_matching_constant(sought.near)
        return None if has_value else f"does not look for {sought.near!r}"
    comparison = compare_code_with_query(attempt, code)
    if differs(compare_code_with_query(previous, code)) and comparison is not None and comparison.agree:
        return None
    if previous.differences and not attempt.differences:
        return None
    return "does not correct the fault of the query before it"
