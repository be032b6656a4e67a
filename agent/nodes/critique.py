"""Looks at the last attempt: done, or worth a revision, and with what feedback."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ...prompts.explain import ExplainTask
from ...prompts.replies import Rephrasing
from ...tools.database import Schema
from ...tools.errors import ModelError, NotUnderstood, ReplyError
from ...tools.values import ValueMatch
from ..assess import assess
from ..comparing import compare_code
from ..convergence import stop_reason
from ..effects import Body, ask, do
from ..feedback import Bounds, Feedback, bounds, code_csv, contents, problems, result_csv
from ..records import Attempt, CodeResult, dump, dump_all, load, load_all
from ..resources import Run
from ..state import AgentState

_DIFFERS = "The question differs:"


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
    if stop:
        return {"attempts": dump_all([*earlier, last]), "stop": stop.kind, "stopped": stop.why, "next": "respond"}
    within = bounds(settings)
    disagreement = yield from do(lambda: _disagreement(last, code, within))
    explanation = ""
    notes: list[str] = []
    if settings.feedback_explanation:
        explanation, notes = yield from _explain(state, rephrasing, last, schema)
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


def _disagreement(attempt: Attempt, code: CodeResult | None, within: Bounds) -> str:
    """The code's result and how it differs, unless the query gave the same."""
    if code is None:
        return ""
    comparison = compare_code(attempt, code)
    if comparison is None:
        return code_csv(code, within)
    return "" if comparison.agree else f"{comparison.reason}\n{code_csv(code, within)}"


def _explain(
    state: AgentState, rephrasing: Rephrasing, attempt: Attempt, schema: Schema
) -> Body[tuple[str, list[str]]]:
    """The explanation, and notes; a model that cannot explain costs the turn nothing but that part."""
    task = ExplainTask(state["question"], rephrasing.rephrased, attempt.sql, schema)
    try:
        done = yield from ask(task)
    except (ReplyError, ModelError, NotUnderstood) as error:
        return "", [f"the query was not explained: {error}"]
    meaning, differences = done.reply.meaning, done.reply.differences
    text = f"The query means: {meaning}" + (f"\n{_DIFFERS} {differences}" if differences else "")
    return text, list(done.notes)
