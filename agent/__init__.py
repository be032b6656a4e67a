"""The agent as a library, a graph, a tool and a command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..tools import make_lazy_importer

if TYPE_CHECKING:
    from ..tools.errors import TableturnError
    from .answers.answer import Answer
    from .answers.events import Event
    from .conversation import Conversation
    from .graph import build_graph
    from .settings import PRESETS, Settings, make_settings
    from .sqlagent import SQLAgent
    from .verbs import Correction, SavedAnswer

__all__ = [
    "PRESETS",
    "Answer",
    "Conversation",
    "Correction",
    "Event",
    "SQLAgent",
    "SavedAnswer",
    "Settings",
    "TableturnError",
    "build_graph",
    "make_settings",
]

# The command line must answer before LangGraph has loaded.
__getattr__ = make_lazy_importer(
    __name__,
    {
        ".tools.errors": "TableturnError",
        "answers.answer": "Answer",
        "answers.events": "Event",
        "conversation": "Conversation",
        "graph": "build_graph",
        "settings": "PRESETS Settings make_settings",
        "sqlagent": "SQLAgent",
        "verbs": "Correction SavedAnswer",
    },
    renamed={"Saved": "SavedAnswer"},
)
