"""A place to ask: a web page, an HTTP API and MCP over one agent.

from tableturn.serve import create_app

app = create_app(agent)  # or: your_app.mount("/data", create_app(agent))
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .app import create_app as create_app
    from .config import Limits as Limits
    from .config import ServeSettings as ServeSettings

__all__ = ["Limits", "ServeSettings", "create_app"]


def __getattr__(name: str) -> Any:
    """Import what is asked for: the command line lists its commands without a web framework."""
    if name in __all__:
        return getattr(import_module(".app" if name == "create_app" else ".config", __name__), name)
    raise AttributeError(name)
