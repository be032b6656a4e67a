"""What Spark's errors mean, by their conditions."""

from __future__ import annotations

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

TOO_LARGE = "tableturn: a value is too large"
"""What a statement makes the server say of a value that may not be sent."""

_KINDS: dict[str, QueryErrorKind] = {
    "TABLE_OR_VIEW_NOT_FOUND": "unknown_table",
    "SCHEMA_NOT_FOUND": "unknown_table",
    "UNRESOLVED_COLUMN": "unknown_column",
    "UNRESOLVED_FIELD": "unknown_column",
    "FIELD_NOT_FOUND": "unknown_column",
    "UNRESOLVED_USING_COLUMN_FOR_JOIN": "unknown_column",
    "AMBIGUOUS_REFERENCE": "ambiguous_column",
    "AMBIGUOUS_COLUMN_OR_FIELD": "ambiguous_column",
    "AMBIGUOUS_COLUMN_REFERENCE": "ambiguous_column",
    "MISSING_GROUP_BY": "aggregate_misuse",
    "MISSING_AGGREGATION": "aggregate_misuse",
    "GROUP_BY_AGGREGATE": "aggregate_misuse",
    "NESTED_AGGREGATE_FUNCTION": "aggregate_misuse",
    "INVALID_WHERE_CONDITION": "aggregate_misuse",
    "UNRESOLVED_ROUTINE": "unknown_function",
    "DATATYPE_MISMATCH": "type_mismatch",
    "CAST_INVALID_INPUT": "type_mismatch",
    "CAST_OVERFLOW": "type_mismatch",
    "CONVERSION_INVALID_INPUT": "type_mismatch",
    "CANNOT_PARSE_TIMESTAMP": "type_mismatch",
    "INCOMPATIBLE_COLUMN_TYPE": "type_mismatch",
    "UNEXPECTED_INPUT_TYPE": "type_mismatch",
    "PARSE_SYNTAX_ERROR": "syntax",
    "PARSE_EMPTY_STATEMENT": "syntax",
    "UNCLOSED_BRACKETED_COMMENT": "syntax",
}
_CANCELLED = ("OPERATION_CANCELED", "OPERATION_ABANDONED", "SPARK_JOB_CANCELLED")
_GONE = (
    "INVALID_HANDLE",
    "NO_ACTIVE_SESSION",
    "INVALID_SESSION_ID",
    "SESSION_CLOSED",
    "SESSION_NOT_FOUND",
    "SPARK_JOB_CANCELLED_SHUTDOWN",
)
_REFUSED_STATES = ("42501", "28000")
_STATUS_GONE = ("UNAVAILABLE", "ABORTED", "NOT_FOUND")
_STATUS_ENDED = ("CANCELLED", "DEADLINE_EXCEEDED")
_STATUS_LOGIN = ("UNAUTHENTICATED", "PERMISSION_DENIED")


def failure(error: Any, longest: int) -> TableturnError | ConnectionLost:
    """The typed error for what the client raised.

    Args:
        error: A `PySparkException`, an error of gRPC's, or what it raises once its channel is closed.
        longest: The most bytes that a value could have.
    """
    condition = str(_told(error, "getCondition") or "").partition(".")[0]
    state = str(_told(error, "getSqlState") or "")
    message = _one_line(str(_told(error, "getMessage") or error))
    if TOO_LARGE in message:
        return ResultTooLarge(f"a value has more than {longest:,} bytes: select less of it")
    if condition in _CANCELLED or any(f"[{each}]" in str(error) for each in _CANCELLED):
        return QueryTimeout(message)
    if condition in _GONE:
        return ConnectionLost(message)
    if state in _REFUSED_STATES:
        return QueryRejected(f"the database refuses: {message}")
    if not condition:
        return _by_status(_status(error), message)
    return QueryFailed(message, _KINDS.get(condition))


def _by_status(status: str, message: str) -> TableturnError | ConnectionLost:
    """The error of a call that got no answer from Spark itself."""
    if status in _STATUS_LOGIN:
        return DatabaseUnavailable(f"Spark refuses the login: {message}")
    if status in _STATUS_ENDED:
        return QueryTimeout(message)
    if status == "RESOURCE_EXHAUSTED":
        return ResultTooLarge(message)
    return ConnectionLost(message) if not status or status in _STATUS_GONE else QueryFailed(message)


def _status(error: Any) -> str:
    code = _told(error, "getGrpcStatusCode") or _told(error, "code")
    return str(getattr(code, "name", "") or "")


def _told(error: Any, method: str) -> Any:
    asked = getattr(error, method, None)
    return asked() if callable(asked) else None


def _one_line(message: str) -> str:
    """Without the condition, which is its class here, and without what follows: state, place, plan, stack."""
    for end in (" SQLSTATE: ", "\n\nJVM stacktrace", "\n== SQL"):
        message = message.partition(end)[0]
    if message.lstrip().startswith("["):
        message = message.partition("]")[2] or message
    return " ".join(message.split())[:300]
