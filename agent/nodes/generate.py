"""The nodes that write SQL, and the updates that follow a reply."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ...prompts.reply_types import Draft, Rephrasing
from ...prompts.revise import ReviseTask
from ..context.task_inputs import generate_task
from ..effects import NO_REPLY, Body, Done, ask
from ..model.turn_budget import BudgetReached
from ..records import AttemptSource, Status, Stop, StopKind, Turn
from ..resources import Run
from ..settings import Settings
from ..state import AgentState, Update, attempts_of, step, turn_of


def generate(state: AgentState, run: Run) -> Body[Update]:
    """Ask for SQL once; a reply without SQL, or no reply, ends the turn.

    Where the reply says how it understood the question (`Settings.rephrase` auto), it may ask back or decline.
    """
    turn = turn_of(state)
    task = yield from generate_task(state, run)
    try:
        done = yield from ask(task)
    except NO_REPLY as error:
        return end_without_sql(turn, error)
    return use_draft(turn, done, run.settings)


def revise(state: AgentState, run: Run) -> Body[Update]:
    """Ask for a revision of the last query (revision chain 3.2.2, SQL-CRAFT 2).

    A revision that cannot be had ends the loop with what there is.
    """
    turn, last = turn_of(state), attempts_of(state)[-1]
    base = yield from generate_task(state, run)
    task = ReviseTask(
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
        done = yield from ask(task)
    except NO_REPLY as error:
        return end_turn(turn, error_kind(error), f"the query was not corrected: {error}", "capped")
    return run_next(turn, done, "revision")


_DECLINED = {
    "unanswerable": "This database does not hold what the question asks for.",
    "small_talk": "Ask me something about this database.",
}
"""The answer where the translator gives no reply of its own."""


def run_next(turn: Turn, done: Done[Draft], source: AttemptSource, notes: Iterable[str] = ()) -> Update:
    """Return the update that runs a query next."""
    draft = done.reply
    turn = replace(
        turn,
        written=draft.sql,
        confidence=draft.confidence,
        comments=draft.comments,
        caveats=draft.caveats,
        rephrasing=draft.understood or turn.rephrasing,
    )
    return step("execute", turn, [*notes, *done.notes, *draft.notes], sql=draft.sql, sql_source=source)


def use_draft(turn: Turn, done: Done[Draft], settings: Settings, notes: Iterable[str] = ()) -> Update:
    """Return the update that runs a draft, or that asks back or declines as the reply says."""
    notes = [*notes, *done.notes]
    if done.reply.declines and done.reply.understood is not None:
        # About the question as it stands. What may not be declined is no reply to the task: there is a way to go.
        standing = turn.rephrasing
        about = replace(
            done.reply.understood,
            rephrased=standing.rephrased,
            simplified=standing.simplified,
            self_contained=standing.self_contained,
        )
        ended = decline_or_ask(turn, about, settings, notes)
        return ended or end_turn(turn, "error", done.reply.understood.reply, "failed", notes)
    return run_next(turn, done._replace(notes=()), "draft", notes)


def decline_or_ask(turn: Turn, rephrasing: Rephrasing, settings: Settings, notes: Iterable[str] = ()) -> Update | None:
    """Return the update that ends the turn or asks back; None if the question is answerable."""
    if not settings.clarify:
        return None
    if rephrasing.intent in _DECLINED:
        turn = replace(turn, rephrasing=rephrasing)
        return end_turn(turn, "declined", rephrasing.reply or _DECLINED[rephrasing.intent], "unanswerable", notes)
    if rephrasing.intent == "ambiguous" and turn.clarifications < settings.max_clarifications:
        return step("clarify", replace(turn, rephrasing=rephrasing), notes)
    return None


def end_turn(turn: Turn, kind: StopKind, why: str, status: Status, notes: Iterable[str] = ()) -> Update:
    """Return the update that ends the turn; a capped turn says why in its notes."""
    return step("respond", replace(turn, stop=Stop(kind, why, status)), [*notes, why] if status == "capped" else notes)


def error_kind(error: Exception) -> StopKind:
    """Return the kind of stop for an error of the model or its request."""
    return "budget" if isinstance(error, BudgetReached) else "error"


def end_without_sql(turn: Turn, error: Exception, notes: Iterable[str] = ()) -> Update:
    """End a turn without a query, with the pandas code's result if there is one."""
    return end_turn(turn, error_kind(error), str(error), "capped" if turn.code_result else "failed", notes)
