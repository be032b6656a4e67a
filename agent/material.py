"""What the state holds, gathered into the inputs of tasks."""

from __future__ import annotations

from ..prompts.generate import GenerateTask
from ..prompts.replies import Rephrasing
from ..tools.database import Schema
from ..tools.examples import Example
from ..tools.linking import PastTurn, widen
from ..tools.values import ValueMatch
from .effects import Body, do
from .records import Attempt, load, load_all
from .resources import Run
from .state import AgentState


def kept_schema(state: AgentState, run: Run) -> Body[Schema]:
    """The part of the schema that this turn shows: what the linker kept, and what attempts reached for beyond it."""
    schema = yield from do(run.resources.database.schema)
    part = schema.part([(table, columns) for table, columns in state.get("kept", [])])
    for attempt in load_all(Attempt, state.get("attempts")):
        part = widen(schema, part, attempt.sql)
    return part


def generate_task(state: AgentState, run: Run) -> Body[GenerateTask]:
    """The task of writing SQL for this turn; revision and reasoning build on it."""
    settings = run.settings
    schema = yield from kept_schema(state, run)
    history = load_all(PastTurn, state.get("turns"))
    base = state.get("base")
    return GenerateTask(
        question=state["question"],
        rephrasing=load(Rephrasing, state["rephrasing"]),
        schema=schema,
        history=history[-settings.history_window :] if settings.history_window else (),
        base=load(PastTurn, base) if base else None,
        values=load_all(ValueMatch, state.get("values")),
        examples=load_all(Example, state.get("examples")),
        style=settings.prompt_style,
        schema_style=settings.schema_style,
        marked=frozenset((table, column) for table, column in state.get("marked", [])),
    )
