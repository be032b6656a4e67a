"""The state machine: the order of nodes, and how a node's body becomes a LangGraph node."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeAlias, cast

from langchain_core.runnables import Runnable, RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.errors import GraphBubbleUp
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.runtime import Runtime, get_runtime
from langgraph.types import Overwrite, Send

from ..tools.database import name_conversation
from ..tools.errors import TableturnError
from .advice import collect_failures
from .cancel_turn import make_undoable, open_turn
from .effects import Body, Tally, arun, run_blocking
from .model.turn_budget import Budget, compute_budget
from .nodes.clarify import clarify
from .nodes.drafts import candidate, select, vary
from .nodes.execute import execute
from .nodes.generate import generate, revise
from .nodes.learn import find_command, learn
from .nodes.link import link
from .nodes.reason import reason
from .nodes.rephrase import rephrase
from .nodes.respond import respond
from .nodes.retrieve_examples import retrieve
from .nodes.revise_or_stop import critique
from .records import Usage, parallel_usage
from .resources import Resources, Run
from .settings import Settings
from .state import AgentInput, AgentOutput, AgentState, Update, clarified_turn, dump, load, turn_of, upgrade, usage_of

NodeBody = Callable[[AgentState, Run], Body[Update]]
AgentGraph: TypeAlias = CompiledStateGraph[AgentState, Settings, AgentInput, Any]

NODES: dict[str, tuple[NodeBody, tuple[str, ...]]] = {
    "rephrase": (rephrase, ("link", "clarify", "execute", "respond")),
    "clarify": (clarify, ("rephrase",)),
    "link": (link, ("retrieve", "candidate", "clarify", "execute")),
    "candidate": (candidate, ("select",)),
    "select": (select, ("execute", "critique", "respond", "retrieve", "candidate", "clarify")),
    "retrieve": (retrieve, ("generate", "reason", "revise")),
    "generate": (generate, ("execute", "respond", "clarify")),
    "reason": (reason, ("execute", "respond", "generate", "clarify")),
    "execute": (execute, ("critique", "respond")),
    "critique": (critique, ("revise", "retrieve", "generate", "candidate", "respond")),
    "revise": (revise, ("execute", "respond")),
    "respond": (respond, ("clarify", END)),
}
"""Every node, with the nodes that it may choose to come next."""


_FIRST = ("rephrase", "learn")  # nodes that begin a run: the state's turn is that of the run before


def build_graph(
    resources: Resources,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    *,
    show_state: bool = False,
    commands: bool = False,
) -> AgentGraph:
    """Return the compiled graph.

    Args:
        resources: What the nodes reach the world through.
        checkpointer: Any LangGraph checkpointer; None inside a parent graph or a server, which bring their own.
        show_state: Give the whole state as output, as for debugging in Studio. Otherwise only the messages and the
            answer come out, so that no other key of a parent graph's state is touched.
        commands: Take messages that begin with a slash for commands, by which whoever may send messages approves,
            corrects and defines. Without, they are questions.
    """
    output = AgentState if show_state else AgentOutput
    builder = StateGraph(AgentState, Settings, input_schema=AgentInput, output_schema=output)
    for name, (body, followers) in NODES.items():
        builder.add_node(name, _Node(name, body, resources))
        if len(followers) == 1:
            builder.add_edge(name, followers[0])
        else:
            builder.add_conditional_edges(name, _Choice(_next), list(followers))
    if commands:
        builder.add_node("learn", _Node("learn", learn, resources))
        builder.add_conditional_edges("learn", _Choice(_next), ["rephrase", END])
        builder.add_conditional_edges(START, _Choice(_first), list(_FIRST))
    else:
        builder.add_edge(START, "rephrase")
    return builder.compile(checkpointer=make_undoable(checkpointer) if checkpointer else None, name="tableturn")


def _first(state: AgentState) -> str:
    return "learn" if find_command(state) else "rephrase"


def _next(state: AgentState) -> str | list[Send]:
    """Return the next node, or the drafts to write in parallel."""
    following = state.get("next", END)  # a state that was written from outside, as of an earlier version, names none
    if following != "candidate":
        return following
    turn = replace(turn_of(state), started_at=time.time())
    numbers = range(1 if state["attempts"] else 0, turn.candidates)
    drafts = (dump(replace(turn, candidate=number)) for number in numbers)
    return [Send("candidate", {**state, "attempts": [], "turn": draft}) for draft in drafts]


class _Choice(Runnable[AgentState, Any]):
    """The choice of the next node; a plain function would run in a thread under `ainvoke`."""

    def __init__(self, choose: Callable[[AgentState], Any]) -> None:
        self.name = choose.__name__
        self._choose = choose

    def invoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        return self._choose(input)

    async def ainvoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        return self._choose(input)


class _Node(Runnable[AgentState, Update]):
    """A node's body, run blocking under `invoke` and awaited under `ainvoke`.

    A plain function would do, but LangChain inspects a function's signature at every call, and LangGraph traces the
    node anyway.
    """

    def __init__(self, name: str, body: NodeBody, resources: Resources) -> None:
        self.name = name
        self._body = body
        self._resources = resources

    def invoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> Update:  # noqa: A002
        return run_blocking(self._run(input, config, blocking=True))

    async def ainvoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> Update:  # noqa: A002
        return await self._run(input, config)

    async def _run(self, given: AgentState, config: RunnableConfig | None, *, blocking: bool = False) -> Update:
        """Run the body; a failed turn leaves nothing behind, a waiting one is kept."""
        started = time.perf_counter()
        try:
            changes = upgrade(given)
            state = cast("AgentState", {**given, **changes})
            runtime: Any = get_runtime(Settings)
            # Only a run that may narrow what is read can have to open a database.
            waits = not blocking and runtime.context is not None
            start = asyncio.to_thread(self._start, state, config, runtime) if waits else None
            this, tally = self._start(state, config, runtime) if start is None else await start
            with name_conversation(this.thread), collect_failures() as notes:
                update = await arun(self._body(state, this), this.translator, tally, blocking=blocking)
        except GraphBubbleUp:
            raise
        except BaseException:
            if turn := open_turn(config):
                turn.failed = True
            raise
        return _add_usage(self.get_name(), state, changes | _add_notes(update, notes), tally, started)

    def _start(
        self, state: AgentState, config: RunnableConfig | None, runtime: Runtime[Settings | None]
    ) -> tuple[Run, Tally]:
        """Return the node's run and its budget.

        Its settings are the agent's, overridden for this run, varied where it writes one of several drafts. Where the
        run narrows what may be read, its resources are those of somebody who may read no more. A turn goes on only
        under the rights that it was begun with, or wider ones.
        """
        name = self.get_name()
        resources, settings = self._resources, self._resources.settings
        if runtime.context is not None:
            settings = settings.overridden(runtime.context)
            resources = resources.narrow(settings.permissions)
        if name == "candidate":
            settings = vary(settings, turn_of(state).candidate)
        # A run that begins has the turn of the run before in its state.
        begins = name == "learn" or (name == "rephrase" and clarified_turn(state) is None)
        if not begins and not resources.may_read(turn_of(state).rights):
            raise TableturnError(
                "this turn was started under other permissions or by someone else: ask the question again"
            )
        turn = open_turn(config)
        cancellation = turn.cancellation if turn else None
        budget = compute_budget(settings, {}) if begins else _compute_budget(name, settings, state)
        tally = Tally(budget, _number_query(name, state), cancellation)
        thread = str(((config or {}).get("configurable") or {}).get("thread_id", ""))
        watched = turn is not None and turn.watched
        return Run(resources, settings, runtime.stream_writer, cancellation, thread, watched), tally


def _number_query(name: str, state: AgentState) -> int:
    """Return the number, from 0, of the turn's query that a node asks for.

    A draft that could not be had keeps its number, and a second try has that of the first.
    """
    if name in _FIRST:
        return 0  # the state is still that of the turn before
    if name == "candidate":
        return turn_of(state).candidate
    if name == "select":
        return turn_of(state).candidates
    lost = sum(draft["attempt"] is None for draft in state.get("drafts", []))
    return lost + len(state.get("attempts", []))


def _compute_budget(name: str, settings: Settings, state: AgentState) -> Budget:
    """Return the node's budget; parallel drafts share the rest."""
    usage = usage_of(state)
    if name == "candidate":
        turn = turn_of(state)
        return compute_budget(settings, usage, turn.candidates, turn.candidate, _seconds_since(turn.started_at))
    if name == "select":
        usage |= {"drafts": parallel_usage([load(Usage, draft["usage"]) for draft in state["drafts"]])}
    return compute_budget(settings, usage)


