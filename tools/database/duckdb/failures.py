"""What DuckDB's errors mean: by the class that the driver raises, and where that says too little, by the message."""

from __future__ import annotations

import re

import duckdb

from ...errors import (
    DatabaseUnavailable,
    QueryErrorKind,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    ResultTooLarge,
    TableturnError,
)

TOO_LONG = "tableturn: value too long"
"""How the message begins with which a statement, as it was written here, refuses to make a very long text."""

_LONGEST = 300
_SHOWN = re.compile(r"^(?:[A-Z]\w*|INTERRUPT|TransactionContext)(?: \w+)* Error: ")
# What DuckDB would offer instead may be a name that the session may not know; the rest repeats the statement.
_OFFERS = re.compile(
    r"\s*(?:Did you mean|Candidate bindings|Candidate functions|Candidate macros|LINE \d+:|Possible ).*", re.DOTALL
)
_KINDS: tuple[tuple[QueryErrorKind, re.Pattern[str]], ...] = (
    ("unknown_function", re.compile(r"Function with name .* does not exist")),
    ("unknown_table", re.compile(r"Table with name .* does not exist|(Schema|Catalog) .* does not exist")),
    ("ambiguous_column", re.compile(r"Ambiguous reference|ambiguous", re.IGNORECASE)),
    (
        "unknown_column",
        re.compile(
            r"Referenced (column|table) .* not found|does not have a column named|Column .* does not exist"
            r"|column .* (not found|does not exist)|not found in FROM clause"
        ),
    ),
    (
        "aggregate_misuse",
        re.compile(
            r"must appear in the GROUP BY|cannot contain aggregates|aggregate function calls cannot|GROUP BY clause"
            r"|aggregates? .*(not allowed|cannot)|cannot contain window functions|used in an aggregate"
        ),
    ),
    ("syntax", re.compile(r"syntax error|unterminated|Set operations can only apply|ORDER term out of range")),
    (
        "type_mismatch",
        re.compile(
            r"No function matches the given name and argument types|Could not choose a best candidate function"
            r"|Cannot (mix|compare) values of type|Cannot deduce template type|Could not parse string"
            r"|Could not convert|Unimplemented type for cast|can't be cast|field value out of range|Malformed JSON"
            r"|Cannot extract field|Type mismatch"
        ),
    ),
)


_ADDRESS = re.compile(r"(?:file )?\"tableturn://[^\"]*\"")
"""How an instance names a file to DuckDB."""


def failure(error: Exception, private: str = "") -> TableturnError:
    """The typed error for what the driver raised.

    Args:
        error: What was raised.
        private: A name of our own that no message may show.
    """
    whole = str(error)
    # What follows repeats the statement, whose own texts tell nothing of the error.
    told = _OFFERS.sub("", _ADDRESS.sub("the file", whole.partition("Stack Trace:")[0]))
    if TOO_LONG in told:
        return ResultTooLarge("the query makes a text, or a list, that is too long: ask for less")
    message = _SHOWN.sub("", told) or whole
    message = " ".join((message.replace(f"{private}.", "") if private else message).split())[:_LONGEST]
    if isinstance(error, duckdb.InterruptException):
        return QueryTimeout(message)
    if isinstance(error, duckdb.OutOfMemoryException | MemoryError):
        return ResultTooLarge(
            "the query needs more memory or temporary disk than it may use: ask for less, or aggregate"
        )
    if isinstance(error, duckdb.PermissionException):
        return QueryRejected("the statement reaches for something outside the database")
    if isinstance(error, duckdb.IOException | duckdb.FatalException | duckdb.InternalException):
        return DatabaseUnavailable(f"the database cannot be read: {message}")
    if isinstance(error, duckdb.ParserException):
        return QueryFailed(message, "syntax")
    return QueryFailed(message, _kind(told))


def _kind(message: str) -> QueryErrorKind | None:
    return next((kind for kind, pattern in _KINDS if pattern.search(message)), None)
