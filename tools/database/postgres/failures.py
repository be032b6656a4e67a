"""What PostgreSQL's errors mean, by their codes."""

from __future__ import annotations

import psycopg

from ...errors import (
    DatabaseUnavailable,
    QueryErrorKind,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    ResultTooLarge,
    TableturnError,
)
from ..server.connection import ConnectionLost

TOO_LARGE = "tableturn: a value or row is too large"
"""What a statement makes the server say of a row that may not be sent."""

_KINDS: dict[str, QueryErrorKind] = {
    "42P01": "unknown_table",
    "42703": "unknown_column",
    "42702": "ambiguous_column",
    "42P09": "ambiguous_column",
    "42803": "aggregate_misuse",
    "42P20": "aggregate_misuse",
    "42601": "syntax",
    "42P02": "syntax",
}
_UNDEFINED_FUNCTION = "42883"
_CANCELLED = ("57014", "55P03", "25P03")
_REFUSED = ("25006", "42501")
_GONE = ("08", "57P")
_RESOURCES = ("53", "54")


def failure(error: psycopg.Error, longest: int) -> TableturnError | ConnectionLost:
    """The typed error for what psycopg raised.

    Args:
        error: What was raised.
        longest: The most bytes that a value could have.
    """
    code = error.sqlstate or ""
    message = " ".join((error.diag.message_primary or str(error)).split())[:300]
    if TOO_LARGE in message:
        return ResultTooLarge(f"a value has more than {longest:,} bytes, or a row too many: select less of it")
    if not code or code.startswith(_GONE):
        return ConnectionLost(message) if isinstance(error, psycopg.OperationalError) else QueryFailed(message)
    if code in _CANCELLED:
        return QueryTimeout(message)
    if code in _REFUSED:
        return QueryRejected(f"the database refuses: {message}")
    if code.startswith(_RESOURCES):
        return ResultTooLarge(message)
    if code.startswith("28"):
        return DatabaseUnavailable(message)
    if code == _UNDEFINED_FUNCTION:
        return QueryFailed(message, "unknown_function" if message.startswith("function") else "other")
    kind = _KINDS.get(code)
    if kind == "unknown_table" and "FROM-clause" in message:
        # A column's table that the statement doesn't read has the same code as a table that is not there.
        kind = "unknown_column"
    return QueryFailed(message, kind)
