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


def lazy_importer(package: str, places: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a package's `__getattr__`, given the names in each of its modules."""
    homes = {name: place for place, names in places.items() for name in names.split()}

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f".{homes[name]}", package), name)

    return find


__getattr__ = lazy_importer(__name__, {"toolset": "Toolset as_tools"})
