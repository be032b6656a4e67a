"""Profiles: an engine's particulars as data, from the `data/profile.toml` beside it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from ..errors import (
    DatabaseUnavailable,
    QueryErrorKind,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    ResultTooLarge,
    TableLocked,
    TableturnError,
)


class ConnectionLost(Exception):
    """The error for a connection that the server closed before answering."""


@dataclass(frozen=True)
class EngineProfile:
    """An engine's allowed functions, error codes and setup statements.

    Attributes:
        functions: The functions that queries may call, in lower case.
        syntax: Kinds of syntax that queries may use beyond those of every dialect, by sqlglot's names.
        operators: Operators of plans that neither read a table nor do anything.
        reserved_prefix: How names of CTEs may not begin: the server would look up system tables by them.
        faults: What codes of errors mean, as `make_error` tells it, or the kind of mistake in a statement; `08*` stands
            for every code that begins with 08.
        messages: What messages tell of mistakes, where there are no codes: the first that fits.
        setup: What a new connection is told.
        begin: What begins a transaction that only reads, and ends its statements in time.
        statements: Other statements of ours, by what they are for.
        actions: What a statement would do beside reading, in words, by the engine's name of it.
        in_names_tables: Whether a name after IN is that of a table.
    """

    functions: frozenset[str]
    syntax: frozenset[str]
    operators: frozenset[str]
    reserved_prefix: str
    faults: Mapping[str, Any]
    messages: tuple[tuple[QueryErrorKind, re.Pattern[str]], ...]
    setup: tuple[str, ...]
    begin: tuple[str, ...]
    statements: Mapping[str, str]
    actions: Mapping[str, str]
    in_names_tables: bool

    def make_error(self, code: str, message: str) -> TableturnError | ConnectionLost:
        """Return the typed error for an engine's error code and message."""
        codes = (code, *(f"{code[:length]}*" for length in range(1, len(code))))
        match meaning := next((self.faults[key] for key in codes if key in self.faults), None):
            case "lost":  # the server hung up, or is gone
                return ConnectionLost(message)
            case "locked":
                return TableLocked("a table is locked by another program: try again later")
            case "ended":  # the statement was interrupted, or its time was over
                return QueryTimeout(message)
            case "refused":  # the login may not do it
                return QueryRejected(f"the database refuses: {message}")
            case "large":  # it takes more memory or disk than there is
                return ResultTooLarge(message)
            case "login":  # the server does not let the login in
                return DatabaseUnavailable(message)
            case _:
                return QueryFailed(message, meaning)

    def find_error_kind(self, message: str) -> QueryErrorKind | None:
        """Return the kind of query error that a message describes; None if unknown."""
        return next((kind for kind, pattern in self.messages if pattern.search(message)), None)

    def make_begin_sql(self, seconds: float) -> tuple[str, ...]:
        """Return the statements that begin a transaction with a time limit per statement."""
        limit = max(2, round(seconds * 1_000))
        # Shorter than the statement's own limit, so that the server says which of the two passed.
        times = {"lock": min(1_000, limit // 2), "idle": limit + 30_000, "seconds": limit / 1_000}
        return tuple(statement.format(milliseconds=limit, **times) for statement in self.begin)


@cache
def read_engine_profile(package: str, variant: str = "") -> EngineProfile:
    """Return the profile of the engine in a package, or of one kind of its servers."""
    data = tomllib.loads(files(package).joinpath("data", "profile.toml").read_text(encoding="utf-8"))
    other: dict[str, Any] = data.get(variant, {})
    meanings = {**data.get("faults", {}), **data.get("kinds", {})}
    data |= other | {"statements": data.get("statements", {}) | other.get("statements", {})}
    return EngineProfile(
        *(frozenset(data.get(name, "").split()) for name in ("functions", "syntax", "operators")),
        reserved_prefix=str(data.get("reserved", "")),
        faults={code: meaning for meaning, codes in meanings.items() for code in codes.split()},
        messages=tuple((kind, re.compile("|".join(patterns))) for kind, patterns in data.get("messages", {}).items()),
        setup=tuple(data.get("setup", ())),
        begin=tuple(data.get("begin", ())),
        statements=data["statements"],
        actions=data.get("actions", {}),
        in_names_tables=bool(data.get("in_names_tables", False)),
    )
