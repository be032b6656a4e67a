"""Runs the turn's current SQL, read-only and within limits."""

from __future__ import annotations

from typing import Any

from ...tools.database import Table
from ...tools.errors import QueryError
from ..effects import Body, do
from ..records import Attempt, dump, plain_result
from ..resources import Run, call_tool
from ..state import AgentState


def execute(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Adds an attempt: the query with its result or its classified error."""
    sql: str = state["sql"]

    def call() -> Table | QueryError:
        return call_tool(run.resources.tools.run_sql, sql=sql, limits=run.settings.limits)

    outcome = yield from do(call)
    source: Any = state.get("sql_source", "draft")
    confidence = state.get("sql_confidence")
    if isinstance(outcome, QueryError):
        attempt = Attempt(sql, source, str(outcome), outcome.kind, confidence=confidence)
    else:
        attempt = Attempt(sql, source, result=plain_result(outcome), confidence=confidence)
    run.emit({"event": "executed", "sql": sql, "row_count": attempt.row_count, "error": attempt.error})
    return {"attempts": [*state.get("attempts", []), dump(attempt)], "next": "critique"}
