"""The graph for LangGraph's server and Studio: `langgraph.json` names `graph`.

The server brings its own checkpointer. The database comes from `TABLETURN_DB` (a path or URL; the sample database where
it is not set), the model from `TABLETURN_MODEL` or the environment's OpenAI settings, as on the command line; the
settings show in Studio as the run's context.
"""

from __future__ import annotations

import os
from pathlib import Path

from ..tools.folders import cache_folder
from ..tools.sample import build_sample
from .graph import AgentGraph, build_graph
from .opening import open_resources
from .settings import make_settings

DATABASE_VARIABLE = "TABLETURN_DB"
PRESET_VARIABLE = "TABLETURN_PRESET"


def _sample() -> Path:
    path = cache_folder() / "kestrel.sqlite"
    return path if path.exists() else build_sample(path)


def _build() -> AgentGraph:
    database = os.environ.get(DATABASE_VARIABLE) or _sample()
    settings = make_settings(preset=os.environ.get(PRESET_VARIABLE) or None)
    opened = open_resources(database, model=None, settings=settings, examples=None, base_url=None)
    return build_graph(opened.resources, show_state=True)


_GRAPH = _build()
"""Built when the server imports this module: a wrong database or model is seen at its start, not in a conversation."""


async def graph() -> AgentGraph:
    """The server's graph factory."""
    return _GRAPH
