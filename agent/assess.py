"""What can be told of an attempt without asking a model: static findings, and how it fits the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..prompts.replies import Rephrasing
from ..tools.database import Schema
from ..tools.errors import SQLParseError
from ..tools.expectation import Expectation, LinkedItem, expect, items_fit
from ..tools.linking import STAR, PastTurn
from ..tools.sql import Asked, Finding, check, sought, used_items
from ..tools.values import ValueMatch
from .effects import Body, do
from .feedback import describe
from .records import Attempt, load, load_all
from .resources import Run
from .settings import Settings
from .state import AgentState
from .straying import LIKELY


def assess(attempt: Attempt, state: AgentState, run: Run) -> Body[tuple[Attempt, tuple[Finding, ...]]]:
    """The attempt with its findings, its fit, what it names and looks for, and the findings themselves."""
    schema = yield from do(run.resources.database.schema)
    items: list[LinkedItem] = [(table, column, p) for table, column, p in state.get("items", [])]

    def look() -> tuple[tuple[Finding, ...], Attempt]:
        sql = attempt.sql
        found = check(sql, schema, values=run.resources.values, asked=_asked(state, run.settings))
        return found, replace(
            attempt,
            fit=_fit(sql, state, schema, items),
            named=_named(sql, schema, items),
            sought=sought(sql, schema, run.resources.values),
        )

    findings, fitted = yield from do(look)
    assessed = replace(
        fitted,
        findings=tuple(describe(finding) for finding in findings if finding.severity != "info"),
        faults=sum(finding.severity == "error" for finding in findings),
    )
    return assessed, findings


def _asked(state: AgentState, settings: Settings) -> Asked:
    """The question, with the values that it mentions beyond doubt."""
    values = load_all(ValueMatch, state.get("values"))
    return Asked(state["question"], tuple(match for match in values if match.score >= settings.gate_value_score))


def _named(sql: str, schema: Schema, items: Sequence[LinkedItem]) -> tuple[str, ...]:
    try:
        used = used_items(sql, schema).columns
    except SQLParseError:
        return ()
    likely = {(table, column) for table, column, p in items if column and column != STAR and p >= LIKELY}
    return tuple(sorted({column.lower() for _, column in likely & used}))


def _fit(sql: str, state: AgentState, schema: Schema, items: Sequence[LinkedItem]) -> float | None:
    """How probable the query's form and its schema items are for the question.

    A later turn's words are read after the query of the turn before; where that one has none, in their self-contained
    form, and where there is no such form either, they tell nothing.
    """
    linked = items_fit(sql, schema, items)
    expected = _expected(state)
    form = None if expected is None else expected.fit(sql)
    if form is None or linked is None:
        return linked if expected is None else form
    return form + linked


def _expected(state: AgentState) -> Expectation | None:
    turns = state.get("turns")
    if not turns:
        return expect(state["question"])
    before = load(PastTurn, turns[-1]).sql
    if before:
        return expect(state["question"], before)
    rephrased = load(Rephrasing, state["rephrasing"]).rephrased
    return expect(rephrased) if rephrased != state["question"] else None
