"""Program of thought: pandas code and SQL, together or one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...prompts.reason import ReasonTask, SQLFromCodeTask
from ...prompts.reply_types import CodeDraft, Draft
from ...tools.errors import ModelError, NotUnderstood, ReplyError, SettingsError
from ...tools.examples import seed_programs
from ..context.task_inputs import generate_task
from ..effects import Body, Done, ask, do
from ..evidence.feedback import code_csv
from ..model.turn_budget import seconds_left
from ..records import CodeResult, CodeRun, plain_result
from ..resources import Run
from ..settings import Settings
from ..state import AgentState, Update, step, turn_of
from .generate import end_without_sql, run_next, use_draft

if TYPE_CHECKING:
    from ...prompts.generate import GenerateTask
    from ...tools.sandbox import SandboxLimits
    from ...tools.toolset import PandasRun


def reason(state: AgentState, run: Run) -> Body[Update]:
    """Ask for pandas code and SQL, run the code, and return the draft (SQL-CRAFT 2).

    `pot` asks for both in one reply, `code_blocks` for the SQL in a second one. Code is run only if its result is used;
    the paper never runs it. If it cannot run, or gives no SQL, `generate` writes the SQL alone.
    """
    turn, is_run = turn_of(state), runs_code(run.settings)
    limits, problem = (yield from do(lambda: _choose_limits(run))) if is_run else (None, "")
    if is_run and limits is None:
        return {"notes": [problem], "next": "generate"}
    base = yield from generate_task(state, run)
    mode = "code_blocks" if run.settings.reason == "code_blocks" else "pot"
    notes: list[str] = []
    try:
        programs = yield from do(seed_programs)
        # Our own form says more of a schema than the paper's: comments, views, what codes mean.
        task = base if base.style == "full" else replace(base, schema_style="frames")
        thought = yield from ask(ReasonTask(task, mode, programs))
        if (draft := thought.reply.draft) is not None and draft.declines:
            return use_draft(turn, Done(draft, thought.notes), run.settings)
        code, notes = CodeRun(thought.reply.code), [*thought.notes]
        if limits is not None:
            code, remarks = yield from _run_code(thought.reply.code, limits, run)
            notes += remarks
        turn = replace(turn, code=code)
        draft = yield from _write_sql(thought, base, code, run)
    except ModelError as error:
        return end_without_sql(turn, error, notes)
    except (ReplyError, NotUnderstood) as error:
        why = f"the SQL was written without reasoning in code: {error}"
        return step("generate", turn, [*notes, why])
    return run_next(turn, draft, "draft", notes)


def runs_code(settings: Settings) -> bool:
    """Whether code is asked for and its result is used."""
    shown = settings.reason == "code_blocks" and settings.show_code_result
    looked_at = shown or settings.feedback_code or settings.gate or settings.final == "best"
    return settings.reason != "off" and looked_at


def _choose_limits(run: Run) -> tuple[SandboxLimits | None, str]:
    """Return the limits of the code in this run; or None, and why no code can run."""
    from ...tools.sandbox import sandbox_available

    settings = run.settings
    try:
        limits = run.resources.tools.sandbox_limits()
    except SettingsError as error:
        return None, f"reasoning with code is off: {error}"
    if problem := sandbox_available(limits.boundary):
        return None, problem
    within = replace(
        limits,
        seconds=min(limits.seconds, settings.code_seconds),
        rows=min(limits.rows, settings.rows),
        result_bytes=min(limits.result_bytes, settings.result_bytes),
    )
    return within, ""


def _run_code(code: str, limits: SandboxLimits, run: Run) -> Body[tuple[CodeRun, list[str]]]:
    """Return the code with its result or error, and remarks for the answer."""
    if not code.strip():
        return CodeRun(code), []

    def call() -> PandasRun:
        within = replace(limits, seconds=seconds_left(limits.seconds))
        return run.resources.tools.run_pandas.call(code=code, limits=within, cancellation=run.cancellation)

    ran = yield from do(call)
    table, problem = ran.result.table, ran.result.error or "the code left no result"
    if table is None:
        return CodeRun(code, error=problem), [*ran.notes, f"the pandas code gave no result: {problem}"]
    result = CodeResult(plain_result(table), ran.result.index_columns, ran.sampled, ran.result.labelled)
    return CodeRun(code, result), list(ran.notes)


def _write_sql(thought: Done[CodeDraft], base: GenerateTask, code: CodeRun, run: Run) -> Body[Done[Draft]]:
    """Return the draft: from the same reply in `pot`, from another request in `code_blocks`."""
    if thought.reply.draft is not None:
        return Done(thought.reply.draft)
    if thought.reply.sql:
        return Done(Draft(thought.reply.sql))
    if run.settings.reason == "pot":
        raise ReplyError("the reply holds code and no SQL", "malformed")
    shown = code_csv(code.result) or code.error
    result = shown if run.settings.show_code_result else ""
    return (yield from ask(SQLFromCodeTask(base, code.code, result)))
