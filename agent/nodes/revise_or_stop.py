"""The node that ends the loop of attempts or asks for a revision.

In `full` two things send a query back to the model: the engine's error, and an empty result of a search for a text that
its column does not hold, where the column holds exactly one like it. What else could be said against a query is for
people. The papers' loops go on until the SQL or the result repeats.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import cast

from ...prompts.explain import ExplainTask
from ...prompts.reply_types import Explanation
from ...prompts.templating import PromptTooLarge
from ...tools.database import Schema
from ...tools.labels import Labels
from ...tools.sql import is_write_statement, same_sql
from ...tools.words import format_count
from ..context.task_inputs import make_generate_task, select_prompt_schema
from ..effects import NO_REPLY, Body, Done, ask, do
from ..evidence.choose_attempt import compare_code_with_query, differs, find_near_miss_literal, have_same_result
from ..evidence.feedback import check_attempt, format_code_csv, format_problems, format_result_csv, format_values
from ..model.turn_budget import get_remaining_requests
from ..records import Attempt, CodeResult, RevisionFeedback, StopReason, Turn
from ..resources import Run
from ..settings import Settings
from ..state import AgentState, Update, dump_all, get_attempts, load_turn, make_update
from .drafts import MORE_DRAFTS, needs_more_drafts

_READS_ONLY = Labels().say("reads_only")  # errors and reasons are in English
_WITH_REVISION = 2  # calls that an explanation and the revision that reads it take


def review_last_attempt(state: AgentState, run: Run) -> Body[Update]:
    """End the loop of attempts, or send the last attempt back to the model with feedback."""
    settings, turn = run.settings, load_turn(state)
    code = turn.code_result
    *earlier, last = get_attempts(state)
    database = run.resources.database
    last, findings = yield from check_attempt(last, state, run)
    attempts = [*earlier, last]
    stop = yield from do(lambda: find_stop_reason(attempts, code, database.schema, settings))
    if stop and (yield from _needs_draft_from_wider_schema(attempts, state, run)):
        reason = "the first query needed tables or columns that were not shown: it was written again with them"
        return {"attempts": dump_all(attempts), "notes": [reason], "next": "generate"}
    if (
        stop
        and needs_more_drafts(attempts, stop, turn, settings)
        and run.translator.reads_examples  # by these, more drafts would differ
        and (yield from do(get_remaining_requests)) > MORE_DRAFTS
    ):
        more = replace(turn, candidates=1 + MORE_DRAFTS)
        note = f"no query worked, so {MORE_DRAFTS} more were written"
        return make_update("candidate", more, [note], attempts=dump_all(attempts))
    if stop:
        return make_update("respond", replace(turn, stop=stop), attempts=dump_all(attempts))
    comparison = yield from do(lambda: compare_code_with_query(last, code))
    disagreement = format_code_csv(code)
    if comparison is not None:
        disagreement = "" if comparison.agree else f"{comparison.reason}\n{disagreement}"
    meaning = Done(Explanation(""))
    if settings.feedback_explanation:
        meaning = yield from _explain_query(state, turn, last, run)
    schema = yield from do(database.schema)
    feedback = RevisionFeedback(
        problems=format_problems(last, findings, settings),
        explanation=meaning.reply.text,
        contents=format_values(last.sql, schema, turn.values) if settings.feedback_contents else "",
        result=format_result_csv(last.result) if last.result and settings.feedback_result else "",
        code=disagreement if settings.feedback_code else "",
    )
    last = replace(last, feedback=feedback.text, differences=meaning.reply.differences)
    run.emit({"event": "revising", "feedback": feedback.problems})
    following = "retrieve" if settings.examples == "draft" else "revise"
    return make_update(following, replace(turn, feedback=feedback), meaning.notes, attempts=dump_all([*earlier, last]))


def _needs_draft_from_wider_schema(attempts: list[Attempt], state: AgentState, run: Run) -> Body[bool]:
    """Whether the only draft failed and the prompt would now show more of the schema."""
    settings = run.settings
    alone = settings.max_attempts == 1 and [attempt.source for attempt in attempts] == ["draft"]
    if not (settings.draft_again and alone and attempts[0].error_kind):
        return False
    before = yield from make_generate_task(cast("AgentState", {**state, "attempts": []}), run)
    now = yield from make_generate_task(state, run)
    if now == before:
        return False
    budget = settings.prompt_tokens
    try:
        return now.render(budget).messages != before.render(budget).messages
    except PromptTooLarge:
        return False


def _explain_query(state: AgentState, turn: Turn, attempt: Attempt, run: Run) -> Body[Done[Explanation]]:
    """Return an explanation of a query for the feedback; empty if the model gives none.

    Nor does it cost the turn the revision that the explanation is for.
    """
    if (yield from do(get_remaining_requests)) < _WITH_REVISION:
        note = "the query was not explained: the last request to the model is kept for the correction (turn_calls)"
        return Done(Explanation(""), (note,))
    schema = yield from select_prompt_schema(state, run)
    question, wording = turn.question, turn.rephrasing.rephrased
    try:
        return (yield from ask(ExplainTask(question, wording, attempt.sql, schema, run.settings.link_schema)))
    except NO_REPLY as error:
        return Done(Explanation(""), (f"the query was not explained: {error}",))


_LIMITS = ("timeout", "too_large", "too_costly")
"""Errors that name a limit; one revision may bring a query within it, a second has not helped yet."""


def find_stop_reason(
    attempts: Sequence[Attempt], code: CodeResult | None, schema: Callable[[], Schema], settings: Settings
) -> StopReason | None:
    """Return why the turn ends after the last attempt; None if the turn continues.

    The SQL repeating (SQL-CRAFT algorithm 1), the result repeating (revision chain 3.2.2), the gate, or the cap. Both
    papers compare with the attempt before. A repetition of an earlier one is a cycle, which would only go on until the
    cap: there is no more to come, but nothing converged (`Settings.stop_cycles`).
    """
    chain = [attempt for attempt in attempts if attempt.source != "candidate"]
    last, earlier = chain[-1], chain[:-1]
    if last.source == "edited":
        if last.error:
            return StopReason("edited", f"Your query cannot be run: {last.error}", "failed")
        return StopReason("edited", "a person wrote the query", "converged")
    if last.error_kind == "locked":
        # Nothing is wrong with the query that a model could mend.
        return _make_error_stop(last.error or "", attempts)
    if settings.gate and (stop := _find_reason_not_to_revise(attempts, earlier, code)):
        return stop
    if repetition := _find_repetition_stop(last, earlier, schema, settings):
        return repetition
    if len(chain) >= settings.max_attempts:
        if settings.max_attempts == 1 and last.result is not None:
            return StopReason("attempts", "the settings allow one query", "converged")
        reason = format_count(len(chain), "query was tried", "queries were tried")
        return StopReason("attempts", f"{reason}, and the settings allow no more", "capped")
    return None


def _find_reason_not_to_revise(
    attempts: Sequence[Attempt], earlier: Sequence[Attempt], code: CodeResult | None
) -> StopReason | None:
    """Return why a revision of the last attempt would not help, or None if it may help."""
    last = attempts[-1]
    if last.result is None:
        # Whatever an engine says against it: SQLite has no TRUNCATE, and another table may be missing.
        changes = is_write_statement(last.sql, last.dialect)
        if changes and not any(attempt.result for attempt in attempts):
            return StopReason("declined", _READS_ONLY, "unanswerable")
        over_again = last.error_kind in _LIMITS and any(attempt.error_kind in _LIMITS for attempt in earlier)
        reason = _READS_ONLY if changes else last.error or ""
        return _make_error_stop(reason, attempts) if changes or over_again else None
    if differs(compare_code_with_query(last, code)) or find_near_miss_literal(last):
        return None
    query_name = "corrected query" if earlier else "query"
    return StopReason("gate", f"the {query_name} ran without an error", "converged")


def _make_error_stop(reason: str, attempts: Sequence[Attempt]) -> StopReason:
    return StopReason("error", reason, "capped" if any(attempt.result for attempt in attempts) else "failed")


def _find_repetition_stop(
    last: Attempt, earlier: Sequence[Attempt], schema: Callable[[], Schema], settings: Settings
) -> StopReason | None:
    """Return a reason to stop if the last attempt repeats an earlier attempt, or None."""
    for back, other in enumerate(reversed(earlier if settings.stop_cycles else earlier[-1:]), 1):
        # Equal after regularisation; what cannot be parsed has to be the same text.
        is_same = last.sql.strip() == other.sql.strip() or same_sql(last.sql, other.sql, schema())
        if is_same and settings.converge != "result":
            kind, subject = "same_sql", "SQL"
        elif settings.converge != "sql" and (is_same or have_same_result(last, other)):
            kind, subject = "same_result", "result"
        else:
            continue
        if back == 1:
            return StopReason(kind, f"asked again, the model gave the same {subject}", "converged")
        return StopReason("cycle", f"asked again, the model gave the same {subject} as {back} queries before", "capped")
    return None
