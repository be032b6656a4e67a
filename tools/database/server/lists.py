"""The lists of an engine, kept as data beside it: what its queries may use, and what its errors' codes mean."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, get_args

from ...errors import (
    DatabaseUnavailable,
    QueryErrorKind,
    QueryFailed,
    QueryRejected,
    QueryTimeout,
    ResultTooLarge,
    TableLocked,
    TableturnError,
)
from .connection import ConnectionLost


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
class EngineLists:
    """What `data/lists.toml` of an engine's package holds.

    Attributes:
        functions: The functions that queries may call, in lower case.
        syntax: Kinds of syntax that queries may use beyond those of every dialect, by sqlglot's names.
        operators: Operators of plans that neither read a table nor do anything.
        faults: What errors mean.
    """

    functions: frozenset[str]
    syntax: frozenset[str]
    operators: frozenset[str]
    faults: FaultCodes


@cache
def read_lists(package: str) -> EngineLists:
    """Return the lists of the engine in a package."""
    held = tomllib.loads(files(package).joinpath("data", "lists.toml").read_text(encoding="utf-8"))
    mistakes = held.get("kinds", {})
    kinds = {code: kind for kind in get_args(QueryErrorKind) for code in mistakes.get(kind, "").split()}
    names = ("lost", "locked", "ended", "refused", "large", "login")
    faults = FaultCodes(**{name: _words(held.get("faults", {}), name) for name in names}, kinds=kinds)
    return EngineLists(_words(held, "functions"), _words(held, "syntax"), _words(held, "operators"), faults)


def _words(held: dict[str, Any], name: str) -> frozenset[str]:
    return frozenset(held.get(name, "").split())
