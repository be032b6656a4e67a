"""What PostgreSQL's errors mean, by their codes."""

from __future__ import annotations

import re
from typing import Any

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
from .functions import FUNCTIONS

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
    "42804": "type_mismatch",
    "42846": "type_mismatch",
    "22P02": "type_mismatch",
    "22007": "type_mismatch",
    "22008": "type_mismatch",
}
_UNDEFINED_FUNCTION = "42883"
_NAMED = re.compile(r"function (?:\w+\.)?\"?(\w+)")
_CANCELLED = ("57014", "55P03", "25P03")
_REFUSED = ("25006", "42501")
_GONE = ("08", "57P")
_RESOURCES = ("53", "54")


def failure(error: Any, longest: int) -> TableturnError | ConnectionLost:
    """The typed error for what a driver raised.

    Args:
        error: A `psycopg.Error`, or one of psycopg2, which names the code otherwise.
        longest: The most bytes that a value could have.
    """
    code = getattr(error, "sqlstate", None) or getattr(error, "pgcode", None) or ""
    told = getattr(getattr(error, "diag", None), "message_primary", None)
    message = " ".join(str(told or error).split())[:300]
    if TOO_LARGE in message:
        return ResultTooLarge(f"a value has more than {longest:,} bytes, or a row too many: select less of it")
    if not code or code.startswith(_GONE):
        is_gone = any(kind.__name__ == "OperationalError" for kind in type(error).__mro__)
        return ConnectionLost(message) if is_gone else QueryFailed(message)
    if code in _CANCELLED:
        return QueryTimeout(message)
    if code in _REFUSED:
        return QueryRejected(f"the database refuses: {message}")
    if code.startswith(_RESOURCES):
        return ResultTooLarge(message)
    if code.startswith("28"):
        return DatabaseUnavailable(message)
    if code == _UNDEFINED_FUNCTION:
        return QueryFailed(message, _undefined(message))
    kind = _KINDS.get(code)
    if kind == "unknown_table" and "FROM-clause" in message:
        # A column's table that the statement doesn't read has the same code as a table that is not there.
        kind = "unknown_column"
    return QueryFailed(message, kind)


def _undefined(message: str) -> QueryErrorKind:
    """One code stands for functions that are not there and for operators and functions of other types."""
    named = _NAMED.match(message)
    return "unknown_function" if named is not None and named[1].lower() not in FUNCTIONS else "type_mismatch"
