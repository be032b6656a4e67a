"""The tools of the agent: database, SQL, example store, schema linking, sandbox.

Each tool is usable alone; `as_tools` gives them to other agents as LangChain tools.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .toolset import Toolset, as_tools

__all__ = ["Toolset", "as_tools"]


def make_lazy_importer(
    package: str, places: Mapping[str, str], renamed: Mapping[str, str] | None = None
) -> Callable[[str], Any]:
    """Return a `__getattr__` for a package that imports names from modules on first use."""
    homes = {name: place for place, names in places.items() for name in names.split()}

    def import_name(name: str) -> Any:
        if renamed and name in renamed:
            from .deprecation import warn_deprecated

            warn_deprecated(f"{package}.{name}", f"use {package}.{renamed[name]}", "0.3")
            name = renamed[name]
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{homes[name]}", package), name)

    return import_name


__getattr__ = make_lazy_importer(__name__, {"toolset": "Toolset as_tools"})
