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

from ..tools.database import tag_statements_with_thread
from ..tools.errors import TableturnError
from .advice import collect_failure_notes
from .cancel_turn import get_open_turn, make_undoable
from .effects import Body, BudgetTracker, arun, run_blocking
from .model.turn_budget import TurnBudget, compute_node_budget
from .nodes.clarify import clarify
from .nodes.drafts import select_strongest_draft, vary_draft_settings, write_candidate_draft
from .nodes.execute import execute
from .nodes.generate import generate, revise_query
from .nodes.learn import get_slash_command, run_slash_command
from .nodes.link import link
from .nodes.reason import reason
from .nodes.rephrase import rephrase
from .nodes.respond import write_final_answer
from .nodes.retrieve_examples import choose_few_shot_examples
from .nodes.revise_or_stop import review_last_attempt
from .records import Usage, combine_parallel_usage
from .resources import Resources, Run
from .settings import Settings
from .state import AgentInput, AgentOutput, AgentState, Update, dump, load, load_resumed, load_turn, load_usage, upgrade

NodeBody = Callable[[AgentState, Run], Body[Update]]
AgentGraph: TypeAlias = CompiledStateGraph[AgentState, Settings, AgentInput, Any]

NODES: dict[str, tuple[NodeBody, tuple[str, ...]]] = {
    "rephrase": (rephrase, ("link", "clarify", "execute", "respond")),
    "clarify": (clarify, ("rephrase",)),
    "link": (link, ("retrieve", "candidate", "clarify", "execute")),
    "candidate": (write_candidate_draft, ("select",)),
    "select": (select_strongest_draft, ("execute", "critique", "respond", "retrieve", "candidate", "clarify")),
    "retrieve": (choose_few_shot_examples, ("generate", "reason", "revise")),
    "generate": (generate, ("execute", "respond", "clarify")),
    "reason": (reason, ("execute", "respond", "generate", "clarify")),
    "execute": (execute, ("critique", "respond")),
    "critique": (review_last_attempt, ("revise", "retrieve", "generate", "candidate", "respond")),
    "revise": (revise_query, ("execute", "respond")),
    "respond": (write_final_answer, ("clarify", END)),
}
"""Every node, with the nodes that it may choose to come next."""

_FIRST_NODES = ("rephrase", "learn")  # nodes that begin a run: the state's turn is that of the run before


