"""Writes the draft: the turn's first SQL, or what its reply says instead."""

from __future__ import annotations

from typing import Any

from ...tools.errors import ModelError, NotUnderstood, ReplyError
from ..context.inputs import generate_task
from ..effects import Body, ask
from ..resources import Run
from ..state import AgentState, turn_of
from .updates import drafted, end_without_sql


def generate(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """One task; a reply without SQL, or no reply, ends the turn with what happened.

    Where the reply says how it understood the question (`Settings.rephrase` auto), it may ask back or decline.
    """
    turn = turn_of(state)
    task = yield from generate_task(state, run)
    try:
        done = yield from ask(task)
    except (ReplyError, ModelError, NotUnderstood) as error:
        return end_without_sql(turn, error)
    return drafted(turn, done, run.settings)
