"""Looks at the last attempt: done, or worth a revision, and with what feedback."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from ...prompts.explain import ExplainTask
from ...prompts.replies import Rephrasing
from ...prompts.tokens import PromptTooLarge
from ...tools.errors import ModelError, NotUnderstood, ReplyError
from ...tools.values import ValueMatch
from ..assess import assess
from ..budget import calls_left
from ..comparing import compare_code
from ..convergence import stop_reason
from ..effects import Body, ask, do
from ..feedback import Bounds, Feedback, bounds, code_csv, contents, problems, result_csv
from ..material import generate_task, kept_schema
from ..records import Attempt, CodeResult, dump, dump_all, load, load_all
from ..resources import Run
from ..state import AgentState

_DIFFERS = "The question differs:"

_WITH_REVISION = 2
"""Calls that an explanation and the revision that reads it take."""


def critique(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """SQL-CRAFT 2 (IC-Loop) and revision chain 3.2, behind the gate."""
    settings = run.settings
    *earlier, last = load_all(Attempt, state["attempts"])
    schema = yield from do(run.resources.database.schema)
    rephrasing = load(Rephrasing, state["rephrasing"])
    last, findings = yield from assess(last, state, run)
    code_record = state.get("code_result")
    code = load(CodeResult, code_record) if code_record else None
    stop = yield from do(lambda: stop_reason([*earlier, last], code, schema, settings))
    if stop and (yield from _reaches_for_more([*earlier, last], state, run)):
        why = "the draft failed for want of what was not shown, and was written again with that"
        notes = [*state.get("notes", []), why]
        return {"attempts": dump_all([*earlier, last]), "notes": notes, "next": "generate"}
    if stop:
        return {"attempts": dump_all([*earlier, last]), "stop": stop.kind, "stopped": stop.why, "next": "respond"}
    within = bounds(settings)
    disagreement = yield from do(lambda: _disagreement(last, code, within))
    explanation = ""
    notes: list[str] = []
    if settings.feedback_explanation:
        explanation, notes = yield from _explain(state, rephrasing, last, run)
    feedback = Feedback(
        problems=problems(last, findings, settings),
        explanation=explanation,
        contents=contents(last.sql, schema, load_all(ValueMatch, state.get("values")), within)
        if settings.feedback_contents
        else "",
        result=result_csv(last.result, within) if last.result and settings.feedback_result else "",
        code=disagreement if settings.feedback_code else "",
    )
    last = replace(last, feedback=feedback.text, doubted=_DIFFERS in explanation)
    run.emit({"event": "revising", "feedback": feedback.problems})
    return {
        "attempts": dump_all([*earlier, last]),
        "feedback": dump(feedback),
        "notes": [*state.get("notes", []), *notes],
        "next": "retrieve" if settings.examples == "draft" else "revise",
    }


def _reaches_for_more(attempts: Sequence[Attempt], state: AgentState, run: Run) -> Body[bool]:
    """Whether a single draft failed, and the same prompt would now show it what it reached for in vain."""
    settings = run.settings
    alone = settings.max_attempts == 1 and [attempt.source for attempt in attempts] == ["draft"]
    if not (settings.draft_again and alone and attempts[0].error_kind):
        return False
    before = yield from generate_task(cast("AgentState", {**state, "attempts": []}), run)
    now = yield from generate_task(state, run)
    if now == before:
        return False
    budget = settings.prompt_tokens
    try:
        return now.render(budget).messages != before.render(budget).messages
    except PromptTooLarge:
        return False


def _disagreement(attempt: Attempt, code: CodeResult | None, within: Bounds) -> str:
    """The code's result and how it differs, unless the query gave the same."""
    if code is None:
        return ""
    comparison = compare_code(attempt, code)
    if comparison is None:
        return code_csv(code, within)
    return "" if comparison.agree else f"{comparison.reason}\n{code_csv(code, within)}"


def _explain(state: AgentState, rephrasing: Rephrasing, attempt: Attempt, run: Run) -> Body[tuple[str, list[str]]]:
    """The explanation, and notes; a model that cannot explain costs the turn nothing but that part.

    Nor does it cost the turn the revision that it is for.
    """
    if (yield from do(calls_left)) < _WITH_REVISION:
        return "", ["the query was not explained: the turn's last call is for the revision (turn_calls)"]
    schema = yield from kept_schema(state, run)
    task = ExplainTask(state["question"], rephrasing.rephrased, attempt.sql, schema, ranked=run.settings.link_schema)
    try:
        done = yield from ask(task)
    except (ReplyError, ModelError, NotUnderstood) as error:
        return "", [f"the query was not explained: {error}"]
    meaning, differences = done.reply.meaning, done.reply.differences
    text = f"The query means: {meaning}" + (f"\n{_DIFFERS} {differences}" if differences else "")
    return text, list(done.notes)
