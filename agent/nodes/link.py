"""Finds what of the database a turn is about: values mentioned, schema items, and the past SQL to start from."""

from __future__ import annotations

from typing import Any

from ...prompts.replies import Rephrasing
from ...tools.linking import LOOK, LinkedSchema, PastTurn, base_turn, still_runs
from ...tools.values import ValueMatch
from ..budget import seconds_left
from ..effects import Body, do
from ..material import MOST_COLUMNS
from ..memory import window
from ..records import dump, dump_all, load
from ..resources import Run, call_tool
from ..settings import Settings
from ..state import AgentState

STORED_ITEMS = 200
"""Probabilities kept in the state, most probable first: enough for any window, small for a 10,000-column schema."""

LEAST_STAR = 0.1
"""Least probability at which all columns of a table count as asked for, also where the whole schema is shown."""


def link(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Track-SQL 2.2 and 2.3."""
    settings = run.settings
    rephrasing = load(Rephrasing, state["rephrasing"])
    history = window(state, settings)
    question: str = state["question"]

    def find_values() -> tuple[ValueMatch, ...]:
        mentioned = question if rephrasing.rephrased == question else f"{question}\n{rephrasing.rephrased}"
        return call_tool(run.resources.tools.find_values, text=mentioned, limit=max(settings.values, 10))

    values = yield from do(find_values)

    def find_schema() -> LinkedSchema:
        # The question as asked: the linker is fitted on that, with the history beside it.
        return run.linker().link(question, history, values, threshold=settings.link_threshold, max_columns=MOST_COLUMNS)

    linked = yield from do(find_schema)
    items = tuple((item.table, item.column, round(item.p, 4)) for item in linked.items[:STORED_ITEMS])
    base: PastTurn | None = None

    def runs(sql: str) -> bool:
        return still_runs(run.resources.database, sql, seconds_left(LOOK))

    if settings.base_sql and history:
        base = yield from do(lambda: base_turn(question, linked.items, history, runs=runs))
    shown = linked.kept if settings.link_schema else (yield from do(run.schema))
    run.emit({"event": "linked", "tables": [table.name for table in shown.tables], "base_sql": base and base.sql})
    # Drafts that go side by side could only be approved all at once.
    drafts = 1 if settings.approve else settings.candidates
    return {
        "values": dump_all(values),
        "items": [list(item) for item in items],
        "kept": [[table.name, [column.name for column in table.columns]] for table in shown.tables],
        **(_marks(linked, settings) if settings.link_schema else {}),
        "base": dump(base) if base else None,
        "approve": settings.approve,
        "candidates": drafts,
        "next": "retrieve" if drafts == 1 else "candidate",
    }


def _marks(linked: LinkedSchema, settings: Settings) -> dict[str, Any]:
    """What the schema form may say of items: used before (Track-SQL's [SN]), all columns asked for."""
    stars = linked.all_columns(max(settings.link_threshold, LEAST_STAR)) if settings.all_columns else ()
    return {
        "marked": [[item.table, item.column or ""] for item in linked.items if item.used_before],
        "stars": [list(star) for star in stars],
    }
