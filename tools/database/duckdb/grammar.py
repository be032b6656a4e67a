"""What a statement for DuckDB may be made of, and how what could fill the memory at one step is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import duckdb
from sqlglot import exp
from sqlglot.dialects.duckdb import DuckDB
from sqlglot.generator import Generator

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

TOO_LONG = "tableturn: value too long"
"""How the message begins with which a statement, as it was written here, refuses to make a very long text."""

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
    if TOO_LONG in told:
        return ResultTooLarge("the query makes a text, or a list, that is too long: ask for less")
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


# The texts and lists that a single step makes are in nobody's books: DuckDB's limit on memory doesn't count them. A
# step works on 2,048 rows.
_TEXT = 20_000
_LIST = 100_000


def _repeat(writer: Generator, node: exp.Repeat) -> str:
    length = f"{writer.normalize_func('STRLEN')}(CAST({writer.sql(node.this)} AS TEXT))"
    return writer.func("REPEAT", node.this, _bounded(writer, node.args["times"], lambda times: f"{length} * ({times})"))


def _pad(writer: Generator, node: exp.Pad) -> str:
    filler = node.args.get("fill_pattern") or exp.Literal.string(" ")
    name = "LPAD" if node.args.get("is_left") else "RPAD"
    return writer.func(name, node.this, _bounded(writer, node.expression, lambda length: f"({length})"), filler)


def _bounded(writer: Generator, value: exp.Expr, size: Callable[[str], str]) -> str:
    """A number, or an error where it makes a text too long. What was written so is written the same again."""
    inner = value.args.get("default") if isinstance(value, exp.Case) else None
    if isinstance(inner, exp.Expr) and _guarded(writer, inner, size) == writer.sql(value):
        value = inner
    return _guarded(writer, value, size)


def _guarded(writer: Generator, value: exp.Expr, size: Callable[[str], str]) -> str:
    number, error = writer.sql(value), writer.normalize_func("ERROR")
    return f"CASE WHEN {size(number)} > {_TEXT} THEN CAST({error}('{TOO_LONG}') AS INT) ELSE {number} END"


def _series(writer: Generator, node: exp.GenerateSeries) -> str:
    if not (isinstance(node.parent, exp.Table) or _is_short(node)):
        raise ResultTooLarge("generate_series and range belong in FROM: SELECT x FROM range(100) AS series(x)")
    if node.args.get("is_end_exclusive"):
        return writer.func("RANGE", *(node.args.get(name) for name in ("start", "end", "step")))
    return writer.function_fallback_sql(node)


def _is_short(node: exp.GenerateSeries) -> bool:
    """Whether it is written out with numbers that are not far from each other."""
    bounds = [_number(node.args.get(name)) for name in ("start", "end")]
    step = _number(node.args["step"]) if node.args.get("step") else 1
    if bounds[0] is None or bounds[1] is None or not step:
        return False
    return abs(bounds[1] - bounds[0]) <= _LIST


def _number(node: Any) -> int | None:
    sign = 1
    if isinstance(node, exp.Neg):
        sign, node = -1, node.this
    return sign * int(node.this) if isinstance(node, exp.Literal) and node.is_int else None


GRAMMAR = Grammar(
    DuckDB(),
    PROFILE.functions,
    fold=str.lower,
    writes=((exp.Repeat, _repeat), (exp.Pad, _pad), (exp.GenerateSeries, _series)),
    kinds=PROFILE.syntax,
)
"""DuckDB's names ignore case, with quotes too."""
