"""Results compared: with nothing, with one another, and with what code gave."""

from __future__ import annotations

from ..tools.database import Table
from ..tools.results import same_result
from ..tools.sandbox import Comparison, SandboxResult, results_agree
from ..tools.sql.ordering import is_ordered
from .records import Attempt, CodeResult, Result


def is_empty(result: Result) -> bool:
    """No rows, or one row of nothing but NULL, as an aggregate over no rows gives."""
    return not result.rows or (result.row_count == 1 and all(cell is None for cell in result.rows[0]))


def compare_code(attempt: Attempt, code: CodeResult | None) -> Comparison | None:
    """How the code's result compares with the query's; None where either is missing."""
    if code is None or attempt.result is None:
        return None
    ran = SandboxResult(_table(code.result), "", None, 0.0, index_columns=code.index_columns, labelled=code.labelled)
    return results_agree(ran, _table(attempt.result), ordered=is_ordered(attempt.sql), sampled=code.sampled)


def differs(comparison: Comparison | None) -> bool:
    """Whether the code speaks against the query; what is inconclusive does not."""
    return comparison is not None and comparison.conclusive and not comparison.agree


def _table(result: Result) -> Table:
    return Table(result.columns, ("mixed",) * len(result.columns), result.rows, result.truncated, 0.0)


def same_answer(one: Attempt, other: Attempt) -> bool:
    """Whether both ran and gave the same result; in the same order where both set one."""
    if one.result is None or other.result is None:
        return False
    ordered = is_ordered(one.sql) and is_ordered(other.sql)
    return same_result(one.result.rows, other.result.rows, ordered=ordered)
