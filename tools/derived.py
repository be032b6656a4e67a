"""What is worked out of data that cannot change, kept with it: once a schema or a column, however many turns ask."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def derived(make: Callable[P, R]) -> Callable[P, R]:
    """Keep what a function makes of a frozen dataclass in that object, and let go of it with the object.

    Two threads may make it at once; what they make is the same. It goes by the object, not by what it is equal to:
    `1` and `True` are equal and are not written alike. Beside it the function takes positional, hashable arguments.
    """
    name = f"{make.__module__}.{make.__qualname__}"

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> R:
        held: dict[tuple[object, ...], R] = vars(args[0]).setdefault(name, {})
        try:
            return held[args[1:]]
        except KeyError:
            return held.setdefault(args[1:], make(*args, **kwargs))

    return made