def _add_notes(update: Update, notes: list[str]) -> Update:
    """Return the update with more notes, wherever this node's notes are."""
    if not notes:
        return update
    if update.get("answer"):
        return update | {"answer": _add_notes(update["answer"], notes)}
    if isinstance(drafts := update.get("drafts"), list):
        return update | {"drafts": [_add_notes(draft, notes) for draft in cast("list[Update]", drafts)]}
    before = update.get("notes", [])
    if isinstance(before, Overwrite):
        return update | {"notes": Overwrite([*cast("list[str]", before.value), *notes])}
    return update | {"notes": [*before, *notes]}


def _add_usage(name: str, state: AgentState, update: Update, tally: Tally, started: float) -> Update:
    """Return the update with this node's usage added to the turn's."""
    if name == "candidate":
        # Nodes side by side cannot add to one usage: each draft carries its own, and `select` adds them up. Some wait
        # for a free thread: the time of each is that since all were started.
        cost = replace(tally.usage, seconds=round(_seconds_since(turn_of(state).started_at), 6))
        return {"drafts": [draft | {"usage": dump(cost)} for draft in update["drafts"]]}
    cost = replace(tally.usage, seconds=round(time.perf_counter() - started, 6))
    usage = dict(update.get("usage", state.get("usage", {})))
    if name in usage:
        cost = load(Usage, usage[name]) + cost
    return update | {"usage": usage | {name: dump(cost)}}


def _seconds_since(unix_time: float) -> float:
    return max(time.time() - unix_time, 0.0)
