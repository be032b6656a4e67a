"""Writes one of several drafts for the same question, runs it and looks at it; they go side by side."""

from __future__ import annotations

from typing import Any, cast

from ..assess import assess
from ..effects import Body
from ..records import Attempt, CandidateDraft, CodeResult, dump, load
from ..resources import Run
from ..state import AgentState
from .execute import execute
from .generate import generate
from .reason import reason
from .retrieve import retrieve


def candidate(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Consistency voting (CREDIT-SQL 5.2): each draft has its own examples, temperature and way of writing.

    The run's settings are those of this draft (`candidates.varied`). A draft that cannot be had is left out of the
    vote.
    """
    update: Any = yield from retrieve(state, run)
    state = cast("AgentState", {**state, **update})
    if update["next"] == "reason":
        update = yield from reason(state, run)
        state = cast("AgentState", {**state, **update})
    if update["next"] == "generate":
        update = yield from generate(state, run)
        state = cast("AgentState", {**state, **update})
    number, notes = state["candidate"], tuple(state["notes"])
    if update["next"] == "respond":
        capped = "outcome" in update and update["stop"] == "capped"
        return {"drafts": [dump(CandidateDraft(number, failure=update["stopped"], capped=capped, notes=notes))]}
    update = yield from execute(state, run)
    attempt, _ = yield from assess(load(Attempt, update["attempts"][-1]), state, run)
    code_result = state["code_result"]
    draft = CandidateDraft(
        number,
        attempt,
        notes=notes,
        caveats=tuple(state["caveats"]),
        code=state["code"],
        code_result=load(CodeResult, code_result) if code_result else None,
        code_error=state["code_error"],
    )
    return {"drafts": [dump(draft)]}
