"""What the state holds, gathered into the inputs of tasks."""

from __future__ import annotations

from ..prompts.generate import GenerateTask
from ..prompts.replies import Rephrasing
from ..tools.database import Schema
from ..tools.examples import Example, database_identity
from ..tools.linking import PastTurn, requested, widen
from ..tools.values import ValueMatch
from .effects import Body, do
from .memory import window
from .records import Attempt, load, load_all
from .resources import Run
from .state import AgentState

MOST_COLUMNS = 400
"""Columns shown of a large schema, keys aside; the least probable would be the first to leave the prompt anyway."""

MOST_UNSHOWN = 60
"""Names of tables beyond those shown; they leave the prompt before anything else does."""


def overview(question: str, history: tuple[PastTurn, ...], run: Run) -> Body[tuple[Schema, bool]]:
    """The schema as far as it helps to understand a question: the whole, or of a large one the most probable part.

    Returns:
        It, and whether it is in order of probability.
    """

    def look() -> tuple[Schema, bool]:
        schema = run.schema()
        if schema.shown_columns <= MOST_COLUMNS:
            return schema, False
        return run.linker().link(question, history, max_columns=MOST_COLUMNS).kept, True

    return (yield from do(look))


def kept_schema(state: AgentState, run: Run) -> Body[Schema]:
    """The part of the schema that this turn shows: what the linker kept, and what attempts reached for beyond it."""
    schema = yield from do(run.schema)
    part = schema.part([(table, columns) for table, columns in state.get("kept", [])])
    for attempt in load_all(Attempt, state.get("attempts")):
        part = widen(schema, part, attempt.sql)
    return part


def _unshown(state: AgentState, shown: Schema, schema: Schema) -> tuple[str, ...]:
    """Names of tables that are not shown, most probable first."""
    likely = [table for table, column, _ in state.get("items", []) if column is None]
    names = dict.fromkeys([*likely, *(table.name for table in schema.tables)])
    return tuple(name for name in names if shown.table(name) is None)[:MOST_UNSHOWN]


def generate_task(state: AgentState, run: Run) -> Body[GenerateTask]:
    """The task of writing SQL for this turn; revision and reasoning build on it."""
    settings = run.settings
    schema = yield from kept_schema(state, run)
    base = state.get("base")
    unshown = yield from do(lambda: _unshown(state, schema, run.schema()))
    return GenerateTask(
        question=state["question"],
        rephrasing=load(Rephrasing, state["rephrasing"]),
        schema=schema,
        history=window(state, settings),
        base=load(PastTurn, base) if base else None,
        values=load_all(ValueMatch, state.get("values"))[: settings.values],
        examples=load_all(Example, state.get("examples")),
        style=settings.prompt_style,
        schema_style=settings.schema_style,
        unshown=unshown,
        requested=frozenset[str]().union(
            *(requested(schema, attempt.sql) for attempt in load_all(Attempt, state.get("attempts")))
        ),
        ranked=settings.link_schema,
        stars=tuple((table, place) for table, place in state.get("stars", [])),
        marked=frozenset((table, column) for table, column in state.get("marked", [])),
        database=database_identity(run.resources.database),
    )
