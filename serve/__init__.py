"""A server: a web page, an HTTP API and MCP over one agent.

from tableturn.serve import create_app

app = create_app(agent)  # or: your_app.mount("/data", create_app(agent))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..tools import make_lazy_importer

if TYPE_CHECKING:
    from .app import create_app as create_app
    from .config import ServerLimits as ServerLimits
    from .config import ServeSettings as ServeSettings

__all__ = ["ServeSettings", "ServerLimits", "create_app"]


# The command line lists its commands without a web framework.
__getattr__ = make_lazy_importer(
    __name__, {"app": "create_app", "config": "ServerLimits ServeSettings"}, renamed={"Limits": "ServerLimits"}
)
