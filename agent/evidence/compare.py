"""Results compared: with nothing, with one another, and with what code gave."""

from __future__ import annotations

from ...tools.database import Table
from ...tools.errors import SQLParseError
from ...tools.results import same_result
from ...tools.sandbox import Comparison, SandboxResult, results_agree
from ...tools.sql import Query, SearchedLiteral, is_ordered
from ..records import Attempt, CodeResult, Result


def is_empty(result: Result) -> bool:
    """No rows, or one row of nothing but NULL, as an aggregate over no rows gives."""
    return not result.rows or (result.row_count == 1 and all(cell is None for cell in result.rows[0]))


def gave_nothing(result: Result) -> bool:
    """Whether it is empty, or one row of nothing but NULL and 0, as counts and sums over no rows are."""
    return is_empty(result) or (result.row_count == 1 and all(cell in (None, 0) for cell in result.rows[0]))


def near_value(attempt: Attempt) -> SearchedLiteral | None:
    """Return what a query looked for in vain though its column holds one value like it; None if it gave something."""
    if attempt.result is None or not gave_nothing(attempt.result):
        return None
    return next((literal for literal in attempt.literals if literal.near and literal.needed), None)


def compare_code(attempt: Attempt, code: CodeResult | None) -> Comparison | None:
    """How the code's result compares with the query's; None where either is missing."""
    if code is None or attempt.result is None or attempt.result.withheld:
        return None
    ran = SandboxResult(_table(code.result), "", None, 0.0, index_columns=code.index_columns, labelled=code.labelled)
    return results_agree(
        ran, _table(attempt.result), ordered=is_ordered(attempt.sql, attempt.dialect), sampled=code.sampled
    )


def differs(comparison: Comparison | None) -> bool:
    """Whether the code speaks against the query; what is inconclusive does not."""
    return comparison is not None and comparison.conclusive and not comparison.agree


def _table(result: Result) -> Table:
    return Table(result.columns, ("mixed",) * len(result.columns), result.rows, result.truncated, 0.0)


def agreement(one: Attempt, other: Attempt) -> bool | None:
    """Whether both gave the same result, in the same order where both set one; None where that cannot be told.

    Of results that were both cut, the first rows tell nothing, unless they are the same query's. Nor do results of
    which cells are withheld.
    """
    if one.result is None or other.result is None:
        return None
    cut = one.result.truncated and other.result.truncated
    if cut or one.result.withheld or other.result.withheld:
        return True if _same_text(one.sql, other.sql, one.dialect) else None
    if one.result.truncated or other.result.truncated:
        return False
    ordered = is_ordered(one.sql, one.dialect) and is_ordered(other.sql, other.dialect)
    return same_result(one.result.rows, other.result.rows, ordered=ordered)


def same_answer(one: Attempt, other: Attempt) -> bool:
    """Whether both surely gave the same result."""
    return agreement(one, other) is True


def _same_text(sql: str, other: str, dialect: str) -> bool:
    """Whether two queries have the same text or syntax tree."""
    try:
        return Query.of(sql, dialect).tree == Query.of(other, dialect).tree
    except SQLParseError:
        return sql.strip() == other.strip()
