"""Keeps what an analysis does not understand from ending a turn.

The SQL that is analysed was written by models, in the words of many dialects, and no parser foresees all of it. So an
analysis fails in one way only, whatever went wrong inside it, and what is decided by it counts as not known.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ..errors import SQLParseError, TableturnError

P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D")

_LOG = logging.getLogger(__name__)


def analysis(function: Callable[P, T]) -> Callable[P, T]:
    """Has a function that takes SQL apart raise `SQLParseError` for whatever it does not understand."""

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except TableturnError:
            raise
        except RecursionError:
            raise SQLParseError("The SQL is nested too deeply to be read; simplify it.") from None
        except Exception as error:
            _LOG.debug("not understood", exc_info=error)
            raise SQLParseError("The SQL is written in a way that is not understood here; simplify it.") from error

    return guarded


def analysis_or(otherwise: D) -> Callable[[Callable[P, T]], Callable[P, T | D]]:
    """As `analysis`, but gives what stands for nothing known where the SQL cannot be parsed or understood."""

    def decorate(function: Callable[P, T]) -> Callable[P, T | D]:
        understood = analysis(function)

        @wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T | D:
            try:
                return understood(*args, **kwargs)
            except SQLParseError:
                return otherwise

        return guarded

    return decorate
