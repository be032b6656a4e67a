"""What is known of an attempt without asking a model: static findings, and how it fits the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from ...tools.database import Schema
from ...tools.expectation import Expectation, LinkedItem, expect, items_fit
from ...tools.sql import Finding, Query, check, searched_literals
from ...tools.sql.parse import analysis_or
from ..advice import advise
from ..context.inputs import readable_turns
from ..effects import Body, do
from ..records import Attempt, Reach, Turn
from ..resources import Run
from ..state import AgentState, turn_of
from .feedback import describe

CHECKED_LENGTH = 50_000
"""Longest query that is looked at, in characters, as long as one may be by default: about two seconds of checks."""


def look_at(attempt: Attempt, state: AgentState, run: Run) -> Body[tuple[Attempt, tuple[Finding, ...]]]:
    """Give the attempt with its findings, its fit, and what it looks for; and the findings themselves."""
    # Of a locked table nothing can be asked either.
    if len(attempt.sql) > CHECKED_LENGTH or attempt.error_kind == "locked":
        return attempt, ()
    turn = turn_of(state)
    several = turn.candidates > 1

    def look() -> tuple[tuple[Finding, ...], Attempt]:
        sql, values, database = attempt.sql, run.resources.values, run.resources.database
        schema = database.schema()
        findings = check(sql, schema, values=values, compiles=database.compile_check)
        return findings, replace(
            attempt,
            fit=_fit(sql, _expected(state, turn, run, schema.dialect), schema, turn.items) if several else None,
            literals=searched_literals(sql, schema, values),
            findings=tuple(describe(finding) for finding in findings if finding.severity != "info"),
            reach=_reach(sql, schema, turn.items),
            never=tuple(_fact(finding) for finding in findings if finding.kind == "always_empty"),
        )

    findings, looked_at = yield from do(lambda: advise("checks", look, ((), attempt)))
    return looked_at, findings


def _fact(finding: Finding) -> str:
    """Return what a finding says as a part of a sentence."""
    return finding.message.rstrip(".").replace(" never holds: ", " never holds, because ")


@analysis_or(None)
def _reach(sql: str, schema: Schema, items: Sequence[LinkedItem]) -> Reach | None:
    """See `Reach`."""
    query = Query.of(sql, schema.dialect, schema)
    expected = {(table, column): p for table, column, p in items}
    names: set[tuple[str, str | None]] = {*((table, None) for table in query.tables), *query.used.columns}
    unexpected = sum(1 - expected.get(name, 0.0) for name in names) if expected else 0.0
    joins, selects = (sum(1 for _ in query.tree.find_all(kind)) for kind in (exp.Join, exp.Select))
    return Reach(round(unexpected, 3), joins, selects - 1)


def _fit(sql: str, expected: Expectation | None, schema: Schema, items: Sequence[LinkedItem]) -> float | None:
    """How probable the query's form and its schema items are for the question."""
    linked = items_fit(sql, schema, items)
    form = None if expected is None else expected.fit(sql, schema.dialect)
    if form is None or linked is None:
        return linked if expected is None else form
    return form + linked


def _expected(state: AgentState, turn: Turn, run: Run, dialect: str) -> Expectation | None:
    """The form that the question lets expect.

    A later turn's words are read after the query of the turn before; where that one has none, in their self-contained
    form, and where there is no such form either, nothing is expected.
    """
    past = readable_turns(state, run) if state.get("turns") else ()
    if not past:
        return expect(turn.question)
    if past[-1].sql:
        return expect(turn.question, past[-1].sql, dialect)
    rephrased = turn.rephrasing.rephrased
    return expect(rephrased) if rephrased != turn.question else None
