"""When the loop ends, and which attempt is the answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from ..tools.database import Schema
from ..tools.results import same_result
from ..tools.sql import same_sql
from ..tools.sql.ordering import is_ordered
from .records import Attempt, Result
from .settings import Settings

Stop = Literal["gated", "converged", "capped", ""]
"""Why a loop ended; empty while it goes on."""


def stop_reason(attempts: Sequence[Attempt], code: Result | None, schema: Schema, settings: Settings) -> Stop:
    """Whether the turn is done after the last of `attempts`.

    The SQL repeating (SQL-CRAFT algorithm 1), the result repeating (revision chain 3.2.2), the gate, or the cap. A
    repeat of any earlier attempt counts, so that a loop which goes back and forth is noticed.
    """
    last, earlier = attempts[-1], attempts[:-1]
    if settings.gate and is_clean(last) and agrees(last, code):
        return "gated" if not earlier else "converged"
    if settings.converge in ("sql", "either") and any(same_sql(last.sql, other.sql, schema) for other in earlier):
        return "converged"
    if settings.converge in ("result", "either") and any(_same_outcome(last, other) for other in earlier):
        return "converged"
    if len(attempts) >= settings.max_attempts:
        return "capped" if settings.max_attempts > 1 or last.result is None else "converged"
    return ""


def is_clean(attempt: Attempt) -> bool:
    """It ran, gave something, and static checks find no fault."""
    return attempt.result is not None and not is_empty(attempt.result) and attempt.faults == 0


def is_empty(result: Result) -> bool:
    """No rows, or one row of nothing but NULL, as an aggregate over no rows gives."""
    return not result.rows or (result.row_count == 1 and all(cell is None for cell in result.rows[0]))


def agrees(attempt: Attempt, code: Result | None) -> bool:
    """Whether the code's result, where there is one, is the query's."""
    if code is None:
        return True
    return attempt.result is not None and _same(attempt.result, code, attempt.sql)


def choose(attempts: Sequence[Attempt]) -> Attempt:
    """The attempt to answer with: the last one that is no worse than any before it, starting from the first draft."""
    best = attempts[0]
    for attempt in attempts[1:]:
        if not _worse(attempt, best):
            best = attempt
    return best


def _worse(attempt: Attempt, than: Attempt) -> bool:
    if than.result is None:
        return attempt.result is None
    if attempt.result is None or (is_empty(attempt.result) and not is_empty(than.result)):
        return True
    if is_empty(than.result) and not is_empty(attempt.result):
        return False
    return attempt.faults > than.faults


def _same_outcome(attempt: Attempt, other: Attempt) -> bool:
    if attempt.result is None or other.result is None:
        return False
    return _same(attempt.result, other.result, attempt.sql)


def _same(result: Result, other: Result, sql: str) -> bool:
    return same_result(result.rows, other.rows, ordered=is_ordered(sql))
