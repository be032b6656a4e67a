"""What an engine is, as data: the record that `data/profile.toml` beside it holds."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, get_args

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
    """The server hung up, or went away, before it had answered."""


@dataclass(frozen=True)
class FaultCodes:
    """The codes that a server's driver gives errors; `08*` stands for every code that begins with 08.

    Attributes:
        lost: The server hung up, or is gone.
        locked: Another program holds a table.
        ended: The statement was interrupted, or its time was over.
        refused: The login may not do it.
        large: It takes more memory or disk than there is.
        login: The server does not let the login in.
        kinds: Mistakes in a statement, each code with its kind.
    """

    lost: frozenset[str]
    locked: frozenset[str]
    ended: frozenset[str]
    refused: frozenset[str]
    large: frozenset[str]
    login: frozenset[str]
    kinds: dict[str, QueryErrorKind]

    def failure(self, code: str, message: str) -> TableturnError | ConnectionLost:
        """Return the typed error for a code."""
        codes = {code, *(f"{code[:length]}*" for length in range(1, len(code)))}
        if codes & self.lost:
            return ConnectionLost(message)
        if codes & self.locked:
            return TableLocked("a table is locked by another program: try again later")
        if codes & self.ended:
            return QueryTimeout(message)
        if codes & self.refused:
            return QueryRejected(f"the database refuses: {message}")
        if codes & self.large:
            return ResultTooLarge(message)
        if codes & self.login:
            return DatabaseUnavailable(message)
        return QueryFailed(message, self.kinds.get(code))


@dataclass(frozen=True)
class Profile:
    """What queries of an engine may use, what its errors mean, and what it is told and asked.

    Attributes:
        functions: The functions that queries may call, in lower case.
        syntax: Kinds of syntax that queries may use beyond those of every dialect, by sqlglot's names.
        operators: Operators of plans that neither read a table nor do anything.
        reserved: How names of common table expressions may not begin: the server would look up system tables by them.
        faults: What errors mean.
        messages: What messages tell of mistakes, where there are no codes: the first that fits.
        setup: What a new connection is told.
        modes: Modes of the server's own that a connection does without.
        begin: What begins a transaction that only reads, and ends its statements in time.
        statements: Other statements of ours, by what they are for.
        actions: What a statement would do beside reading, in words, by the engine's name of it.
    """

    functions: frozenset[str]
    syntax: frozenset[str]
    operators: frozenset[str]
    reserved: str
    faults: FaultCodes
    messages: tuple[tuple[QueryErrorKind, re.Pattern[str]], ...]
    setup: tuple[str, ...]
    modes: tuple[str, ...]
    begin: tuple[str, ...]
    statements: dict[str, str]
    actions: dict[str, str]

    def kind_of(self, message: str) -> QueryErrorKind | None:
        """Return what a message tells of a mistake."""
        return next((kind for kind, pattern in self.messages if pattern.search(message)), None)

    def begins(self, seconds: float) -> tuple[str, ...]:
        """Return what begins a transaction whose statements may take so long each."""
        limit = max(2, round(seconds * 1_000))
        # Shorter than the statement's own limit, so that the server says which of the two passed.
        times = {"milliseconds": limit, "lock": min(1_000, limit // 2), "idle": limit + 30_000, "seconds": seconds}
        return tuple(statement.format(**times) for statement in self.begin)


@cache
def read_profile(package: str, part: str = "") -> Profile:
    """Return the profile of the engine in a package, or of one of the kinds of server that it knows."""
    held = tomllib.loads(files(package).joinpath("data", "profile.toml").read_text(encoding="utf-8"))
    held = held.get(part, {}) if part else held
    mistakes = held.get("kinds", {})
    kinds = {code: kind for kind in get_args(QueryErrorKind) for code in mistakes.get(kind, "").split()}
    names = ("lost", "locked", "ended", "refused", "large", "login")
    faults = FaultCodes(**{name: _words(held.get("faults", {}), name) for name in names}, kinds=kinds)
    return Profile(
        _words(held, "functions"),
        _words(held, "syntax"),
        _words(held, "operators"),
        held.get("reserved", ""),
        faults,
        tuple((kind, re.compile("|".join(patterns))) for kind, patterns in held.get("messages", {}).items()),
        tuple(held.get("setup", ())),
        tuple(held.get("modes", "").split()),
        tuple(held.get("begin", ())),
        held.get("statements", {}),
        held.get("actions", {}),
    )


def _words(held: dict[str, Any], name: str) -> frozenset[str]:
    return frozenset(held.get(name, "").split())
