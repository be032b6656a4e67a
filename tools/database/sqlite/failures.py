"""What SQLite's refusals mean, in the terms that feedback to a person or a model is written in."""

from __future__ import annotations

import re
import sqlite3

from ...errors import QueryError, QueryErrorKind, QueryFailed, QueryRejected, ResultTooLarge, TableLocked
from .guard import Refusal

_LONGEST = 300

_KINDS: tuple[tuple[QueryErrorKind, re.Pattern[str]], ...] = (
    ("unknown_table", re.compile(r"^no such (table|view)\b")),
    ("unknown_column", re.compile(r"^no such column\b|^cannot join using column|has no column named")),
    ("ambiguous_column", re.compile(r"^ambiguous column name\b")),
    (
        "aggregate_misuse",
        re.compile(
            r"^misuse of (aliased )?(aggregate|window)|aggregate functions are not allowed|HAVING clause on a non-agg"
            r"|GROUP BY clause is required before HAVING|may not be used as a window function"
            r"|^window functions? .*(require|not allowed|misuse)|DISTINCT aggregates must have exactly one"
        ),
    ),
    ("unknown_function", re.compile(r"^no such function\b|^wrong number of arguments to function\b")),
    ("type_mismatch", re.compile(r"^datatype mismatch")),
    (
        "too_large",
        re.compile(
            r"too big|too large|^too many|stack overflow|pattern too complex|^at most \d+ tables|out of memory"
            r"|is full$|string longer than"
        ),
    ),
    (
        "syntax",
        re.compile(
            r"^near .*syntax error|^incomplete input|^unrecognized token|syntax error$|^SELECTs to the left and right"
            r"|^(ORDER BY|LIMIT) clause should come|^sub-select returns|^no tables specified|row value misused"
            r"|term (out of range|does not match)|^a JOIN clause is required|only execute one statement"
            r"|^all VALUES must have the same number|^a NATURAL join may not|JOIN .*not (currently )?supported"
            r"|values for \d+ columns|^circular reference|^multiple (recursive )?references|^no such (window|index)"
            r"|^Incorrect number of bindings|contains a null character|surrogates not allowed"
        ),
    ),
)

# What SQLite says where a temporary file could not be opened or written.
_NO_ROOM = (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_CANTOPEN)

_LOCKED = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PRIMARY = 0xFF

# What SQLite up to 3.40 asks about when a table function is first used; it checks real updates before it asks.
_DECLARES = "updates sqlite_master"
_WRITES = re.compile(r"may not be (modified|dropped|altered|indexed)|^cannot modify|readonly database")


def _code(error: Exception) -> int:
    return getattr(error, "sqlite_errorcode", 0)


def classify(message: str) -> QueryErrorKind:
    """The kind of failure that one of SQLite's messages tells of."""
    for kind, pattern in _KINDS:
        if pattern.search(message):
            return kind
    return "other"


def failure(error: Exception, sql: str, refusal: Refusal | None, longest: int) -> QueryError:
    """The typed error for what SQLite or Python's binding raised.

    Args:
        error: What was raised.
        sql: The statement.
        refusal: What the guard refused meanwhile, if anything.
        longest: The most bytes that a value could have.
    """
    whole = " ".join(str(error).split())
    message = _shortened(whole)
    if refusal is not None:
        return refused(refusal, sql)
    if _code(error) & _PRIMARY in _LOCKED:
        return TableLocked("the database is locked by another program: try again later")
    if "one statement at a time" in message:
        return QueryRejected("only one statement may be run at a time: send a single SELECT")
    if _WRITES.search(message):
        return QueryRejected(f"this connection only reads: {message}")
    if isinstance(error, MemoryError):
        return ResultTooLarge("the query needs more memory than it may use: ask for less, or aggregate")
    if "number of bindings" in message:
        return QueryFailed("the query has placeholders (? or :name): write the values themselves", "syntax")
    if "null character" in message:
        return QueryFailed("the query contains a NUL character", "syntax")
    if isinstance(error, UnicodeDecodeError):
        return QueryFailed("the database holds a name that is not valid text: its file may be damaged")
    if isinstance(error, UnicodeEncodeError):
        return QueryFailed("the query is not valid Unicode text", "syntax")
    if _code(error) in _NO_ROOM:
        return ResultTooLarge("the query needs more temporary disk space than it may use: ask for less, or aggregate")
    kind = classify(whole)
    if kind == "too_large":
        return ResultTooLarge(f"{message}: it may have {longest:,} bytes" if "blob" in message else message)
    return QueryFailed(message or type(error).__name__, kind)


def refused(refusal: Refusal, sql: str) -> QueryError:
    """The error for what the guard refused. What is hidden looks as if it did not exist."""
    if refusal.what == "function":
        return QueryRejected(f"the function {refusal.name}() may not be used here")
    if refusal.what == "action" and refusal.name == _DECLARES:
        return QueryRejected("the statement uses a table function or a virtual table that may not be used here")
    if refusal.what == "action":
        return QueryRejected(f"this connection only reads, but the statement {refusal.name}: write a SELECT")
    if refusal.what == "table":
        return QueryFailed(f"no such table: {refusal.name}", "unknown_table")
    if refusal.what == "row":
        return QueryFailed("no such column: rowid", "unknown_column")
    if re.search(rf"(?<!\w){re.escape(refusal.column)}(?!\w)", sql, re.IGNORECASE):
        return QueryFailed(f"no such column: {refusal.column}", "unknown_column")
    return QueryRejected(f"not every column of {refusal.name} may be read: name the columns instead of *")


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
