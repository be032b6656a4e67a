"""Writes the next attempt from the feedback on the last one."""

from __future__ import annotations

from typing import Any

from ...prompts.revise import ReviseTask
from ...tools.errors import ModelError, NotUnderstood, ReplyError
from ..context.inputs import generate_task
from ..effects import Body, ask
from ..resources import Run
from ..state import AgentState, attempts_of, turn_of
from .updates import end_turn, error_kind, run_next


def revise(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Revision chain 3.2.2 and SQL-CRAFT 2: the model repeats the SQL where it finds it right.

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
    except (ReplyError, ModelError, NotUnderstood) as error:
        return end_turn(turn, error_kind(error), f"no revision: {error}", "capped")
    return run_next(turn, done, "revision")
