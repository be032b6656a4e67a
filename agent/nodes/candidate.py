"""Writes one of several drafts for the same question, runs it and checks it; they go side by side."""

from __future__ import annotations

from typing import Any, cast

from ..effects import Body
from ..evidence.look import look_at
from ..records import CandidateDraft, dump
from ..resources import Run
from ..state import AgentState, add_notes, attempts_of, turn_of
from .execute import execute
from .generate import generate
from .reason import reason
from .retrieve import retrieve


def candidate(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Consistency voting (CREDIT-SQL 5.2): each draft has its own examples, temperature and way of writing.

    The run's settings are those of this draft (`drafts.vary`). A draft that cannot be had is left out of the vote.
    """
    state = _after(state, (yield from retrieve(state, run)))
    if state["next"] == "reason":
        state = _after(state, (yield from reason(state, run)))
    if state["next"] == "generate":
        state = _after(state, (yield from generate(state, run)))
    turn, notes = turn_of(state), tuple(state["notes"])
    if state["next"] in ("respond", "clarify"):
        draft = CandidateDraft(turn.candidate, stop=turn.stop, notes=notes, understood=turn.rephrasing)
        return {"drafts": [dump(draft)]}
    state = _after(state, (yield from execute(state, run)))
    attempt, _ = yield from look_at(attempts_of(state)[-1], state, run)
    draft = CandidateDraft(
        turn.candidate, attempt, notes=notes, caveats=turn.caveats, code=turn.code, understood=turn.rephrasing
    )
    return {"drafts": [dump(draft)]}


def _after(state: AgentState, update: dict[str, Any]) -> AgentState:
    """The state as the graph would hand it to the next node."""
    notes = add_notes(state.get("notes", []), update.get("notes", []))
    return cast("AgentState", {**state, **update, "notes": notes})
