"""Runs the turn's current SQL, read-only and within limits, once it is approved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from langgraph.types import interrupt

from ...tools.database import Table
from ...tools.errors import QueryError
from ..approval import Decision, decide, request
from ..budget import seconds_left
from ..effects import Body, do
from ..records import Attempt, Outcome, dump, plain_result
from ..resources import Run, call_tool
from ..state import AgentState


def execute(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Adds an attempt: the query with its result or its classified error.

    Where settings want it, a person is asked first (LangGraph interrupt); nothing before that has an effect, so that
    the node can start anew when it is resumed.
    """
    decision = Decision("approve", state["sql"])
    if state.get("approve") or run.settings.approve:
        can_save = run.resources.examples.kept
        decision = decide(interrupt(request(state["sql"], can_save)), state["sql"], can_save)
        if decision.action == "reject":
            return _rejected(state, decision)
    sql = decision.sql

    def call() -> Table | QueryError:
        limits = run.settings.limits
        return call_tool(
            run.resources.tools.run_sql, sql=sql, limits=replace(limits, seconds=seconds_left(limits.seconds))
        )

    outcome = yield from do(call)
    source: Any = "edited" if decision.action == "edit" else state.get("sql_source", "draft")
    confidence = state.get("sql_confidence")
    if isinstance(outcome, QueryError):
        attempt = Attempt(sql, source, str(outcome), outcome.kind, confidence=confidence)
    else:
        attempt = Attempt(sql, source, result=plain_result(outcome), confidence=confidence)
    run.emit({"event": "executed", "sql": sql, "row_count": attempt.row_count, "error": attempt.error})
    update = {"attempts": [*state.get("attempts", []), dump(attempt)], "next": "critique"}
    return update | {"to_save": [*state.get("to_save", []), sql]} if decision.save else update


def _rejected(state: AgentState, decision: Decision) -> dict[str, Any]:
    """The turn ends: with what ran before, or with nothing."""
    why = f"The query was not approved{f': {decision.reason}' if decision.reason else '.'}"
    if state.get("attempts"):
        return {"notes": [*state.get("notes", []), why], "stop": "capped", "stopped": why, "next": "respond"}
    return {"outcome": dump(Outcome("failed", why)), "next": "respond"}
