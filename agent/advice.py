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

_CONTAINED = (QueryError, DatabaseUnavailable, SQLParseError)
"""Typed errors that end no turn: a look at the data failed, as at a locked database, or a query could not be read."""

_log = logging.getLogger(__name__)
_failures: ContextVar[list[Part] | None] = ContextVar("tableturn_failures", default=None)
_counters: list[Callable[[Part], object]] = []


def advise(part: Part, call: Callable[[], R], default: D) -> R | D:
    """Return the call's result, or the default if it fails.

    What ends a turn on purpose passes: an interrupt, a cancellation, a budget, an error of settings or of a model.
    """
    try:
        return call()
    except GraphBubbleUp:
        raise
    except Exception as error:
        meant = isinstance(error, TableturnError) and not isinstance(error, _CONTAINED)
        if meant or os.environ.get(RAISING_VARIABLE):
            raise
        _log.exception("%s failed: the turn goes on without it", part)
        for count in _counters:
            count(part)
        if (failures := _failures.get()) is not None:
            failures.append(part)
        return default


def advisory(part: Part, default: D) -> Callable[[Callable[P, R]], Callable[P, R | D]]:
    """Return a decorator that calls a function within `advise`."""

    def decorate(function: Callable[P, R]) -> Callable[P, R | D]:
        @wraps(function)
        def contained(*args: P.args, **kwargs: P.kwargs) -> R | D:
            return advise(part, lambda: function(*args, **kwargs), default)

        return contained

    return decorate


@contextmanager
def collect_failures() -> Generator[list[str]]:
    """Collect a note on each part that fails in the context; complete at its end."""
    failures: list[Part] = []
    notes: list[str] = []
    token = _failures.set(failures)
    try:
        yield notes
    finally:
        _failures.reset(token)
        notes += dict.fromkeys(f"{part} failed and was left out: the log says why" for part in failures)


def count_failures(count: Callable[[Part], object]) -> None:
    """Call a function with the part at each failure in this process."""
    _counters.append(count)
