"""Fetches the few-shot examples for a turn."""

from __future__ import annotations

from typing import Any

from ...prompts.replies import Rephrasing
from ...tools.examples import Example, ExampleQuery, database_identity
from ...tools.values import ValueMatch
from ..effects import Body, do
from ..material import kept_schema
from ..records import dump_all, load, load_all
from ..resources import Run, call_tool
from ..settings import Settings
from ..state import AgentState


def retrieve(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Revision chain 3.1, SQL-CRAFT 3 or CREDIT-SQL 3.3, by settings; none for a translator that reads none."""
    settings = run.settings
    then = "generate" if settings.reason == "off" else "reason"
    if settings.examples == "none" or not run.resources.translator(settings).reads_examples:
        return {"examples": [], "next": then}
    schema = yield from kept_schema(state, run)
    rephrasing = load(Rephrasing, state["rephrasing"])
    query = ExampleQuery(
        question=rephrasing.rephrased,
        simplified=rephrasing.simplified,
        schema=schema,
        values=load_all(ValueMatch, state.get("values")),
        draft_sql="",
        database=database_identity(run.resources.database),
    )

    def find() -> tuple[Example, ...]:
        return call_tool(
            run.resources.tools.find_examples,
            question=rephrasing.rephrased,
            selector=settings.examples,
            query=query,
            numbers=_numbers(settings),
        )

    examples = yield from do(find)
    return {"examples": dump_all(examples), "next": then}


def _numbers(settings: Settings) -> dict[str, int]:
    """How many examples, in the chosen selector's own terms."""
    numbers: dict[str, dict[str, int]] = {
        "skeleton": {"k1": settings.k_question_skeleton, "k2": settings.k_simplified_skeleton},
        "voted": {"n": settings.n_voted, "m": settings.m_votes},
    }
    return numbers.get(settings.examples, {"k": settings.k_question})
