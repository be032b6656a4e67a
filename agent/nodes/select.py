"""Chooses among several drafts, and has the two strongest results merged where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from langgraph.types import Overwrite

from ...prompts.merge import MergeTask, Proposal
from ...tools.errors import ModelError, NotUnderstood, ReplyError
from ..context.inputs import generate_task
from ..effects import Body, ask
from ..evidence.choose import Group, group
from ..evidence.feedback import Bounds, result_csv
from ..model.budget import BudgetReached
from ..records import CandidateDraft, Turn, Usage, dump, dump_all, load, load_all, parallel_usage
from ..resources import Run
from ..state import AgentState, attempts_of, turn_of
from .updates import declined, end_turn, run_next


def select(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """The draft of the strongest group goes on as the turn's own; the others are kept as candidates.

    Attempts that were made before, and were in doubt, are among those to choose from.

    Where most drafts ask back or decline, so does the turn. Where the second strongest group is to be merged with the
    first, one more call gives the next attempt. Where the budgets, shared by so many drafts, were too small for any of
    them, half as many are written.
    """
    drafts = sorted(load_all(CandidateDraft, state["drafts"]), key=lambda draft: draft.number)
    turn, usage, earlier = turn_of(state), state["usage"], attempts_of(state)
    spent = load(Usage, usage.get("candidate", {})) + parallel_usage([draft.usage for draft in drafts])
    update: dict[str, Any] = {"usage": usage | {"candidate": dump(spent)}}
    over_budget = [draft.stop for draft in drafts if draft.stop and draft.stop.kind == "budget"]
    if len(over_budget) == len(drafts) and not earlier:
        return update | _with_fewer(turn, len(drafts))
    notes = [note for draft in drafts for note in draft.notes]
    unwritten = [draft.understood for draft in drafts if draft.understood and draft.understood.intent != "answerable"]
    if 2 * len(unwritten) > len(drafts) + bool(earlier) and (
        ended := declined(turn, unwritten[0], run.settings, notes)
    ):
        return update | ended | {"drafts": Overwrite([])}
    attempts = [*earlier, *(draft.attempt for draft in drafts if draft.attempt is not None)]
    if not attempts:
        why = drafts[0].stop.why if drafts[0].stop else ""
        return update | end_turn(turn, "error", why, "failed", notes)
    groups = group(attempts)
    best = groups[0].best if groups else attempts[0]
    origin = next((draft for draft in drafts if draft.attempt is best), None)
    others = [replace(attempt, source="candidate") for attempt in attempts if attempt is not best]
    if origin is not None:
        turn = replace(turn, caveats=origin.caveats, code=origin.code, rephrasing=origin.understood or turn.rephrasing)
    update |= {"attempts": dump_all([*others, best]), "turn": dump(turn), "notes": notes, "next": "critique"}
    if over_budget:
        why = f"not all drafts were written: {over_budget[0].why}"
        return update | end_turn(turn, "budget", why, "capped", notes)
    if not run.settings.merge or len(groups) < 2:
        return update
    task = MergeTask((yield from generate_task(state, run)), _proposals(groups[:2], Bounds()))
    try:
        done = yield from ask(task)
    except BudgetReached as error:
        return update | end_turn(turn, "budget", f"the drafts were not merged: {error}", "capped", notes)
    except (ReplyError, ModelError, NotUnderstood) as error:
        return update | {"notes": [*notes, f"the drafts were not merged: {error}"]}
    return update | run_next(turn, done, "merged", notes)


def _with_fewer(turn: Turn, drafts: int) -> dict[str, Any]:
    """Half as many drafts, which may each cost twice as much."""
    turn = replace(turn, candidates=drafts // 2)
    return {
        "turn": dump(turn),
        "notes": [f"{drafts} drafts were more than the turn's budgets allow: fewer were written"],
        "drafts": Overwrite([]),
        "next": "candidate" if turn.candidates > 1 else "retrieve",
    }


def _proposals(groups: Sequence[Group], within: Bounds) -> tuple[Proposal, ...]:
    return tuple(
        Proposal(
            sql=found.best.sql,
            support=found.size,
            result_csv=result_csv(found.best.result, within) if found.best.result else "",
            feedback="\n".join(found.best.findings),
        )
        for found in groups
    )
