"""The boundary around advice: if it fails, the turn goes on without it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Generator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Literal, ParamSpec, TypeVar

from langgraph.errors import GraphBubbleUp

from ..tools.errors import DatabaseUnavailable, QueryError, SQLParseError, TableturnError

P = ParamSpec("P")
R = TypeVar("R")
D = TypeVar("D")

Part = Literal[
    "linking",
    "values",
    "knowledge",
    "examples",
    "plain questions",
    "follow-up",
    "checks",
    "readings",
    "ledger",
    "confidence",
    "basis",
    "headings",
    "phrasing",
    "charts",
]
"""The parts of a turn that only advise it."""

RAISING_VARIABLE = "TABLETURN_RAISE"
"""Environment variable that makes failures of advice end the turn, as the tests want it: then they are seen."""

_QUERY_ERRORS = (QueryError, DatabaseUnavailable, SQLParseError)
"""Typed errors that end no turn: a look at the data failed, as at a locked database, or a query could not be read."""

_log = logging.getLogger(__name__)
_failures: ContextVar[list[Part] | None] = ContextVar("tableturn_failures", default=None)
_counters: list[Callable[[Part], object]] = []


def call_with_fallback(part: Part, call: Callable[[], R], default: D) -> R | D:
    """Return the result of a call; if it fails, log the error and return the default.

    What ends a turn on purpose passes: an interrupt, a cancellation, a budget, an error of settings or of a model.
    """
    try:
        return call()
    except GraphBubbleUp:
        raise
    except Exception as error:
        is_intended = isinstance(error, TableturnError) and not isinstance(error, _QUERY_ERRORS)
        if is_intended or os.environ.get(RAISING_VARIABLE):
            raise
        _log.exception("%s failed: the turn goes on without it", part)
        for count in _counters:
            count(part)
        if (failures := _failures.get()) is not None:
            failures.append(part)
        return default


def with_fallback(part: Part, default: D) -> Callable[[Callable[P, R]], Callable[P, R | D]]:
    """Return a decorator that makes a function return a default if it fails."""

    def decorate(function: Callable[P, R]) -> Callable[P, R | D]:
        @wraps(function)
        def wrapper(*args: P.args, **kwargs: P.kwargs) -> R | D:
            return call_with_fallback(part, lambda: function(*args, **kwargs), default)

        return wrapper

    return decorate


@contextmanager
def collect_failure_notes() -> Generator[list[str]]:
    """Collect notes on the parts of a turn that fail while the context is open."""
    failures: list[Part] = []
    notes: list[str] = []
    token = _failures.set(failures)
    try:
        yield notes
    finally:
        _failures.reset(token)
        notes += dict.fromkeys(f"{part} failed and was left out: the log says why" for part in failures)


def register_failure_counter(count: Callable[[Part], object]) -> None:
    """Register a function that is called with each part of a turn that fails."""
    _counters.append(count)
