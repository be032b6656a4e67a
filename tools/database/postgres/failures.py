"""What PostgreSQL's errors mean, by their codes."""

from __future__ import annotations

import re
from typing import Any

from ...errors import QueryFailed, ResultTooLarge, TableturnError
from ..server.connection import ConnectionLost
from ..server.lists import read_lists

TOO_LARGE = "tableturn: a value or row is too large"
"""What a statement makes the server say of a row that may not be sent."""

_LISTS = read_lists(__package__ or "")
_UNDEFINED_FUNCTION = "42883"
_NAMED = re.compile(r"function (?:\w+\.)?\"?(\w+)")
_GONE = ("08", "57P")


def failure(error: Any, longest: int) -> TableturnError | ConnectionLost:
    """Return the typed error for what a driver raised.

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
    if code == _UNDEFINED_FUNCTION:
        # One code stands for functions that are not there and for operators and functions of other types.
        named = _NAMED.match(message)
        unknown = named is not None and named[1].lower() not in _LISTS.functions
        return QueryFailed(message, "unknown_function" if unknown else "type_mismatch")
    if code == "42P01" and "FROM-clause" in message:
        # A column's table that the statement doesn't read has the same code as a table that is not there.
        return QueryFailed(message, "unknown_column")
    return _LISTS.faults.failure(code, message)
