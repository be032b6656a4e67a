"""The tools of the agent: database, SQL, example store, schema linking, sandbox.

Each tool is usable alone; `as_tools` gives them to other agents as LangChain tools.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .toolset import Toolset, as_tools

__all__ = ["Toolset", "as_tools"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        from . import toolset

        return getattr(toolset, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
