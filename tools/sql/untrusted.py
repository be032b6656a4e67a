"""Statements nested too deeply are one kind of error, wherever in an analysis that shows.

The SQL that is analysed was written by models. What its parser cannot read is refused where it is parsed; a fault of an
analysis itself is ours, and is raised as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from ..errors import SQLParseError

P = ParamSpec("P")
T = TypeVar("T")
D = TypeVar("D")


def analysis(function: Callable[P, T]) -> Callable[P, T]:
    """Have a function that takes SQL apart raise `SQLParseError` if the SQL is nested too deeply for it."""

    @wraps(function)
    def guarded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except RecursionError:
            raise SQLParseError("The SQL is nested too deeply to be read; simplify it.") from None

    return guarded


def analysis_or(otherwise: D) -> Callable[[Callable[P, T]], Callable[P, T | D]]:
    """As `analysis`, but give what stands for nothing known if the SQL cannot be parsed or is nested too deeply."""

    def decorate(function: Callable[P, T]) -> Callable[P, T | D]:
        @wraps(function)
        def guarded(*args: P.args, **kwargs: P.kwargs) -> T | D:
            try:
                return function(*args, **kwargs)
            except (SQLParseError, RecursionError):
                return otherwise

        return guarded

    return decorate
