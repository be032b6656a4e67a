"""Old names that go on working for one release, with a note that says what to use instead."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

_SKIPPED = frozenset({"tableturn", "pydantic", "langgraph", "importlib", "_frozen_importlib"})
"""Packages that stand between an old name and the program that uses it."""


class Deprecated(DeprecationWarning):
    """A warning about what tableturn will remove."""


def warn_deprecated(old: str, new: str, since: str) -> None:
    """Warn the program that uses an old name, at its own line.

    Args:
        old: What is deprecated.
        new: What to do instead, as `use Answer.rows`.
        since: The version that deprecated it.
    """
    frame = inspect.currentframe()
    assert frame is not None
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _SKIPPED:
        frame = frame.f_back
    warnings.warn_explicit(
        f"deprecated since version {since}: {old}; {new}",
        Deprecated,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__"),
        frame.f_globals.setdefault("__warningregistry__", {}),  # where Python remembers what it has shown once
    )


def renamed_names(module: str, names: Mapping[str, str], since: str) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module, by which its old names are found in their new places.

    Args:
        module: Its `__name__`.
        names: Old names, with the full paths of the new ones.
        since: The version that renamed them.
    """

    def find(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warn_deprecated(f"{module}.{name}", f"use {names[name]}", since)
        home, _, new = names[name].rpartition(".")
        return getattr(import_module(home), new)

    return find


def renamed_parameter(old: str, new: str, since: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator, by which a function takes a parameter by its old name too."""

    def decorate(function: Callable[P, T]) -> Callable[P, T]:
        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            if old in kwargs:
                warn_deprecated(f"the parameter {old!r} of {function.__qualname__}", f"use {new!r}", since)
                kwargs.setdefault(new, kwargs.pop(old))
            return function(*args, **kwargs)

        return call

    return decorate
