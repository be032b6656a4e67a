"""A second reading of the question: the built-in grammar's, which asks no model."""

from __future__ import annotations

from dataclasses import replace

from ...tools.errors import QueryError, TableturnError
from ...tools.sql import same_sql
from ..advice import advisory
from ..context.history import readable_turns
from ..model.budget import seconds_left
from ..records import Attempt, Turn, plain_result
from ..resources import Run
from ..state import AgentState
from .compare import agreement
from .evidence import SecondReading

SECONDS = 2.0
"""Longest run of its query."""


@advisory("second reading", None)
def second_reading(attempt: Attempt, turn: Turn, state: AgentState, run: Run) -> SecondReading | None:
    """Whether the built-in grammar's query gives the same result; None where that cannot be told, or is not wanted.

    Reads and runs a query, so call it within an effect. Nothing runs where a person approves each query.
    """
    reader, settings = run.resources.reader, run.settings
    approves = turn.approve or settings.approve
    if not settings.second_reading or reader is None or approves or attempt.confidence is not None:
        return None
    if attempt.source in ("verified", "edited"):
        return None
    base = next((past.sql for past in reversed(readable_turns(state, run)) if past.sql), "")
    try:
        draft = reader().reading(turn.question, base)
        if draft is None:
            return None
        same = same_sql(draft.sql, attempt.sql, run.resources.database.schema()) or _gives_same(draft.sql, attempt, run)
    except TableturnError:
        return None
    return None if same is None else SecondReading(same, draft.confidence or 0.0)


def _gives_same(sql: str, attempt: Attempt, run: Run) -> bool | None:
    limits = run.settings.limits
    limits = replace(limits, seconds=seconds_left(min(SECONDS, limits.seconds)))
    table = run.resources.tools.run_sql.call(sql=sql, limits=limits, cancellation=run.cancellation)
    if isinstance(table, QueryError):
        return None
    return agreement(Attempt(sql, result=plain_result(table), dialect=attempt.dialect), attempt)
