"""When the loop ends."""

from __future__ import annotations

from collections.abc import Sequence

from ...tools.database import Schema
from ...tools.sql import same_sql
from ..records import Attempt, CodeResult, Stop
from ..settings import Settings
from .compare import compare_code, differs, is_empty, same_answer


def stop_reason(
    attempts: Sequence[Attempt], code: CodeResult | None, schema: Schema, settings: Settings
) -> Stop | None:
    """Whether the turn is done after the last of `attempts`; None while it goes on.

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
    if settings.gate and _passes(last, code, settings):
        which = "revision" if earlier else "draft"
        return Stop("gate", f"the {which} ran, gave rows, and no check finds fault with it", "converged")
    repeated = _repeated(last, earlier, schema, settings)
    if repeated:
        return repeated
    if len(tried) >= settings.max_attempts:
        if settings.max_attempts == 1 and last.result is not None:
            return Stop("attempts", "the settings ask for one attempt", "converged")
        made = "1 attempt was" if len(tried) == 1 else f"{len(tried)} attempts were"
        return Stop("attempts", f"{made} made, and the settings allow no more", "capped")
    return None


def _passes(attempt: Attempt, code: CodeResult | None, settings: Settings) -> bool:
    """The gate: it ran, nothing speaks against it that `Settings.revise_on` counts, and the code does not differ."""
    if attempt.result is None:
        return False
    if differs(compare_code(attempt, code)):
        return False
    if settings.revise_on == "doubt":
        return not (is_empty(attempt.result) or attempt.faults or attempt.findings)
    return not attempt.proofs


def _repeated(last: Attempt, earlier: Sequence[Attempt], schema: Schema, settings: Settings) -> Stop | None:
    """How the last attempt repeats one before it, the latest such one."""
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
    """Whether two queries are one after regularisation; what cannot be parsed has to be the same text."""
    return sql.strip() == other.strip() or same_sql(sql, other, schema)
