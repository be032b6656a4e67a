"""Old names that work for one more release, with a warning that names the new ones."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from typing import Any

_SKIPPED_PACKAGES = frozenset({"tableturn", "pydantic", "langgraph", "importlib", "_frozen_importlib"})
"""Packages that stand between an old name and the program that uses it."""


class Deprecated(DeprecationWarning):
    """A warning about a feature that tableturn will remove."""


def warn_deprecated(old: str, new: str, since: str) -> None:
    """Issue a deprecation warning at the line of the program that uses an old name."""
    frame = inspect.currentframe()
    assert frame is not None
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _SKIPPED_PACKAGES:
        frame = frame.f_back
    warnings.warn_explicit(
        f"deprecated since version {since}: {old}; {new}",
        Deprecated,
        frame.f_code.co_filename,
        frame.f_lineno,
        frame.f_globals.get("__name__"),
        frame.f_globals.setdefault("__warningregistry__", {}),  # where Python remembers what it has shown once
    )


def make_old_property(old: str, new: str, since: str) -> property:
    """Return a property for the old name of an attribute, which warns."""

    def get_attribute(self: object) -> Any:
        warn_deprecated(f"{type(self).__name__}.{old}", f"use {new}", since)
        return getattr(self, new)

    return property(get_attribute)


def make_old_names(package: str, names: Mapping[str, Any], since: str) -> Callable[[str], Any]:
    """Return a `__getattr__` for the old names of what a package gives, which warns."""

    def get_by_old_name(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        warn_deprecated(f"{package}.{name}", f"use {package}.{names[name].__name__}", since)
        return names[name]

    return get_by_old_name
