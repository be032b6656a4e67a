"""Ask a database questions, turn after turn, and get SQL and rows you can check.

    from tableturn import SQLAgent

    with SQLAgent("shop.db", model="openai:gpt-5-mini") as agent:
        print(agent.ask("Which customers spent the most?").to_dataframe())

The build makes this folder the installed package `tableturn` and puts the rooms beside it, hence the absolute imports.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tableturn.agent import Answer, Settings, SQLAgent, TableturnError
    from tableturn.tools.database import Database

    __version__: str

__all__ = ["Answer", "Database", "SQLAgent", "Settings", "TableturnError", "__version__"]


def __getattr__(name: str) -> Any:
    """Import a name at its first use, so that `tableturn --help` answers before LangGraph loads."""
    if name == "__version__":
        from importlib.metadata import version

        return version("tableturn")
    if name in __all__:
        return getattr(import_module("tableturn.tools.database" if name == "Database" else "tableturn.agent"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__all__]
