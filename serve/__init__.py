"""A server: a web page, an HTTP API and MCP over one agent.

from tableturn.serve import create_app

app = create_app(agent)  # or: your_app.mount("/data", create_app(agent))
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..tools import make_lazy_importer
from ..tools.deprecation import warn_deprecated

if TYPE_CHECKING:
    from .app import create_app as create_app
    from .config import ServerLimits as ServerLimits
    from .config import ServeSettings as ServeSettings

__all__ = ["ServeSettings", "ServerLimits", "create_app"]


# The command line lists its commands without a web framework.
_find = make_lazy_importer(__name__, {"app": "create_app", "config": "ServerLimits ServeSettings"})


def __getattr__(name: str) -> Any:
    if name != "Limits":
        return _find(name)
    warn_deprecated("tableturn.serve.Limits", "use tableturn.serve.ServerLimits", "0.3")
    return _find("ServerLimits")