def build_graph(
    resources: Resources,
    checkpointer: BaseCheckpointSaver[Any] | None = None,
    *,
    show_state: bool = False,
    commands: bool = False,
) -> AgentGraph:
    """Return the agent's compiled LangGraph graph.

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
        builder.add_node(name, _GraphNode(name, body, resources))
        if len(followers) == 1:
            builder.add_edge(name, followers[0])
        else:
            builder.add_conditional_edges(name, _NodeChoice(_choose_next_node), list(followers))
    if commands:
        builder.add_node("learn", _GraphNode("learn", run_slash_command, resources))
        builder.add_conditional_edges("learn", _NodeChoice(_choose_next_node), ["rephrase", END])
        builder.add_conditional_edges(START, _NodeChoice(_choose_first_node), list(_FIRST_NODES))
    else:
        builder.add_edge(START, "rephrase")
    return builder.compile(checkpointer=make_undoable(checkpointer) if checkpointer else None, name="tableturn")


def _choose_first_node(state: AgentState) -> str:
    """Return the first node: `learn` for a command, otherwise `rephrase`."""
    return "learn" if get_slash_command(state) else "rephrase"


def _choose_next_node(state: AgentState) -> str | list[Send]:
    """Return the next node, or one `Send` per draft to write in parallel."""
    following = state.get("next", END)  # a state that was written from outside, as of an earlier version, names none
    if following != "candidate":
        return following
    turn = replace(load_turn(state), started_at=time.time())
    numbers = range(1 if state["attempts"] else 0, turn.candidates)
    drafts = (dump(replace(turn, candidate=number)) for number in numbers)
    return [Send("candidate", {**state, "attempts": [], "turn": draft}) for draft in drafts]


class _NodeChoice(Runnable[AgentState, Any]):
    """A runnable that chooses the next node, without a thread under `ainvoke`."""

    def __init__(self, choose: Callable[[AgentState], Any]) -> None:
        self.name = choose.__name__
        self._choose = choose

    def invoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        return self._choose(input)

    async def ainvoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> Any:  # noqa: A002
        return self._choose(input)


class _GraphNode(Runnable[AgentState, Update]):
    """A runnable for a node's body: blocking under `invoke`, awaited under `ainvoke`.

    A plain function would do, but LangChain inspects a function's signature at every call, and LangGraph traces the
    node anyway.
    """

    def __init__(self, name: str, body: NodeBody, resources: Resources) -> None:
        self.name = name
        self._body = body
        self._resources = resources

    def invoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> Update:  # noqa: A002
        return run_blocking(self._run_body(input, config, blocking=True))

    async def ainvoke(self, input: AgentState, config: RunnableConfig | None = None, **kwargs: Any) -> Update:  # noqa: A002
        return await self._run_body(input, config)

    async def _run_body(self, values: AgentState, config: RunnableConfig | None, *, blocking: bool = False) -> Update:
        """Run the node's body and return the state update; mark the turn if it fails."""
        start_time = time.perf_counter()
        try:
            changes = upgrade(values)
            state = cast("AgentState", {**values, **changes})
            runtime: Any = get_runtime(Settings)
            # Only a run that may narrow what is read can have to open a database.
            waits = not blocking and runtime.context is not None
            start = asyncio.to_thread(self._prepare_run, state, config, runtime) if waits else None
            this, tally = self._prepare_run(state, config, runtime) if start is None else await start
            with tag_statements_with_thread(this.thread), collect_failure_notes() as notes:
                update = await arun(self._body(state, this), this.translator, tally, blocking=blocking)
        except GraphBubbleUp:
            raise
        except BaseException:
            if turn := get_open_turn(config):
                turn.failed = True
            raise
        return _add_usage(self.get_name(), state, changes | _add_notes(update, notes), tally, start_time)

    def _prepare_run(
        self, state: AgentState, config: RunnableConfig | None, runtime: Runtime[Settings | None]
    ) -> tuple[Run, BudgetTracker]:
        """Return the run of this node, and the tracker of its budget.

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
            settings = vary_draft_settings(settings, load_turn(state).candidate)
        # A run that begins has the turn of the run before in its state.
        begins = name == "learn" or (name == "rephrase" and load_resumed(state) is None)
        if not begins and not resources.may_read(load_turn(state).rights):
            raise TableturnError(
                "this turn was started under other permissions or by someone else: ask the question again"
            )
        turn = get_open_turn(config)
        cancellation = turn.cancellation if turn else None
        budget = compute_node_budget(settings, {}) if begins else _compute_node_budget(name, settings, state)
        tally = BudgetTracker(budget, _get_query_number(name, state), cancellation)
        thread = str(((config or {}).get("configurable") or {}).get("thread_id", ""))
        is_watched = turn is not None and turn.watched
        return Run(resources, settings, runtime.stream_writer, cancellation, thread, is_watched), tally


def _get_query_number(name: str, state: AgentState) -> int:
    """Return the number, from 0, of the query that a node of the turn works on.

    A draft that could not be had keeps its number, and a second try has that of the first.
    """
    if name in _FIRST_NODES:
        return 0  # the state is still that of the turn before
    if name == "candidate":
        return load_turn(state).candidate
    if name == "select":
        return load_turn(state).candidates
    lost_count = sum(draft["attempt"] is None for draft in state.get("drafts", []))
    return lost_count + len(state.get("attempts", []))


def _compute_node_budget(name: str, settings: Settings, state: AgentState) -> TurnBudget:
    """Return the budget of a node; parallel drafts share the rest of the turn's budget."""
    usage = load_usage(state)
    if name == "candidate":
        turn = load_turn(state)
        return compute_node_budget(settings, usage, turn.candidates, turn.candidate, _seconds_since(turn.started_at))
    if name == "select":
        usage |= {"drafts": combine_parallel_usage([load(Usage, draft["usage"]) for draft in state["drafts"]])}
    return compute_node_budget(settings, usage)


def _add_notes(update: Update, notes: list[str]) -> Update:
    """Return a state update with notes added: to the answer, to the drafts, or directly."""
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


def _add_usage(name: str, state: AgentState, update: Update, tally: BudgetTracker, start_time: float) -> Update:
    if name == "candidate":
        # Nodes side by side cannot add to one usage: each draft carries its own, and `select` adds them up. Some wait
        # for a free thread: the time of each is that since all were started.
        cost = replace(tally.usage, seconds=round(_seconds_since(load_turn(state).started_at), 6))
        return {"drafts": [draft | {"usage": dump(cost)} for draft in update["drafts"]]}
    cost = replace(tally.usage, seconds=round(time.perf_counter() - start_time, 6))
    usage = dict(update.get("usage", state.get("usage", {})))
    if name in usage:
        cost = load(Usage, usage[name]) + cost
    return update | {"usage": usage | {name: dump(cost)}}


def _seconds_since(unix_time: float) -> float:
    return max(time.time() - unix_time, 0.0)
