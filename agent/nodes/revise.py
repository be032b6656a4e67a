"""Writes the next attempt from the feedback on the last one."""

from __future__ import annotations

from typing import Any

from ...prompts.revise import ReviseTask
from ...tools.errors import ModelError, NotUnderstood, ReplyError
from ..effects import Body, ask
from ..feedback import Feedback
from ..material import generate_task
from ..records import Attempt, load
from ..resources import Run
from ..state import AgentState


def revise(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Revision chain 3.2.2 and SQL-CRAFT 2: the model repeats the SQL where it finds it right.

    A revision that cannot be had ends the loop with what there is.
    """
    last = load(Attempt, state["attempts"][-1])
    feedback = load(Feedback, state.get("feedback") or {})
    base = yield from generate_task(state, run)
    task = ReviseTask(
        generate=base,
        sql=last.sql,
        feedback=feedback.problems,
        error_kind=last.error_kind,
        explanation=feedback.explanation,
        result_csv=feedback.result,
        contents=feedback.contents,
        code_result=feedback.code,
    )
    notes = list(state.get("notes", []))
    try:
        done = yield from ask(task)
    except (ReplyError, ModelError, NotUnderstood) as error:
        why = f"no revision: {error}"
        return {"notes": [*notes, why], "stop": "capped", "stopped": why, "next": "respond"}
    return {
        "sql": done.reply.sql,
        "sql_source": "revision",
        "sql_confidence": done.reply.confidence,
        "caveats": list(done.reply.caveats),
        "notes": [*notes, *done.notes, *done.reply.notes],
        "next": "execute",
    }
