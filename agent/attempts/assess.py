"""What is known of an attempt without asking a model: static findings, and how it fits the question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from ...tools.database import Schema
from ...tools.errors import SQLParseError
from ...tools.expectation import Expectation, LinkedItem, expect, items_fit
from ...tools.linking import STAR
from ...tools.sql import (
    PITFALLS,
    Asked,
    Finding,
    SearchedLiteral,
    check,
    parse_select,
    question_alone,
    searched_literals,
    used_items,
)
from ..advice import advise
from ..context.history import readable_turns
from ..effects import Body, do
from ..records import Attempt, Reach, Turn
from ..resources import Run
from ..state import AgentState, turn_of
from .compare import is_empty
from .departures import LIKELY
from .feedback import describe

CHECKED_LENGTH = 50_000
"""Longest query that is looked at, in characters, as long as one may be by default: about two seconds of checks."""


def assess(attempt: Attempt, state: AgentState, run: Run) -> Body[tuple[Attempt, tuple[Finding, ...]]]:
    """The attempt with its findings, its fit, what it names and looks for, and the findings themselves."""
    # Of a locked table nothing can be asked either.
    if len(attempt.sql) > CHECKED_LENGTH or attempt.error_kind == "locked":
        return attempt, ()
    turn = turn_of(state)
    asked = _asked(turn)

    def gives_row(probe: str) -> bool | None:
        """Tells nothing by what may not leave: what is found goes to the model."""
        outgoing = run.resources.outgoing
        return run.resources.database.gives_row(probe) if outgoing.level(probe) == "values" else None

    def look() -> tuple[tuple[Finding, ...], Attempt]:
        sql, values, database = attempt.sql, run.resources.values, run.resources.database
        schema = database.schema()
        findings = check(
            sql,
            schema,
            values=values,
            asked=asked,
            compiles=database.compile_check,
            gives_row=None if attempt.result is None else gives_row,
        )
        literals = searched_literals(sql, schema, values)
        in_vain = _looks_in_vain(attempt, literals)
        if in_vain:
            findings = tuple(replace(found, proof=found.proof or found.kind == "unknown_value") for found in findings)
        return findings, replace(
            attempt,
            fit=_fit(sql, _expected(state, turn, run, schema.dialect), schema, turn.items),
            named=_named(sql, schema, turn.items),
            literals=literals,
            findings=tuple(describe(finding) for finding in findings if finding.severity != "info"),
            pitfalls=tuple(finding.message for finding in findings if finding.kind in PITFALLS),
            faults=sum(finding.severity == "error" for finding in findings),
            repeats=_repeats(findings),
            proofs=max(sum(finding.proof for finding in findings), in_vain),
            reach=_reach(sql, schema, turn.items),
        )

    findings, assessed = yield from do(lambda: advise("checks", look, ((), attempt)))
    return assessed, findings


def _repeats(findings: Sequence[Finding]) -> bool | None:
    """See `Attempt.repeats`."""
    proofs = [finding.proof for finding in findings if finding.kind == "repeated_rows"]
    return (any(proofs) or None) if proofs else False


def _asked(turn: Turn) -> Asked | None:
    """The question in the person's own words, with the values that they surely mention.

    Not notes that came with it. Where somebody asked back, it is no longer the question alone that counts, and nothing
    is held against a query for it.
    """
    own = question_alone(turn.question)
    if not own or turn.clarifications:
        return None
    # Further on are the words of the self-contained form, which may be the model's.
    return Asked(own, tuple(match for match in turn.values if match.score >= 1 and match.end <= len(own)))


def _looks_in_vain(attempt: Attempt, literals: Sequence[SearchedLiteral]) -> bool:
    """Whether it gave nothing, and looks for a value that its column does not hold."""
    nothing = attempt.result is not None and is_empty(attempt.result)
    return nothing and not all(literal.held for literal in literals)


def _named(sql: str, schema: Schema, items: Sequence[LinkedItem]) -> tuple[str, ...]:
    try:
        used = used_items(sql, schema).columns
    except SQLParseError:
        return ()
    likely = {(table, column) for table, column, p in items if column and column != STAR and p >= LIKELY}
    return tuple(sorted({column.lower() for _, column in likely & used}))


def _reach(sql: str, schema: Schema, items: Sequence[LinkedItem]) -> Reach | None:
    """See `Reach`."""
    try:
        tree, used = parse_select(sql, schema.dialect), used_items(sql, schema)
    except SQLParseError:
        return None
    expected = {(table, column): p for table, column, p in items}
    names: set[tuple[str, str | None]] = {*((table, None) for table in used.tables), *used.columns}
    unexpected = sum(1 - expected.get(name, 0.0) for name in names) if expected else 0.0
    joins, selects = (sum(1 for _ in tree.find_all(kind)) for kind in (exp.Join, exp.Select))
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
