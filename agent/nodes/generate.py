"""Writes the draft: the turn's first SQL."""

from __future__ import annotations

from typing import Any

from ...prompts.replies import Draft
from ...tools.errors import ModelError, NotUnderstood, ReplyError
from ..budget import BudgetReached
from ..effects import Body, ask
from ..material import generate_task
from ..records import Outcome, dump
from ..resources import Run
from ..state import AgentState
from ..translator import Done


def generate(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """One task; a reply without SQL, or no reply, ends the turn with what happened."""
    task = yield from generate_task(state, run)
    try:
        done = yield from ask(task)
    except (ReplyError, ModelError, NotUnderstood) as error:
        return ended(state, error)
    return drafted(state, done)


def drafted(state: AgentState, done: Done[Draft]) -> dict[str, Any]:
    """The update that carries a draft to `execute`."""
    return {
        "sql": done.reply.sql,
        "sql_source": "draft",
        "sql_confidence": done.reply.confidence,
        "caveats": list(done.reply.caveats),
        "notes": [*state.get("notes", []), *done.notes, *done.reply.notes],
        "next": "execute",
    }


def ended(state: AgentState, error: Exception) -> dict[str, Any]:
    """The update that ends a turn without SQL: with what pandas code found, where it found something."""
    why = str(error)
    if state.get("code_result"):
        return {"notes": [*state.get("notes", []), why], "stop": "capped", "stopped": why, "next": "respond"}
    stop = "capped" if isinstance(error, BudgetReached) else ""
    return {"outcome": dump(Outcome("failed", why)), "stop": stop, "stopped": why, "next": "respond"}
