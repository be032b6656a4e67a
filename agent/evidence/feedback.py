"""Findings about an attempt without asking a model, and the feedback for a revision."""

from __future__ import annotations

import csv
import io
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from sqlglot import exp

from ...prompts.templating import estimate_tokens
from ...tools.database import Schema
from ...tools.errors import QueryError
from ...tools.expectation import ExpectedTraits, LinkedItem, predict_query_traits, score_used_items
from ...tools.sql import Finding, Query, check, find_searched_literals, read_query
from ...tools.values import ValueMatch
from ...tools.words import stem_name
from ..advice import call_with_fallback
from ..context.task_inputs import is_non_english_question, list_readable_turns
from ..effects import Body, do
from ..records import Attempt, CodeResult, PlainResult, QueryComplexity, Turn
from ..resources import Run
from ..settings import Settings
from ..state import AgentState, load_turn
from .choose_attempt import find_near_miss_literal, is_empty_or_zero_result

CHECKED_LENGTH = 50_000
"""Longest query that is looked at, in characters, as long as one may be by default: about two seconds of checks."""


def check_attempt(attempt: Attempt, state: AgentState, run: Run) -> Body[tuple[Attempt, tuple[Finding, ...]]]:
    """Check the query of an attempt; return the attempt with the findings, and the findings."""
    # Of a locked table nothing can be asked either.
    if len(attempt.sql) > CHECKED_LENGTH or attempt.error_kind == "locked":
        return attempt, ()
    turn = load_turn(state)
    several = turn.candidates > 1

    def run_checks() -> tuple[tuple[Finding, ...], Attempt]:
        sql, values, database = attempt.sql, run.resources.values, run.resources.database
        schema = database.schema()
        # What the linker and the form expect of a question they read from its English words.
        foreign = is_non_english_question(turn, schema)
        # With the gate an absent value is what the engine says is absent: the index compares otherwise.
        index = None if run.settings.gate else values
        findings = check(sql, schema, values=index, compiles=database.compile_check)
        query, expects = read_query(sql, schema), several and not foreign
        is_empty = attempt.result is not None and is_empty_or_zero_result(attempt.result)
        # Where nobody is named, a policy may hide the rows that have a value.
        is_hidden = query is not None and not database.personal_tables.isdisjoint(query.tables)
        has_row = None if is_hidden or turn.approve or run.settings.approve else _make_row_lookup(run)
        return findings, replace(
            attempt,
            fit=_score_query_fit(query, _predict_query_form(state, turn, run, schema), turn.items)
            if query and expects
            else None,
            literals=find_searched_literals(query, values, has_row, is_empty=is_empty) if query else (),
            findings=tuple(format_finding(finding) for finding in findings if finding.severity != "info"),
            reach=_measure_query_complexity(query, () if foreign else turn.items) if query else None,
            never=tuple(
                finding.message.rstrip(".").replace(" never holds: ", " never holds, because ")
                for finding in findings
                if finding.kind in ("always_empty", "never_holds")
            ),
        )

    findings, looked_at = yield from do(lambda: call_with_fallback("checks", run_checks, ((), attempt)))
    return looked_at, findings


LOOKUP_SECONDS = 0.3
"""Seconds that all searches of a query for rows with what it looks for may take."""


def _make_row_lookup(run: Run) -> Callable[[str], bool]:
    """Return a function that asks the engine for a row; True if no answer comes in time."""
    until = time.monotonic() + min(LOOKUP_SECONDS, run.settings.query_seconds)

    def has_row(sql: str) -> bool:
        seconds = until - time.monotonic()
        limits = replace(run.settings.limits, rows=1, seconds=seconds)
        try:
            return seconds <= 0 or bool(run.resources.masked_database.execute(sql, limits, run.cancellation).rows)
        except QueryError:
            return True

    return has_row


def _measure_query_complexity(query: Query, items: Sequence[LinkedItem]) -> QueryComplexity:
    """Return the numbers of unexpected names, joins and nested queries in a query."""
    expected = {(table, column): p for table, column, p in items}
    names: set[tuple[str, str | None]] = {*((table, None) for table in query.tables), *query.usage.columns}
    unexpected = sum(1 - expected.get(name, 0.0) for name in names) if expected else 0.0
    return QueryComplexity(round(unexpected, 3), len(query.find(exp.Join)), query.usage.selects - 1)


def _score_query_fit(query: Query, traits: ExpectedTraits | None, items: Sequence[LinkedItem]) -> float | None:
    """Return a score of how well a query's form and schema items fit the question."""
    item_fit = score_used_items(query, items)
    if traits is None:
        return item_fit
    form = traits.fit(query)
    return form if form is None or item_fit is None else form + item_fit


def _predict_query_form(state: AgentState, turn: Turn, run: Run, schema: Schema) -> ExpectedTraits | None:
    """Return the query form that the question suggests; None if nothing is expected.

    A later turn's words are read after the query of the turn before; where that one has none, in their self-contained
    form, and where there is no such form either, nothing is expected.
    """
    past = list_readable_turns(state, run) if state.get("turns") else ()
    if not past:
        return predict_query_traits(turn.question)
    if past[-1].sql:
        return predict_query_traits(turn.question, read_query(past[-1].sql, schema))
    wording = turn.rephrasing.rephrased
    return predict_query_traits(wording) if wording != turn.question else None


