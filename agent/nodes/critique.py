"""Looks at the last attempt: done, or worth a revision, and with what feedback."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from ...prompts.explain import ExplainTask
from ...prompts.replies import Explanation
from ...prompts.templating import PromptTooLarge
from ...tools.errors import ModelError, NotUnderstood, ReplyError
from ..context.inputs import generate_task, shown_schema
from ..effects import Body, Done, ask, do
from ..evidence.compare import compare_code
from ..evidence.drafts import MORE_DRAFTS, needs_more
from ..evidence.feedback import Bounds, code_csv, contents, problems, result_csv
from ..evidence.look import look_at
from ..evidence.loop import stop_reason
from ..model.budget import calls_left
from ..records import Attempt, CodeResult, Feedback, Turn, dump, dump_all
from ..resources import Run
from ..state import AgentState, attempts_of, turn_of

_WITH_REVISION = 2
"""Calls that an explanation and the revision that reads it take."""


def critique(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """SQL-CRAFT 2 (IC-Loop) and revision chain 3.2, behind the gate."""
    settings, turn, code = run.settings, turn_of(state), turn_of(state).code_result
    *earlier, last = attempts_of(state)
    database = run.resources.database
    last, findings = yield from look_at(last, state, run)
    attempts = [*earlier, last]
    stop = yield from do(lambda: stop_reason(attempts, code, database.schema(), settings))
    if stop and (yield from _was_shown_too_little(attempts, state, run)):
        why = "the draft failed because it needed tables or columns that were not shown: it was written again with them"
        return {"attempts": dump_all(attempts), "notes": [why], "next": "generate"}
    if stop and needs_more(attempts, stop, turn, settings) and (yield from _may_draft_more(run)):
        more = replace(turn, candidates=1 + MORE_DRAFTS)
        note = f"{MORE_DRAFTS} more drafts were written: no query ran"
        return {"attempts": dump_all(attempts), "turn": dump(more), "notes": [note], "next": "candidate"}
    if stop:
        return {"attempts": dump_all(attempts), "turn": dump(replace(turn, stop=stop)), "next": "respond"}
    within = Bounds()
    disagreement = yield from do(lambda: _disagreement(last, code, within))
    meaning = Done(Explanation(""))
    if settings.feedback_explanation:
        meaning = yield from _explain(state, turn, last, run)
    schema = yield from do(database.schema)
    feedback = Feedback(
        problems=problems(last, findings, settings),
        explanation=meaning.reply.text,
        contents=contents(last.sql, schema, turn.values, within) if settings.feedback_contents else "",
        result=result_csv(last.result, within) if last.result and settings.feedback_result else "",
        code=disagreement if settings.feedback_code else "",
    )
    last = replace(last, feedback=feedback.text, differences=meaning.reply.differences)
    run.emit({"event": "revising", "feedback": feedback.problems})
    return {
        "attempts": dump_all([*earlier, last]),
        "turn": dump(replace(turn, feedback=feedback)),
        "notes": list(meaning.notes),
        "next": "retrieve" if settings.examples == "draft" else "revise",
    }


def _was_shown_too_little(attempts: list[Attempt], state: AgentState, run: Run) -> Body[bool]:
    """Whether a single draft failed, and the same prompt would now show what it named and was not shown."""
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


def _may_draft_more(run: Run) -> Body[bool]:
    """Whether there are calls left for more drafts, and whether they would differ: by the examples that are shown."""
    return run.resources.translator(run.settings).reads_examples and (yield from do(calls_left)) > MORE_DRAFTS


def _disagreement(attempt: Attempt, code: CodeResult | None, within: Bounds) -> str:
    """The code's result and how it differs, unless the query gave the same."""
    if code is None:
        return ""
    comparison = compare_code(attempt, code)
    if comparison is None:
        return code_csv(code, within)
    return "" if comparison.agree else f"{comparison.reason}\n{code_csv(code, within)}"


def _explain(state: AgentState, turn: Turn, attempt: Attempt, run: Run) -> Body[Done[Explanation]]:
    """What the query means; a model that cannot explain costs the turn nothing but that part of the feedback.

    Nor does it cost the turn the revision that the explanation is for.
    """
    if (yield from do(calls_left)) < _WITH_REVISION:
        note = "the query was not explained: the turn's last call is for the revision (turn_calls)"
        return Done(Explanation(""), (note,))
    schema = yield from shown_schema(state, run)
    question, rephrased = turn.question, turn.rephrasing.rephrased
    try:
        return (yield from ask(ExplainTask(question, rephrased, attempt.sql, schema, run.settings.link_schema)))
    except (ReplyError, ModelError, NotUnderstood) as error:
        return Done(Explanation(""), (f"the query was not explained: {error}",))
