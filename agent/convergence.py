"""When the loop ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ..tools.database import Schema, Table
from ..tools.results import same_result
from ..tools.sandbox import Comparison, SandboxResult, results_agree
from ..tools.sql import same_sql
from ..tools.sql.ordering import is_ordered
from .records import Attempt, CodeResult, Result
from .settings import Settings


@dataclass(frozen=True)
class Stop:
    """How a loop ended.

    Attributes:
        kind: `gated` without a revision, `converged`, or `capped`.
        why: In words, for the answer.
    """

    kind: Literal["gated", "converged", "capped"]
    why: str


def stop_reason(
    attempts: Sequence[Attempt], code: CodeResult | None, schema: Schema, settings: Settings
) -> Stop | None:
    """Whether the turn is done after the last of `attempts`; None while it goes on.

    The SQL repeating (SQL-CRAFT algorithm 1), the result repeating (revision chain 3.2.2), the gate, or the cap. A
    repeat of any earlier attempt counts, so that a loop which goes back and forth is noticed.
    """
    tried = [attempt for attempt in attempts if attempt.source != "candidate"]
    last, earlier = tried[-1], tried[:-1]
    if settings.gate and is_clean(last) and not differs(compare_code(last, code)):
        passed = "ran, gave rows, and no check finds fault with it"
        return Stop("converged", f"the revision {passed}") if earlier else Stop("gated", f"the draft {passed}")
    if settings.converge in ("sql", "either") and any(_repeats(last.sql, other.sql, schema) for other in earlier):
        return Stop("converged", "the SQL of an earlier attempt came back")
    if settings.converge in ("result", "either") and any(same_answer(last, other) for other in earlier):
        return Stop("converged", "the result of an earlier attempt came back")
    if len(tried) >= settings.max_attempts:
        if settings.max_attempts == 1 and last.result is not None:
            return Stop("converged", "the settings ask for one attempt")
        return Stop("capped", f"{len(tried)} attempts were made, and the settings allow no more")
    return None


def is_clean(attempt: Attempt) -> bool:
    """It ran, gave something, and static checks find no fault."""
    return attempt.result is not None and not is_empty(attempt.result) and attempt.faults == 0


def is_empty(result: Result) -> bool:
    """No rows, or one row of nothing but NULL, as an aggregate over no rows gives."""
    return not result.rows or (result.row_count == 1 and all(cell is None for cell in result.rows[0]))


def compare_code(attempt: Attempt, code: CodeResult | None) -> Comparison | None:
    """How the code's result compares with the query's; None where either is missing."""
    if code is None or attempt.result is None:
        return None
    ran = SandboxResult(_table(code.result), "", None, 0.0, index_columns=code.index_columns)
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


def _repeats(sql: str, other: str, schema: Schema) -> bool:
    """Whether two queries are one after regularisation; what cannot be parsed has to be the same text."""
    return sql.split() == other.split() or same_sql(sql, other, schema)