P = TypeVar("P", int, str)

COLUMNS_SHOWN = 12  # columns whose contents are shown at most
_CELL = 80  # characters of one value
_TOKENS = 1_500  # of one part of the feedback, by our own estimate


def format_problems(attempt: Attempt, findings: Sequence[Finding], settings: Settings) -> str:
    """Return an attempt's error and the findings, one per line, without repetition."""
    lines: list[str] = []
    main: Finding | None = None
    if attempt.error and settings.feedback_error and settings.feedback_names:
        # The checks know the nearest right names, and say what failed no worse than the database does.
        of_kind = (finding for finding in findings if finding.kind == attempt.error_kind)
        main = next((finding for finding in of_kind if finding.severity == "error"), None)
        lines.append(f"The query failed ({attempt.error_kind}): {format_finding(main) if main else attempt.error}")
    elif attempt.error and settings.feedback_error:
        lines.append(attempt.error)
    elif attempt.result is not None and not attempt.result.rows and settings.feedback_findings:
        lines.append("The query ran but gave no rows.")
    if settings.feedback_findings:
        if settings.gate and (sought := find_near_miss_literal(attempt)):
            lines.append(f"No row of {sought.table} has {sought.describe_condition(sought.column)}.")
        lines += [format_finding(finding) for finding in findings if finding.severity != "info" and finding is not main]
    return "\n".join(dict.fromkeys(lines))


def format_finding(finding: Finding) -> str:
    """Return a finding as one line of text; a doubt becomes a question."""
    if not finding.proof:
        return (
            f"{finding.message} Is that meant{f', or should one {finding.suggestion}' if finding.suggestion else ''}?"
        )
    return f"{finding.message} {finding.suggestion}".rstrip()


def format_values(sql: str, schema: Schema, matches: Sequence[ValueMatch]) -> str:
    """List the values that the question mentions, and sample values of the query's columns."""
    names = [name for table in schema.tables for name in (table.name, *(column.name for column in table.columns))]
    stems = frozenset(stem for name in names for stem in stem_name(name))
    # Part of a value may be found only because the question names a column so: "city" is no Boise City.
    values = (match for match in matches if match.how != "part" or not stems.issuperset(stem_name(match.mention)))
    lines = [f"{match.table}.{match.column} holds {_format_held_value(match.value)}" for match in values]
    query = read_query(sql, schema)
    places = sorted(query.usage.columns) if query else []
    columns = [(table, column) for table, name in places if (column := schema.column(table, name)) and column.samples]
    for table, column in columns[:COLUMNS_SHOWN]:
        samples = ", ".join(map(_format_held_value, column.samples))
        has_all = column.distinct is not None and column.distinct <= len(column.samples)
        lines.append(f"{table}.{column.name}: {samples}{'' if has_all else ', ...'}")
    return "\n".join(_limit_parts_to_tokens(lines, _TOKENS))


def format_result_csv(result: PlainResult, rows: int = 10, *, characters: int = _CELL, tokens: int = _TOKENS) -> str:
    """Return the first rows and columns of a result as CSV, with the total numbers."""
    head = [_format_cell(name, characters) for name in result.columns]
    cells = [[_format_cell(cell, characters) for cell in row] for row in result.rows[:rows]]
    # The widest column names and values have to leave room for a second line.
    costs = (max(estimate_tokens(row[number]) for row in [head, *cells]) + 1 for number in range(len(head)))
    wide = max(len(_limit_parts_to_tokens(costs, tokens // 2)), 1)
    lines = _limit_parts_to_tokens([_format_csv_line(row[:wide]) for row in [head, *cells]], tokens) or [
        _format_csv_line(head[:1])
    ]
    if len(lines) <= result.row_count or result.truncated:
        lines.append(f"... ({result.row_count}{' or more' if result.truncated else ''} rows in all)")
    if wide < len(head):
        lines.append(f"... ({len(head)} columns in all)")
    return "".join(f"{line}\n" for line in lines)


def _format_csv_line(cells: Sequence[str]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()


def format_code_csv(code: CodeResult | None) -> str:
    """Return the code's result as CSV, with the names of tables that were only sampled."""
    if code is None:
        return ""
    caption = f"Computed over a sample of the rows of {', '.join(code.sampled)}:\n" if code.sampled else ""
    return caption + format_result_csv(code.result)


def _limit_parts_to_tokens(parts: Iterable[P], tokens: int) -> list[P]:
    """Return the first parts that fit in a number of tokens; an integer part is a token count."""
    fitting: list[P] = []
    for part in parts:
        tokens -= part if isinstance(part, int) else estimate_tokens(part) + 1
        if tokens < 0:
            break
        fitting.append(part)
    return fitting


def _format_held_value(value: object) -> str:
    """Return a value as text, in quotes if there are spaces around it."""
    has_spaces = isinstance(value, str) and value != value.strip() and len(value.splitlines()) == 1
    return f"'{str(value)[:_CELL]}'" if has_spaces else _format_cell(value, _CELL)


def _format_cell(value: object, characters: int) -> str:
    text = "NULL" if value is None else repr(value) if isinstance(value, bytes) else str(value)
    text = " ".join(text.split())
    return text if len(text) <= characters else text[: characters - 1] + "…"
