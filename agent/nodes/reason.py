"""Program of thought: pandas code and SQL, together or one after the other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from ...prompts.reason import ReasonTask, SQLFromCodeTask
from ...prompts.replies import CodeDraft, Draft
from ...tools.errors import ModelError, NotUnderstood, ReplyError, SettingsError
from ...tools.examples import seed_programs
from ..budget import seconds_left
from ..effects import Body, ask, do
from ..feedback import bounds, code_csv
from ..material import generate_task
from ..records import CodeResult, dump, load, plain_result
from ..resources import Run, call_tool
from ..state import AgentState
from ..translator import Done
from .generate import drafted, ended

if TYPE_CHECKING:
    from ...prompts.generate import GenerateTask
    from ...tools.sandbox import SandboxLimits
    from ...tools.toolset import PandasRun


def reason(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """SQL-CRAFT 2: `pot` asks for code and SQL in one reply, `code_blocks` for code, then for SQL that follows it.

    Where code cannot be run, or no SQL comes of it, `generate` writes the SQL alone; a result of the code is kept.
    """
    limits, lacking = yield from do(lambda: _limits(run))
    if limits is None:
        return {"notes": [*state.get("notes", []), lacking], "next": "generate"}
    base = yield from generate_task(state, run)
    mode = "code_blocks" if run.settings.reason == "code_blocks" else "pot"
    try:
        programs = yield from do(seed_programs)
        thought: Done[CodeDraft] = yield from ask(ReasonTask(replace(base, schema_style="craft"), mode, programs))
    except ModelError as error:
        return ended(state, error)
    except (ReplyError, NotUnderstood) as error:
        return _without_sql(state, error)
    ran, remarks = yield from _run_code(thought.reply.code, limits, run)
    state = {**state, "notes": [*state.get("notes", []), *thought.notes, *remarks]}
    try:
        draft: Done[Draft] = yield from _sql(thought, base, ran, run)
    except ModelError as error:
        return ran | ended(cast("AgentState", {**state, **ran}), error)
    except (ReplyError, NotUnderstood) as error:
        return ran | _without_sql(state, error)
    return ran | drafted(state, draft)


def _without_sql(state: AgentState, error: Exception) -> dict[str, Any]:
    notes = [*state.get("notes", []), f"the SQL was written without reasoning in code: {error}"]
    return {"notes": notes, "next": "generate"}


def _limits(run: Run) -> tuple[SandboxLimits | None, str]:
    """What the code may cost in this run; or None, and why no code can be run here."""
    from ...tools.sandbox import sandbox_available

    settings = run.settings
    try:
        limits = run.resources.tools.sandbox_limits()
    except SettingsError as error:
        return None, f"reasoning with code is off: {error}"
    if lacking := sandbox_available(limits.boundary):
        return None, lacking
    within = replace(
        limits,
        seconds=min(limits.seconds, settings.code_seconds),
        rows=min(limits.rows, settings.rows),
        result_bytes=min(limits.result_bytes, settings.result_bytes),
    )
    return within, ""


def _run_code(code: str, limits: SandboxLimits, run: Run) -> Body[tuple[Any, list[str]]]:
    """The state's fields of the code, with its result or what went wrong; and remarks for the answer."""
    if not code.strip():
        return {"code": code, "code_result": None, "code_error": ""}, []

    def call() -> PandasRun:
        within = replace(limits, seconds=seconds_left(limits.seconds))
        return call_tool(run.resources.tools.run_pandas, code=code, limits=within)

    ran = yield from do(call)
    table, problem = ran.result.table, ran.result.error or "the code left no result"
    if table is None:
        fields = {"code": code, "code_result": None, "code_error": problem}
        return fields, [*ran.notes, f"the pandas code gave no result: {problem}"]
    result = CodeResult(plain_result(table), ran.result.index_columns, ran.sampled, ran.result.labelled)
    return {"code": code, "code_result": dump(result), "code_error": ""}, list(ran.notes)


def _sql(thought: Done[CodeDraft], base: GenerateTask, ran: dict[str, Any], run: Run) -> Body[Done[Draft]]:
    """The draft: from the same reply in `pot`, from one more call in `code_blocks`.

    Raises:
        ReplyError: There is no SQL.
    """
    if thought.reply.sql:
        return Done(Draft(thought.reply.sql))
    if run.settings.reason == "pot":
        raise ReplyError("the reply holds code and no SQL", "malformed")
    result = load(CodeResult, ran["code_result"]) if ran["code_result"] else None
    shown = code_csv(result, bounds(run.settings)) or ran["code_error"]
    return (yield from ask(SQLFromCodeTask(base, thought.reply.code, shown)))
