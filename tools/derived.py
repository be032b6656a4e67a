"""A cache for values derived from immutable data, stored in the data itself."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, wraps
from threading import RLock
from typing import TYPE_CHECKING, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

LOCK = RLock()
"""Held while what threads share is derived."""


class locked_cached_property(cached_property[R]):  # noqa: N801 - a decorator, as the one that it extends
    """A cached property computed by one thread at a time, which Python 3.12 no longer ensures."""

    if not TYPE_CHECKING:

        def __get__(self, instance, owner=None):
            with LOCK:
                return super().__get__(instance, owner)


def cache_in_first_argument(make: Callable[P, R]) -> Callable[P, R]:
    """Cache a function's results in its first argument, a frozen dataclass.

    Two threads may make it at once; what they make is the same. It goes by the object, not by what it is equal to:
    `1` and `True` are equal and are not written alike. Beside it the function takes positional, hashable arguments.
    """
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def get_or_compute(*args: P.args, **kwargs: P.kwargs) -> R:
        cache: dict[tuple[object, ...], R] = vars(args[0]).setdefault(name, {})
        try:
            return cache[args[1:]]
        except KeyError:
            return cache.setdefault(args[1:], make(*args, **kwargs))

    return get_or_compute
