"""What happens to a question: the agent as a library, a graph, a tool and a command line."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..tools.errors import TableturnError
    from .answers.answer import Answer
    from .answers.events import Event
    from .conversation import Conversation
    from .graph import build_graph
    from .settings import PRESETS, Settings, make_settings
    from .sqlagent import SQLAgent
    from .verbs import Correction, Saved

_HOMES = {
    "Answer": ".answers.answer",
    "Conversation": ".conversation",
    "Correction": ".verbs",
    "Event": ".answers.events",
    "PRESETS": ".settings",
    "SQLAgent": ".sqlagent",
    "Saved": ".verbs",
    "Settings": ".settings",
    "TableturnError": "..tools.errors",
    "build_graph": ".graph",
    "make_settings": ".settings",
}

__all__ = [
    "PRESETS",
    "Answer",
    "Conversation",
    "Correction",
    "Event",
    "SQLAgent",
    "Saved",
    "Settings",
    "TableturnError",
    "build_graph",
    "make_settings",
]


def __getattr__(name: str) -> Any:
    """Import a name when it is first used: the command line must answer before LangGraph has loaded."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
