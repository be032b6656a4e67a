"""A place to ask: a web page, an HTTP API and MCP over one agent.

from tableturn.serve import create_app

app = create_app(agent)  # or: your_app.mount("/data", create_app(agent))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .app import create_app as create_app
    from .config import Limits as Limits
    from .config import ServeSettings as ServeSettings

__all__ = ["Limits", "ServeSettings", "create_app"]


def __getattr__(name: str) -> Any:
    """Import what is asked for: the command line lists its commands without a web framework."""
    if name == "create_app":
        from .app import create_app

        return create_app
    if name in ("Limits", "ServeSettings"):
        from . import config

        return getattr(config, name)
    raise AttributeError(name)
