"""Fetches the few-shot examples for a turn: before the draft, and by settings anew before each revision."""

from __future__ import annotations

from typing import Any

from ...prompts.replies import Rephrasing
from ...tools.errors import ExampleStoreError
from ...tools.examples import Example, ExampleQuery, database_identity, regular_example
from ...tools.values import ValueMatch
from ..effects import Body, do
from ..example_stores import example_numbers
from ..material import kept_schema
from ..records import Attempt, dump_all, load, load_all
from ..resources import Run, call_tool
from ..state import AgentState


def retrieve(state: AgentState, run: Run) -> Body[dict[str, Any]]:
    """Revision chain 3.1, SQL-CRAFT 3 or CREDIT-SQL 3.3, by settings; none for a translator that reads none.

    Once there is a query, the `draft` way also goes by that one's skeleton: DAIL-SQL's idea, at no call of its own.
    """
    settings = run.settings
    attempts = state.get("attempts")
    draft = load(Attempt, attempts[-1]).sql if attempts else ""
    then = "revise" if draft else "generate" if settings.reason == "off" else "reason"
    if settings.examples == "none" or not run.resources.translator(settings).reads_examples:
        return {"examples": [], "next": then}
    schema = yield from kept_schema(state, run)
    rephrasing = load(Rephrasing, state["rephrasing"])
    identity = database_identity(run.resources.database)
    query = ExampleQuery(
        question=rephrasing.rephrased,
        simplified=rephrasing.simplified,
        schema=schema,
        values=load_all(ValueMatch, state.get("values")),
        draft_sql=draft,
        database=identity,
    )

    def find() -> tuple[tuple[Example, ...], tuple[str, ...]]:
        run.resources.examples.store()  # one that cannot be opened at all is an error of whoever set it up
        try:
            found = call_tool(
                run.resources.tools.find_examples,
                question=rephrasing.rephrased,
                selector=settings.examples,
                query=query,
                numbers=example_numbers(settings),
                own=settings.own_examples,
            )
        except ExampleStoreError as error:
            return (), (f"answered without examples: {error}",)
        return found, ()

    examples, notes = yield from do(find)
    if settings.regular_examples:
        examples = tuple(map(regular_example, examples))
    own = sum(example.owner == identity for example in examples)
    run.emit({"event": "retrieved", "examples": len(examples), "own": own})
    update: dict[str, Any] = {"examples": dump_all(examples), "next": then}
    if own:
        note = "1 approved example" if own == 1 else f"{own} approved examples"
        notes = (*notes, f"{note} of this database shown to the model")
    if notes:
        update["notes"] = [*state.get("notes", []), *notes]
    return update
