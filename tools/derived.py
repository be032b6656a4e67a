"""A cache for values derived from immutable data, stored in the data itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def derived(make: Callable[P, R]) -> Callable[P, R]:
    """Cache a function's results in its first argument, a frozen dataclass.

    Two threads may make it at once; what they make is the same. It goes by the object, not by what it is equal to:
    `1` and `True` are equal and are not written alike. Beside it the function takes positional, hashable arguments.
    """
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> R:
        cache: dict[tuple[object, ...], R] = vars(args[0]).setdefault(name, {})
        try:
            return cache[args[1:]]
        except KeyError:
            return cache.setdefault(args[1:], make(*args, **kwargs))

    return made
