"""The nodes that write SQL, and the updates that follow a reply."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...prompts.reply_types import SQLDraft
from ...prompts.revise import ReviseSQLTask
from ..context.task_inputs import make_generate_task
from ..effects import NO_REPLY, Body, Done, ask
from ..model.turn_budget import BudgetReached
from ..records import AttemptSource, StopKind, Turn
from ..resources import Run
from ..settings import Settings
from ..state import AgentState, Update, end_turn, get_attempts, load_turn, make_update
from .clarify import decline_or_ask


def generate(state: AgentState, run: Run) -> Body[Update]:
    """Ask the model for SQL; a reply without SQL, or no reply, ends the turn.

    Where the reply says how it understood the question (`Settings.rephrase` auto), it may ask back or decline.
    """
    turn = load_turn(state)
    task = yield from make_generate_task(state, run)
    try:
        result = yield from ask(task)
    except NO_REPLY as error:
        return end_without_sql(turn, error)
    return make_draft_update(turn, result, run.settings)


def revise_query(state: AgentState, run: Run) -> Body[Update]:
    """Ask the model to revise the last query (revision chain 3.2.2, SQL-CRAFT 2).

    A revision that cannot be had ends the loop with what there is.
    """
    turn, last = load_turn(state), get_attempts(state)[-1]
    base = yield from make_generate_task(state, run)
    task = ReviseSQLTask(
        generate=base,
        sql=last.sql,
        feedback=turn.feedback.problems,
        error_kind=last.error_kind,
        explanation=turn.feedback.explanation,
        result_csv=turn.feedback.result,
        contents=turn.feedback.contents,
        code_result=turn.feedback.code,
        by_draft=run.settings.examples == "draft",
    )
    try:
        result = yield from ask(task)
    except NO_REPLY as error:
        return end_turn(turn, get_stop_kind(error), f"the query was not corrected: {error}", "capped")
    return make_execute_update(turn, result, "revision")


def make_execute_update(turn: Turn, result: Done[SQLDraft], source: AttemptSource, notes: Iterable[str] = ()) -> Update:
    """Return the state update that makes the SQL of a draft run next."""
    draft = result.reply
    turn = replace(
        turn,
        written=draft.sql,
        confidence=draft.confidence,
        comments=draft.comments,
        caveats=draft.caveats,
        rephrasing=draft.understood or turn.rephrasing,
    )
    return make_update("execute", turn, [*notes, *result.notes, *draft.notes], sql=draft.sql, sql_source=source)


def make_draft_update(turn: Turn, result: Done[SQLDraft], settings: Settings) -> Update:
    """Return the update that runs a draft, asks the person back, or declines."""
    if result.reply.declines and result.reply.understood is not None:
        # About the question as it stands. What may not be declined is no reply to the task: there is a way to go.
        rephrasing = turn.rephrasing
        about = replace(
            result.reply.understood,
            rephrased=rephrasing.rephrased,
            simplified=rephrasing.simplified,
            self_contained=rephrasing.self_contained,
        )
        stop = decline_or_ask(turn, about, settings, result.notes)
        return stop or end_turn(turn, "error", result.reply.understood.reply, "failed", result.notes)
    return make_execute_update(turn, result, "draft")


def get_stop_kind(error: Exception) -> StopKind:
    """Return the kind of stop for an error of the model or its request."""
    return "budget" if isinstance(error, BudgetReached) else "error"


def end_without_sql(turn: Turn, error: Exception, notes: Iterable[str] = ()) -> Update:
    """Return the update that ends a turn without SQL, with the code's result if there is one."""
    return end_turn(turn, get_stop_kind(error), str(error), "capped" if turn.code_result else "failed", notes)
