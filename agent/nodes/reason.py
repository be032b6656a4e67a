"""Program of thought: pandas code and SQL, together or one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...prompts.reason import ReasonTask, SQLFromCodeTask
from ...prompts.replies import CodeDraft, Draft
from ...tools.errors import ModelError, NotUnderstood, ReplyError, SandboxUnavailable, SettingsError
from ..effects import Body, ask, do
from ..feedback import result_csv
from ..material import generate_task
from ..records import CodeResult, dump, plain_result
from ..resources import Run, call_tool
from ..state import AgentState
from ..translator import Done
from .generate import drafted, ended

if TYPE_CHECKING:
    from ...tools.toolset import PandasRun


def reason(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """SQL-CRAFT 2: `pot` asks for code and SQL in one reply, `code_blocks` for code, then for SQL that follows it.

    Where that comes to nothing, `generate` writes the SQL alone.
    """
    base = yield from generate_task(state, run)
    mode = "code_blocks" if run.settings.reason == "code_blocks" else "pot"
    try:
        thought: Done[CodeDraft] = yield from ask(ReasonTask(base, mode))
        code = thought.reply.code
        result, problem, remarks = yield from _run_code(code, run)
        if mode == "pot":
            done = Done(Draft(thought.reply.sql), notes=thought.notes)
        else:
            shown = result_csv(result.result, run.settings.feedback_rows) if result else problem
            done = yield from ask(SQLFromCodeTask(base, code, shown))
    except ModelError as error:
        return ended(error)
    except (ReplyError, NotUnderstood) as error:
        notes = [*state.get("notes", []), f"the SQL was written without reasoning in code: {error}"]
        return {"notes": notes, "next": "generate"}
    update = drafted(state, done)
    update["notes"] = [*update["notes"], *remarks]
    return update | {"code": code, "code_result": dump(result) if result else None, "code_error": problem}


def _run_code(code: str, run: Run) -> Body[tuple[CodeResult | None, str, list[str]]]:
    """The code's result or what went wrong, and remarks for the answer."""
    if not code.strip():
        return None, "", []

    def call() -> PandasRun:
        return call_tool(run.resources.tools.run_pandas, code=code)

    try:
        ran = yield from do(call)
    except (SandboxUnavailable, SettingsError) as error:
        return None, "", [f"the code was not run: {error}"]
    result = ran.result
    if result.table is None:
        return None, result.error or "the code left no result", list(ran.notes)
    return CodeResult(plain_result(result.table), result.index_columns, ran.sampled), "", list(ran.notes)
