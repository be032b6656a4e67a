"""Program of thought: pandas code and SQL, together or one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ...prompts.reason import PandasCodeTask, SQLFromCodeTask
from ...prompts.reply_types import CodeDraft, SQLDraft
from ...tools.errors import ModelError, NotUnderstood, ReplyError, SettingsError
from ...tools.examples import load_programs
from ..context.task_inputs import make_generate_task
from ..effects import Body, Done, ask, do
from ..evidence.feedback import format_code_csv
from ..model.turn_budget import limit_to_remaining_seconds
from ..records import CodeResult, CodeRun, make_plain_result
from ..resources import Run
from ..settings import uses_code_result
from ..state import AgentState, Update, load_turn, make_update
from .generate import end_without_sql, make_draft_update, make_execute_update

if TYPE_CHECKING:
    from ...prompts.generate import GenerateSQLTask
    from ...tools.sandbox import SandboxLimits
    from ...tools.toolset import PandasRun


def reason(state: AgentState, run: Run) -> Body[Update]:
    """Ask for pandas code and SQL, run the code, and return the draft (SQL-CRAFT 2).

    `pot` asks for both in one reply, `code_blocks` for the SQL in a second one. Code is run only if its result is used;
    the paper never runs it. If it cannot run, or gives no SQL, `generate` writes the SQL alone.
    """
    turn, is_run = load_turn(state), uses_code_result(run.settings)
    limits, problem = (yield from do(lambda: _choose_sandbox_limits(run))) if is_run else (None, "")
    if is_run and limits is None:
        return {"notes": [problem], "next": "generate"}
    base = yield from make_generate_task(state, run)
    mode = "code_blocks" if run.settings.reason == "code_blocks" else "pot"
    notes: list[str] = []
    try:
        programs = yield from do(load_programs)
        # Our own form says more of a schema than the paper's: comments, views, what codes mean.
        task = base if base.style == "full" else replace(base, schema_style="frames")
        thought = yield from ask(PandasCodeTask(task, mode, programs))
        if (draft := thought.reply.draft) is not None and draft.declines:
            return make_draft_update(turn, Done(draft, thought.notes), run.settings)
        code, notes = CodeRun(thought.reply.code), [*thought.notes]
        if limits is not None:
            code, remarks = yield from _run_pandas_code(thought.reply.code, limits, run)
            notes += remarks
        turn = replace(turn, code=code)
        draft = yield from _get_sql_draft(thought, base, code, run)
    except ModelError as error:
        return end_without_sql(turn, error, notes)
    except (ReplyError, NotUnderstood) as error:
        note = f"the SQL was written without reasoning in code: {error}"
        return make_update("generate", turn, [*notes, note])
    return make_execute_update(turn, draft, "draft", notes)


def _choose_sandbox_limits(run: Run) -> tuple[SandboxLimits | None, str]:
    """Return the sandbox limits for the code; or None, and the reason why code cannot run."""
    from ...tools.sandbox import find_sandbox_problem

    settings = run.settings
    try:
        limits = run.resources.tools.sandbox_limits()
    except SettingsError as error:
        return None, f"reasoning with code is off: {error}"
    if problem := find_sandbox_problem(limits.boundary):
        return None, problem
    run_limits = replace(
        limits,
        seconds=min(limits.seconds, settings.code_seconds),
        rows=min(limits.rows, settings.rows),
        result_bytes=min(limits.result_bytes, settings.result_bytes),
    )
    return run_limits, ""


def _run_pandas_code(code: str, limits: SandboxLimits, run: Run) -> Body[tuple[CodeRun, list[str]]]:
    """Run pandas code; return the code with its result or error, and notes for the answer."""
    if not code.strip():
        return CodeRun(code), []

    def call_pandas_tool() -> PandasRun:
        run_limits = replace(limits, seconds=limit_to_remaining_seconds(limits.seconds))
        return run.resources.tools.run_pandas.call(code=code, limits=run_limits, cancellation=run.cancellation)

    ran = yield from do(call_pandas_tool)
    table, problem = ran.result.table, ran.result.error or "the code left no result"
    if table is None:
        return CodeRun(code, error=problem), [*ran.notes, f"the pandas code gave no result: {problem}"]
    result = CodeResult(make_plain_result(table), ran.result.index_columns, ran.sampled, ran.result.labelled)
    return CodeRun(code, result), list(ran.notes)


def _get_sql_draft(thought: Done[CodeDraft], base: GenerateSQLTask, code: CodeRun, run: Run) -> Body[Done[SQLDraft]]:
    """Return the SQL draft, from the same reply or (in `code_blocks`) from another request."""
    if thought.reply.draft is not None:
        return Done(thought.reply.draft)
    if thought.reply.sql:
        return Done(SQLDraft(thought.reply.sql))
    if run.settings.reason == "pot":
        raise ReplyError("the reply holds code and no SQL", "malformed")
    output = format_code_csv(code.result) or code.error
    result = output if run.settings.show_code_result else ""
    return (yield from ask(SQLFromCodeTask(base, code.code, result)))
