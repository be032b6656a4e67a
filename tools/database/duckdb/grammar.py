"""What a statement for DuckDB may be made of, and what its errors mean."""

from __future__ import annotations

import re

import duckdb
from sqlglot.dialects.duckdb import DuckDB

from ...errors import (
    DatabaseUnavailable,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    ResultTooLarge,
    TableturnError,
)
from ..profile import read_profile
from ..server.reading import Grammar

PROFILE = read_profile(__package__ or "")

_LONGEST = 300
_SHOWN = re.compile(r"^(?:[A-Z]\w*|INTERRUPT|TransactionContext)(?: \w+)* Error: ")
# What DuckDB would offer instead may be a name that the session may not know; the rest repeats the statement.
_OFFERS = re.compile(
    r"\s*(?:Did you mean|Candidate bindings|Candidate functions|Candidate macros|LINE \d+:|Possible ).*", re.DOTALL
)
_FULL = "File too large"
"""What the kernel says where a temporary file is as large as it may be."""
_ADDRESS = re.compile(r"(?:file )?\"tableturn://[^\"]*\"")
"""How an instance names a file to DuckDB."""


def failure(error: Exception, private: str = "") -> TableturnError:
    """The typed error for what the driver raised."""
    whole = str(error)
    # What follows repeats the statement, whose own texts tell nothing of the error.
    told = _OFFERS.sub("", _ADDRESS.sub("the file", whole.partition("Stack Trace:")[0]))
    message = _SHOWN.sub("", told) or whole
    message = " ".join((message.replace(f"{private}.", "") if private else message).split())[:_LONGEST]
    if isinstance(error, duckdb.InterruptException):
        return QueryTimeout(message)
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError) or _FULL in told:
        return ResultTooLarge(
            "the query needs more memory or temporary disk than it may use: ask for less, or aggregate"
        )
    if isinstance(error, duckdb.PermissionException):
        return QueryRejected("the statement reaches for something outside the database")
    if isinstance(error, duckdb.IOException | duckdb.FatalException | duckdb.InternalException):
        return DatabaseUnavailable(f"the database cannot be read: {message}")
    if isinstance(error, duckdb.ParserException):
        return QueryFailed(message, "syntax")
    return QueryFailed(message, PROFILE.kind_of(told))


GRAMMAR = Grammar(DuckDB(), PROFILE.functions, fold=str.lower, kinds=PROFILE.syntax)
"""DuckDB's names ignore case, with quotes too."""
