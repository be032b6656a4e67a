"""When the loop of attempts ends.

In `full` two things send a query back to the model: the engine's error, and an empty result of a search for a text that
its column does not hold, where the column holds exactly one like it. What else could be said against a query is for
people. The papers' loops go on until the SQL or the result repeats.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...tools.database import Schema
from ...tools.sql import same_sql, writes
from ..context.plain import READS_ONLY
from ..records import Attempt, CodeResult, Stop
from ..settings import Settings
from .compare import compare_code, differs, near_value, same_answer

_LIMITS = ("timeout", "too_large", "too_costly")
"""Errors that name a limit; one revision may bring a query within it, a second has not helped yet."""


def stop_reason(
    attempts: Sequence[Attempt], code: CodeResult | None, schema: Schema, settings: Settings
) -> Stop | None:
    """Return why the turn is done after the last of `attempts`; None while it goes on.

    The SQL repeating (SQL-CRAFT algorithm 1), the result repeating (revision chain 3.2.2), the gate, or the cap. Both
    papers compare with the attempt before. A repetition of an earlier one is a cycle, which would only go on until the
    cap: there is no more to come, but nothing converged (`Settings.stop_cycles`).
    """
    tried = [attempt for attempt in attempts if attempt.source != "candidate"]
    last, earlier = tried[-1], tried[:-1]
    if last.source == "edited":
        failed = f"the query that a person wrote cannot be run: {last.error}"
        return (
            Stop("edited", failed, "failed") if last.error else Stop("edited", "a person wrote the query", "converged")
        )
    if last.error_kind == "locked":
        # Nothing is wrong with the query that a model could mend.
        return _end(last.error or "", attempts)
    if settings.gate and (ended := _gate(attempts, earlier, code)):
        return ended
    repeated = _repeated(last, earlier, schema, settings)
    if repeated:
        return repeated
    if len(tried) >= settings.max_attempts:
        if settings.max_attempts == 1 and last.result is not None:
            return Stop("attempts", "the settings ask for one attempt", "converged")
        made = "1 attempt was" if len(tried) == 1 else f"{len(tried)} attempts were"
        return Stop("attempts", f"{made} made, and the settings allow no more", "capped")
    return None


def _gate(attempts: Sequence[Attempt], earlier: Sequence[Attempt], code: CodeResult | None) -> Stop | None:
    """Return the end of a turn that a revision could not serve: the query is an answer, or no model may mend it."""
    last = attempts[-1]
    if last.result is None:
        # An engine without such a statement calls it wrong: SQLite has no TRUNCATE.
        changes = last.error_kind in ("rejected", "syntax") and writes(last.sql, last.dialect)
        if changes and not any(attempt.result for attempt in attempts):
            return Stop("declined", READS_ONLY, "unanswerable")
        over_again = last.error_kind in _LIMITS and any(attempt.error_kind in _LIMITS for attempt in earlier)
        return _end(READS_ONLY if changes else last.error or "", attempts) if changes or over_again else None
    if differs(compare_code(last, code)) or near_value(last):
        return None
    which = "revision" if earlier else "draft"
    return Stop("gate", f"the {which} ran, and nothing shows that it has to be written again", "converged")


def _end(why: str, attempts: Sequence[Attempt]) -> Stop:
    return Stop("error", why, "capped" if any(attempt.result for attempt in attempts) else "failed")


def _repeated(last: Attempt, earlier: Sequence[Attempt], schema: Schema, settings: Settings) -> Stop | None:
    """Return how the last attempt repeats one before it, the latest such one."""
    for back, other in enumerate(reversed(earlier if settings.stop_cycles else earlier[-1:]), 1):
        same = _repeats(last.sql, other.sql, schema)
        if same and settings.converge != "result":
            kind, what = "same_sql", "SQL"
        elif settings.converge != "sql" and (same or same_answer(last, other)):
            kind, what = "same_result", "result"
        else:
            continue
        if back == 1:
            return Stop(kind, f"the {what} of the attempt before came back", "converged")
        return Stop("cycle", f"the revisions go in a cycle: the {what} of {back} attempts before came back", "capped")
    return None


def _repeats(sql: str, other: str, schema: Schema) -> bool:
    """Return whether two queries are one after regularisation; what cannot be parsed has to be the same text."""
    return sql.strip() == other.strip() or same_sql(sql, other, schema)
