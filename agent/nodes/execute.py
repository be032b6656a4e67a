"""Runs the turn's current SQL, read-only and within limits, once it is approved."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from langgraph.types import interrupt

from ...tools.database import Estimate, Table
from ...tools.errors import QueryError
from ..answers.approval import Decision, decide, request
from ..answers.phrasing import explained
from ..effects import Body, do
from ..model.budget import seconds_left
from ..records import Attempt, AttemptSource, dump, plain_result
from ..resources import Run
from ..state import AgentState, turn_of
from .updates import end_turn


def execute(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Adds an attempt: the query with its result or its classified error.

    Where settings want it, a person is asked first (LangGraph interrupt); nothing before that has an effect, so that
    the node can start over when it is resumed.
    """
    turn, decision = turn_of(state), Decision("approve", state["sql"])
    if turn.approve or run.settings.approve:
        can_save = run.resources.examples.can_save
        meaning = yield from do(lambda: explained(state["sql"], run.resources.database))
        cost = yield from do(lambda: run.resources.outgoing.estimate(state["sql"], run.settings.limits))
        decision = decide(interrupt(request(state["sql"], can_save, meaning, cost)), state["sql"], can_save)
        if decision.action == "reject":
            why = f"The query was not approved{f': {decision.reason}' if decision.reason else '.'}"
            return end_turn(turn, "declined", why, "capped" if state.get("attempts") else "failed")
    sql = decision.sql

    def call() -> tuple[Estimate | None, Table | QueryError]:
        limits = run.settings.limits
        cost = run.resources.outgoing.estimate(sql, limits)
        return cost, run.resources.tools.run_sql.call(
            sql=sql, limits=replace(limits, seconds=seconds_left(limits.seconds)), cancellation=run.cancellation
        )

    run.emit({"event": "executing", "sql": sql})
    cost, outcome = yield from do(call)
    edited = decision.action == "edit" or (turn.written and sql != turn.written)
    source = cast("AttemptSource", "edited" if edited else state.get("sql_source", "draft"))
    attempt = Attempt(
        sql,
        source,
        confidence=turn.confidence,
        sure=turn.sure,
        dialect=run.resources.database.dialect,
        estimate=cost,
    )
    if isinstance(outcome, QueryError):
        attempt = replace(attempt, error=str(outcome), error_kind=outcome.kind)
    else:
        attempt = replace(attempt, result=plain_result(outcome))
    columns = list(attempt.result.columns) if attempt.result else []
    seen = {"sql": sql, "columns": columns, "row_count": attempt.row_count, "error": attempt.error}
    run.emit({"event": "executed", **seen})
    update: dict[str, Any] = {"attempts": [*state.get("attempts", []), dump(attempt)], "next": "critique"}
    return update | {"turn": dump(replace(turn, to_save=(*turn.to_save, sql)))} if decision.save else update
