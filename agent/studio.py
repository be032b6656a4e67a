"""The graph for LangGraph's server and Studio: `langgraph.json` names `graph`.

The server brings its own checkpointer. The database comes from `TABLETURN_DB` (a path or URL; the sample database where
it is not set), the model from `TABLETURN_MODEL` or the environment's OpenAI settings, as on the command line; the
settings show in Studio as the run's context. `TABLETURN_EXAMPLES` names an example store, a folder or a Chroma server's
URL (`TABLETURN_EMBEDDING` its embedding): few-shot examples come from it, and a query that is approved with
`"save": true` leaves its answer there. `TABLETURN_PERMISSIONS` names a permissions file, of which the server's
conversations get `[users.NAME]` for the name in `TABLETURN_USER`, else `[default]`; `allow` and `deny` of a run's
context narrow that further. `TABLETURN_KNOWLEDGE` names the knowledge file, or `off` (docs/teach.md); without it
the one beside the database is read, if there is one. With `TABLETURN_COMMANDS` set to `on`, as `make studio` sets it,
messages that begin with a slash are the terminal's commands: /approve, /correct, /note, /accept, /forget.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from ..tools.errors import SettingsError
from ..tools.examples import make_embedding, open_seeded_store
from ..tools.folders import cache_folder
from ..tools.sample import build_sample
from .graph import AgentGraph, build_graph
from .settings import make_settings
from .sqlagent import SQLAgent

if TYPE_CHECKING:
    from langgraph_sdk.runtime import ServerRuntime


def _build_studio_graph() -> AgentGraph:
    sample = cache_folder() / "kestrel.sqlite"
    examples = None
    if location := os.environ.get("TABLETURN_EXAMPLES"):
        # Opened here: one that cannot be used is seen at the server's start.
        examples = open_seeded_store(location, make_embedding(os.environ.get("TABLETURN_EMBEDDING") or "hashed"))
    agent = SQLAgent(
        os.environ.get("TABLETURN_DB") or (sample if sample.exists() else build_sample(sample)),
        preset=os.environ.get("TABLETURN_PRESET") or None,
        examples=examples,
        permissions=os.environ.get("TABLETURN_PERMISSIONS") or None,
        user=os.environ.get("TABLETURN_USER", ""),
        knowledge=os.environ.get("TABLETURN_KNOWLEDGE") or None,
    )
    return build_graph(agent.resources, show_state=True, commands=os.environ.get("TABLETURN_COMMANDS") == "on")


_GRAPH = _build_studio_graph()
"""Built when the server imports this module: a wrong database or model is seen at its start, not in a conversation."""


async def graph(runtime: ServerRuntime[dict[str, Any]]) -> AgentGraph:
    """Return the agent's graph for a run of LangGraph's server; check the run's settings.

    The server drops what it does not know of a run's context before the graph sees it: a misspelt setting would do
    nothing, and a misspelt `deny` show what it was to hide.

    Raises:
        ValueError: The run's context has a setting that there is not, or a wrong value. The server tells a program that
            drives it the words of no error of ours.
    """
    if (running := runtime.execution_runtime) is not None and running.context:
        try:
            make_settings(running.context)
        except SettingsError as error:
            raise ValueError(str(error)) from None
    return _GRAPH
