"""The ledger of rows behind an answer, counted with the rights and limits of who asks."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from sqlglot import exp

from ...tools.database.table import Cell
from ...tools.errors import QueryError
from ...tools.labels import Labels
from ...tools.ledger import Ledger, NotCountedError, build_query_ledger
from ...tools.sql import Query, parse_query_tree
from ...tools.sql.scope import copy_source_node
from ..advice import with_fallback
from ..records import Attempt, Turn
from ..resources import Run
from ..state import AgentState, load_usage

SHORTEST_SECONDS, LONGEST_SECONDS = 0.1, 1.0
"""Seconds that counting may take at least, and at most; in between as long as the queries of the turn took."""


@with_fallback("ledger", None)
def make_row_ledger(
    attempt: Attempt, query: Query | None, state: AgentState, turn: Turn, run: Run, begin: Callable[[], None] | None
) -> Ledger | None:
    """Count the rows that an answer's query leaves out or repeats; None if off or not allowed.

    Runs queries, so call it within an effect. `begin`, if given, is called before the first one.
    """
    settings, resources, result = run.settings, run.resources, attempt.result
    if turn.approve or settings.approve or settings.ledger == "off" or result is None:
        return None
    if result.withheld:
        return Ledger(not_counted=("the rows: the query's result may not be sent to a model",))
    ran = load_usage(state).get("execute")
    beginning = [begin] if begin is not None else []
    until = time.monotonic() + min(max(SHORTEST_SECONDS, ran.seconds if ran is not None else 0.0), LONGEST_SECONDS)

    def run_count_query(sql: str) -> Sequence[Sequence[Cell]]:
        while beginning:
            beginning.pop()()
        seconds = until - time.monotonic()
        if seconds <= 0:
            raise NotCountedError("the count took too long")
        limits = replace(settings.limits, seconds=min(seconds, settings.limits.seconds))
        try:
            table = resources.masked_database.execute(sql, limits, run.cancellation)
        except QueryError as error:
            # The engine's own words may quote a value.
            raise NotCountedError("the count took too long" if error.kind == "timeout" else "counting failed") from None
        if table.withheld or table.truncated:
            raise NotCountedError("the count is withheld" if table.withheld else "there are too many groups")
        return table.rows

    def find_newest(table: str, column: str) -> str:
        # Where nobody is named, a policy may hide newer rows.
        return "" if table in resources.database.personal_tables else resources.newest.find(table, column)

    return build_query_ledger(
        query,
        run_count_query,
        newest=find_newest,
        examples=settings.ledger == "full",
        rows=() if result.truncated else result.rows,
        question=turn.question,
        ruled_tables=getattr(resources.database.engine, "ruled_tables", frozenset()),
    )


@with_fallback("checks", "")
def format_row_rules_note(query: Query, personal: frozenset[str], labels: Labels) -> str:
    """Return a note on tables whose rows depend on who asks; '' if the query reads none."""
    tables = sorted(personal & query.tables.keys())
    return labels.say("rows_by_person", tables=labels.join(tables)) if tables else ""


@with_fallback("checks", "")
def format_kept_totals_note(
    query: Query, kept: frozenset[str], chosen: Attempt, turn: Turn, run: Run, labels: Labels
) -> str:
    """Return which tables' rows of totals change a result; '' if it is the same without them.

    Runs a query, so call it within an effect.
    """
    read, result, resources = sorted(kept & query.tables.keys()), chosen.result, run.resources
    if not read or result is None or not query.find(exp.AggFunc, exp.Window, exp.Limit):
        return ""
    from ...tools.database.duckdb.total_queries import (
        make_kept_totals_condition,  # files have totals, servers have none
    )

    notices, without = resources.database.notices, query.edit()
    for source, table in (pair for scope in query.scopes for pair in scope.tables if pair[1].name in read):
        condition = make_kept_totals_condition(notices, table) or "true"
        (others,) = parse_query_tree(f"SELECT NOT {condition}", query.schema.dialect).expressions
        rest = exp.select("*").from_(copy_source_node(source), copy=False).where(others, copy=False)
        without.of(source.node).replace(rest.subquery(source.label, copy=False))
    with suppress(QueryError):  # if nobody can tell, there may be some
        if not (turn.approve or run.settings.approve or result.truncated):
            limits = replace(run.settings.limits, seconds=min(LONGEST_SECONDS, run.settings.limits.seconds))
            found = resources.masked_database.execute(without.sql, limits, run.cancellation)
            # Rows that are the same, or are there no more, add up no total; if none is left, nobody can tell.
            if (
                not found.withheld
                and (found.rows or not result.rows)
                and not _count_rows(found.rows) - _count_rows(result.rows)
            ):
                return ""
    return labels.say("kept_totals", tables=labels.join(read))


def _count_rows(rows: Sequence[Sequence[Cell]]) -> Counter[str]:
    """Count how often each row is there, but for what sums in another order differ in."""
    return Counter(str([f"{cell:.9g}" if isinstance(cell, float) else cell for cell in row]) for row in rows)
