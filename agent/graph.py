"""The state machine: which node follows which, and how a node's body becomes a LangGraph node."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeAlias

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Send

from .budget import Budget, left_of
from .candidates import varied
from .effects import Body, Tally, arun, run
from .nodes.candidate import candidate
from .nodes.clarify import clarify
from .nodes.critique import critique
from .nodes.execute import execute
from .nodes.generate import generate
from .nodes.link import link
from .nodes.reason import reason
from .nodes.rephrase import rephrase
from .nodes.respond import respond
from .nodes.retrieve import retrieve
from .nodes.revise import revise
from .nodes.select import select
from .place import asking_for, place_of
from .records import NodeUsage, dump, load, side_by_side
from .resources import Resources, Run
from .settings import Settings
from .state import AgentInput, AgentOutput, AgentState

NodeBody = Callable[[AgentState, Run], Body[dict[str, Any]]]
AgentGraph: TypeAlias = CompiledStateGraph[AgentState, Settings, AgentInput, Any]

NODES: dict[str, tuple[NodeBody, tuple[str, ...]]] = {
    "rephrase": (rephrase, ("link", "clarify", "respond")),
    "clarify": (clarify, ("rephrase",)),
    "link": (link, ("retrieve", "candidate")),
    "candidate": (candidate, ("select",)),
    "select": (select, ("execute", "critique", "respond", "retrieve", "candidate")),
    "retrieve": (retrieve, ("generate", "reason", "revise")),
    "generate": (generate, ("execute", "respond")),
    "reason": (reason, ("execute", "respond", "generate")),
    "execute": (execute, ("critique", "respond")),
    "critique": (critique, ("revise", "retrieve", "generate", "respond")),
    "revise": (revise, ("execute", "respond")),
    "respond": (respond, (END,)),
}
"""Every node, with the nodes that it may choose to come next."""


def build_graph(
    resources: Resources, checkpointer: BaseCheckpointSaver[Any] | None = None, *, show_state: bool = False
) -> AgentGraph:
    """The compiled graph.

    Args:
        resources: What the nodes reach the world through.
        checkpointer: Any LangGraph checkpointer; None inside a parent graph or a server, which bring their own.
        show_state: Give the whole state as output, as for debugging in Studio. Otherwise only the messages and the
            answer come out, so that no other key of a parent graph's state is touched.
    """
    output = AgentState if show_state else AgentOutput
    builder = StateGraph(AgentState, Settings, input_schema=AgentInput, output_schema=output)
    for name, (body, followers) in NODES.items():
        builder.add_node(name, _Node(name, body, resources))
        if len(followers) == 1:
            builder.add_edge(name, followers[0])
        else:
            builder.add_conditional_edges(name, _chosen, list(followers))
    builder.add_edge(START, "rephrase")
    return builder.compile(checkpointer=checkpointer, name="tableturn")


def _chosen(state: AgentState) -> str | list[Send]:
    """The next node, or the drafts that are written side by side."""
    if state["next"] != "candidate":
        return state["next"]
    began = time.time()
    return [Send("candidate", {**state, "candidate": number, "began": began}) for number in range(state["candidates"])]


class _Node(Runnable[AgentState, dict[str, Any]]):
    """One body, run blocking under `invoke` and awaited under `ainvoke`.

    A plain function would do, but LangChain inspects a function's signature at every call, and LangGraph traces the
    node anyway.
    """

    def __init__(self, name: str, body: NodeBody, resources: Resources) -> None:
        self.name = name
        self._body = body
        self._resources = resources

    def invoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:  # noqa: A002
        """See `Runnable`."""
        this, started = _run(self._resources, input), time.perf_counter()
        tally = Tally(_budget(self.get_name(), this.settings, input))
        with asking_for(place_of(self.get_name(), input)):
            update = run(self._body(input, this), self._resources.translator(this.settings), tally)
        return _counted(self.get_name(), input, update, tally, started)

    async def ainvoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> dict[str, Any]:  # noqa: A002
        """See `Runnable`."""
        this, started = _run(self._resources, input), time.perf_counter()
        tally = Tally(_budget(self.get_name(), this.settings, input))
        with asking_for(place_of(self.get_name(), input)):
            update = await arun(self._body(input, this), self._resources.translator(this.settings), tally)
        return _counted(self.get_name(), input, update, tally, started)


def _run(resources: Resources, state: AgentState) -> Run:
    """The node's run; its settings are the agent's, overridden for this run, varied where it writes one of several."""
    runtime: Runtime[Settings] = get_runtime(Settings)
    settings = resources.settings.overridden(runtime.context)
    return Run(resources, varied(settings, state.get("candidate", 0)), runtime.stream_writer)


def _budget(name: str, settings: Settings, state: AgentState) -> Budget:
    """What the node may spend; drafts side by side share what is left."""
    usage = {node: load(NodeUsage, record) for node, record in state.get("usage", {}).items()}
    if name == "rephrase" and not state.get("clarification"):
        usage = {}  # another turn's
    if name == "candidate":
        elapsed = max(time.time() - state["began"], 0.0)
        return left_of(settings, usage, state["candidates"], state["candidate"], elapsed)
    if name == "select":
        usage |= {"drafts": side_by_side([load(NodeUsage, draft["usage"]) for draft in state["drafts"]])}
    return left_of(settings, usage)


def _counted(name: str, state: AgentState, update: dict[str, Any], tally: Tally, started: float) -> dict[str, Any]:
    """The update with the turn's usage, this node's run added."""
    spent = tally.usage
    # Of drafts side by side some wait for a free thread: the time of each is that since all were begun.
    seconds = max(time.time() - state["began"], 0.0) if name == "candidate" else time.perf_counter() - started
    cost = NodeUsage(spent.llm_calls, spent.prompt_tokens, spent.completion_tokens, round(seconds, 6))
    if name == "candidate":
        # Nodes side by side cannot add to one usage: each draft carries its own, and `select` adds them up.
        return {"drafts": [draft | {"usage": dump(cost)} for draft in update["drafts"]]}
    usage = dict(update.get("usage", state.get("usage", {})))
    if name in usage:
        cost = load(NodeUsage, usage[name]) + cost
    return update | {"usage": usage | {name: dump(cost)}}
