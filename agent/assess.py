"""What can be told of an attempt without asking a model: static findings, and how it fits the question."""

from __future__ import annotations

from dataclasses import replace

from ..prompts.replies import Rephrasing
from ..tools.database import Schema
from ..tools.expectation import expect, items_fit
from ..tools.sql import Asked, Finding, check
from .effects import Body, do
from .feedback import describe
from .records import Attempt, load
from .resources import Run
from .state import AgentState


def assess(attempt: Attempt, state: AgentState, run: Run) -> Body[tuple[Attempt, tuple[Finding, ...]]]:
    """The attempt with its findings and fit, and the findings themselves."""
    schema = yield from do(run.resources.database.schema)

    def look() -> tuple[tuple[Finding, ...], float | None]:
        asked = Asked(state["question"])
        return check(attempt.sql, schema, values=run.resources.values, asked=asked), _fit(attempt.sql, state, schema)

    findings, fit = yield from do(look)
    assessed = replace(
        attempt,
        findings=tuple(describe(finding) for finding in findings if finding.severity != "info"),
        faults=sum(finding.severity == "error" for finding in findings),
        fit=fit,
    )
    return assessed, findings


def _fit(sql: str, state: AgentState, schema: Schema) -> float | None:
    """How probable the query's form and its schema items are for the question.

    A later turn's words are read in their self-contained form; where there is none, they tell no form.
    """
    linked = items_fit(sql, schema, [(table, column, p) for table, column, p in state.get("items", [])])
    rephrased = load(Rephrasing, state["rephrasing"]).rephrased
    first = not state.get("turns")
    if not first and rephrased == state["question"]:
        return linked
    form = expect(state["question"] if first else rephrased).fit(sql)
    if form is None or linked is None:
        return form
    return form + linked
