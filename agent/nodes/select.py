"""Chooses among several drafts, and has the two strongest results merged where they differ."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...prompts.merge import MergeTask, Proposal
from ...tools.errors import ModelError, NotUnderstood, ReplyError
from ..budget import BudgetReached
from ..choosing import Group, group
from ..effects import Body, ask
from ..feedback import Bounds, bounds, result_csv
from ..material import generate_task
from ..records import Attempt, CandidateDraft, NodeUsage, Outcome, dump, dump_all, load, load_all, side_by_side
from ..resources import Run
from ..state import AgentState


def select(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """The draft of the strongest group goes on as the turn's own; the others are kept as candidates.

    Where the second strongest group is to be merged with it, one more call gives the next attempt. Where the budgets,
    shared by so many drafts, were too small for any of them, half as many are written.
    """
    drafts = sorted(load_all(CandidateDraft, state["drafts"]), key=lambda draft: draft.number)
    notes = list(dict.fromkeys([*state.get("notes", []), *(note for draft in drafts for note in draft.notes)]))
    usage = state["usage"]
    spent = load(NodeUsage, usage.get("candidate", {})) + side_by_side([draft.usage for draft in drafts])
    update: dict[str, Any] = {"notes": notes, "usage": usage | {"candidate": dump(spent)}}
    attempts = [draft.attempt for draft in drafts if draft.attempt is not None]
    if not attempts and all(draft.capped for draft in drafts):
        fewer = len(drafts) // 2
        why = f"{len(drafts)} drafts were more than the turn's budgets allow: fewer were written"
        return update | {
            "notes": list(dict.fromkeys([*state.get("notes", []), why])),
            "candidates": fewer,
            "drafts": [],
            "next": "candidate" if fewer > 1 else "retrieve",
        }
    if not attempts:
        return update | {"outcome": dump(Outcome("failed", drafts[0].failure)), "next": "respond"}
    groups = group(attempts)
    best = groups[0].best if groups else attempts[0]
    origin = next(draft for draft in drafts if draft.attempt is best)
    others = [replace(attempt, source="candidate") for attempt in attempts if attempt is not best]
    update |= {
        "attempts": dump_all([*others, best]),
        "caveats": list(origin.caveats),
        "code": origin.code,
        "code_result": dump(origin.code_result) if origin.code_result else None,
        "code_error": origin.code_error,
        "next": "critique",
    }
    short = next((draft.failure for draft in drafts if draft.capped), None)
    if short is not None:
        return update | _capped(f"not all drafts were written: {short}", notes)
    if not run.settings.merge or len(groups) < 2:
        return update
    task = MergeTask((yield from generate_task(state, run)), _proposals(groups[:2], bounds(run.settings)))
    try:
        done = yield from ask(task)
    except BudgetReached as error:
        return update | _capped(f"the drafts were not merged: {error}", notes)
    except (ReplyError, ModelError, NotUnderstood) as error:
        return update | {"notes": [*notes, f"the drafts were not merged: {error}"]}
    return update | {
        "sql": done.reply.sql,
        "sql_source": "merged",
        "sql_confidence": done.reply.confidence,
        "caveats": list(done.reply.caveats),
        "notes": [*notes, *done.notes, *done.reply.notes],
        "next": "execute",
    }


def _capped(why: str, notes: Sequence[str]) -> dict[str, Any]:
    """The end of a turn whose budget is spent: with the best draft so far."""
    return {"notes": [*notes, why], "stop": "capped", "stopped": why, "next": "respond"}


def _proposals(groups: Sequence[Group], within: Bounds) -> tuple[Proposal, ...]:
    return tuple(
        Proposal(found.best.sql, found.size, _shown(found.best, within), "\n".join(found.best.findings))
        for found in groups
    )


def _shown(attempt: Attempt, within: Bounds) -> str:
    return result_csv(attempt.result, within) if attempt.result else ""
