"""Several drafts for one question: how many, how they differ, and the choice among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from langgraph.types import Overwrite

from ...prompts.revise import MergeProposal, MergeProposalsTask
from ..context.task_inputs import make_generate_task
from ..effects import NO_REPLY, Body, ask
from ..evidence.choose_attempt import group_attempts_by_result
from ..evidence.feedback import check_attempt, format_result_csv
from ..model.turn_budget import BudgetReached
from ..records import Attempt, CandidateDraft, StopReason, Turn, Usage, combine_parallel_usage
from ..resources import Run
from ..settings import Settings
from ..state import (
    AgentState,
    Update,
    add_notes,
    dump,
    dump_all,
    end_turn,
    get_attempts,
    load,
    load_all,
    load_turn,
    make_update,
)
from .clarify import decline_or_ask
from .execute import execute
from .generate import generate, make_execute_update
from .reason import reason
from .retrieve_examples import choose_few_shot_examples

HIGH_DRAFTS = 3  # drafts side by side at high effort
MORE_DRAFTS = 2  # drafts that are added to one that failed: with it, two can outvote one
_SELECTORS = ("skeleton", "question", "voted")  # ways of choosing examples, taken in turn
_TEMPERATURE = 0.7  # of every draft except the first
_CODE_INTERVAL = 3  # every third draft is reasoned in code where the others aren't (`Settings.candidate_reasoning`)


def count_drafts(settings: Settings) -> int:
    """Return the number of drafts that a turn begins with; 1 if each query needs approval."""
    if settings.approve:
        return 1
    return max(settings.candidates, HIGH_DRAFTS) if settings.effort == "high" else settings.candidates


def needs_more_drafts(attempts: Sequence[Attempt], stop: StopReason, turn: Turn, settings: Settings) -> bool:
    """Whether a turn needs more drafts before it ends, because no query ran.

    A query that failed and was given back unchanged is the model's last word.
    """
    if settings.effort != "auto" or settings.max_attempts == 1 or turn.candidates > 1 or turn.approve:
        return False
    return stop.kind == "attempts" and not any(attempt.result for attempt in attempts)


def vary_draft_settings(settings: Settings, number: int) -> Settings:
    """Return the settings for the draft with this number; draft 0 keeps the run's settings."""
    if number == 0:
        return settings
    change: dict[str, object] = {"temperature": _TEMPERATURE}
    if settings.examples in _SELECTORS:
        index = _SELECTORS.index(settings.examples)
        change["examples"] = _SELECTORS[(index + number) % len(_SELECTORS)]
    if settings.candidate_reasoning and number % _CODE_INTERVAL == _CODE_INTERVAL - 1:
        change["reason"] = "pot" if settings.reason == "off" else "off"
    return settings.model_copy(update=change)


def write_candidate_draft(state: AgentState, run: Run) -> Body[Update]:
    """Write and run one of several drafts, with varied examples and settings (CREDIT-SQL 5.2).

    The run's settings are those of this draft (`drafts.vary`). A draft that cannot be had is left out of the vote.
    """
    state = _apply_update(state, (yield from choose_few_shot_examples(state, run)))
    if state["next"] == "reason":
        state = _apply_update(state, (yield from reason(state, run)))
    if state["next"] == "generate":
        state = _apply_update(state, (yield from generate(state, run)))
    turn, notes, attempt = load_turn(state), tuple(state["notes"]), None
    if state["next"] not in ("respond", "clarify"):
        state = _apply_update(state, (yield from execute(state, run)))
        attempt, _ = yield from check_attempt(get_attempts(state)[-1], state, run)
    draft = CandidateDraft(
        turn.candidate, attempt, turn.stop, notes, caveats=turn.caveats, code=turn.code, understood=turn.rephrasing
    )
    return {"drafts": [dump(draft)]}


def _apply_update(state: AgentState, update: Update) -> AgentState:
    """Return the state as the graph would pass it to the next node."""
    notes = add_notes(state.get("notes", []), update.get("notes", []))
    return cast("AgentState", {**state, **update, "notes": notes})


def select_strongest_draft(state: AgentState, run: Run) -> Body[Update]:
    """Choose a draft from the group of results with the highest score; keep the others.

    Attempts that were made before, and were in doubt, are among those to choose from.

    Where most drafts ask back or decline, so does the turn. Where the second strongest group is to be merged with the
    first, one more call gives the next attempt. Where the budgets, shared by so many drafts, were too small for any of
    them, half as many are written.
    """
    drafts = sorted(load_all(CandidateDraft, state["drafts"]), key=lambda draft: draft.number)
    turn, usage, earlier = load_turn(state), state["usage"], get_attempts(state)
    cost = load(Usage, usage.get("candidate", {})) + combine_parallel_usage([draft.usage for draft in drafts])
    update: Update = {"usage": usage | {"candidate": dump(cost)}}
    over_budget = [draft.stop for draft in drafts if draft.stop and draft.stop.kind == "budget"]
    if len(over_budget) == len(drafts) and not earlier:
        turn = replace(turn, candidates=len(drafts) // 2)
        note = f"fewer queries were written, because the limits do not allow {len(drafts)} at once"
        return update | make_update(
            "candidate" if turn.candidates > 1 else "retrieve", turn, [note], drafts=Overwrite([])
        )
    notes = [note for draft in drafts for note in draft.notes]
    replies = [draft.understood for draft in drafts if draft.understood and draft.understood.intent != "answerable"]
    if 2 * len(replies) > len(drafts) + bool(earlier) and (
        stop := decline_or_ask(turn, replies[0], run.settings, notes)
    ):
        return update | stop | {"drafts": Overwrite([])}
    attempts = [*earlier, *(draft.attempt for draft in drafts if draft.attempt is not None)]
    if not attempts:
        stop_reason = drafts[0].stop.why if drafts[0].stop else ""
        return update | end_turn(turn, "error", stop_reason, "failed", notes)
    groups = group_attempts_by_result(attempts)
    best = groups[0].best if groups else attempts[0]
    origin = next((draft for draft in drafts if draft.attempt is best), None)
    other_attempts = [replace(attempt, source="candidate") for attempt in attempts if attempt is not best]
    if origin is not None:
        turn = replace(turn, caveats=origin.caveats, code=origin.code, rephrasing=origin.understood or turn.rephrasing)
    update |= make_update("critique", turn, notes, attempts=dump_all([*other_attempts, best]))
    if over_budget:
        stop_reason = f"not all queries were written: {over_budget[0].why}"
        return update | end_turn(turn, "budget", stop_reason, "capped", notes)
    if not run.settings.merge or len(groups) < 2:
        return update
    proposals = tuple(
        MergeProposal(
            sql=group.best.sql,
            support=group.size,
            result_csv=format_result_csv(group.best.result) if group.best.result else "",
            feedback="\n".join(group.best.findings),
        )
        for group in groups[:2]
    )
    task = MergeProposalsTask((yield from make_generate_task(state, run)), proposals)
    try:
        result = yield from ask(task)
    except BudgetReached as error:
        return update | end_turn(turn, "budget", f"the queries were not combined into one: {error}", "capped", notes)
    except NO_REPLY as error:
        return update | {"notes": [*notes, f"the queries were not combined into one: {error}"]}
    return update | make_execute_update(turn, result, "merged", notes)
