"""Queries that a person runs beside turns: each adds a line to the audit trail, as a turn does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from ...tools.errors import QueryError, TableturnError
from ...tools.examples import database_identity
from ..audit import queried

if TYPE_CHECKING:
    from ...tools.database import Cancellation, Limits, Table
    from ..resources import Resources

R = TypeVar("R")


@dataclass(frozen=True)
class Query:
    """What is run, and of which answer.

    Attributes:
        sql: The query.
        question: Of the answer whose query it is, or in whose place it runs; empty where there is none.
        thread: That answer's conversation.
    """

    sql: str
    question: str = ""
    thread: str = ""


def run_query(query: Query, resources: Resources, limits: Limits, cancellation: Cancellation | None = None) -> Table:
    """Runs a query that a person wrote.

    Raises:
        QueryError: It does not run.
        AuditError: It cannot be written down.
    """

    def call() -> Table:
        outcome = resources.tools.run_sql.call(sql=query.sql, limits=limits, cancellation=cancellation)
        if isinstance(outcome, QueryError):
            raise outcome
        return outcome

    return written_down(query, "run", resources, call, lambda table: len(table.rows))


def written_down(
    query: Query, status: str, resources: Resources, function: Callable[[], R], rows: Callable[[R], int]
) -> R:
    """What a function gives that runs a query, which is written down before it is given.

    Args:
        query: The query.
        status: What is done with its rows: `run`, `read` (page by page), `exported`.
        resources: Of whoever does it.
        function: Does it.
        rows: Tells how many rows there were.

    Raises:
        AuditError: It cannot be written down.
    """
    audit, database = resources.audit, resources.database
    if audit is None:
        return function()
    written = (query.sql, query.question, database.session.identity, query.thread, database_identity(database))
    try:
        result = function()
    except TableturnError as error:
        refused = isinstance(error, QueryError) and error.kind == "rejected"
        audit.write(queried(*written, "error", error=type(error).__name__, refused=(query.sql,) if refused else ()))
        raise
    audit.write(queried(*written, status, rows=rows(result)))
    return result
