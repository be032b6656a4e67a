"""Conversations: turns on one thread, each read with the ones before it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command, StateSnapshot

from ..tools.database import Estimate
from ..tools.errors import AuditError, NothingToDecide, TableturnError, TurnCancelled
from .answers.answer import Answer
from .answers.events import EARLY, STREAM_MODES, Event, EventReader
from .answers.render import AnswerBackground, read_answer_background, render_answer
from .audit import make_record
from .cancel_turn import KEY, OpenTurn, cancel_on_ctrl_c
from .context.task_inputs import choose_turn_locale
from .effects import make_cancellation_error, run_blocking
from .records import AnswerRecord, Turn, add_usages
from .settings import Settings, make_settings
from .state import AgentState, load, load_turn, load_usage, upgrade

if TYPE_CHECKING:
    from .sqlagent import SQLAgent

NO_DECISION = "no query of this conversation waits for approval: ask a question in words"

INTERRUPT = "__interrupt__"  # where LangGraph reports interrupts among the output's values

_END_OPTIONS: dict[str, Any] = {"durability": "exit", "stream_mode": ["values"]}
_WATCH_OPTIONS = _END_OPTIONS | {"stream_mode": STREAM_MODES, "output_keys": list(AgentState.__annotations__)}
"""How a watched turn is streamed: node updates show everything that a node wrote."""

RunSettings = Settings | Mapping[str, Any] | None  # fields that override the agent's settings for one run

UserInput = str | Mapping[str, Any]
"""What a person gives: a question, a reply to what was asked back, or a decision (`agent/nodes/execute.py`)."""


class Conversation:
    """A conversation on one thread; each question is read together with earlier ones.

    If the last turn asked back, the next words are the reply to it. If it waits for a query to be approved
    (`Settings.approve`), the next words are "approve", "approve and save", "reject", another query, or
    `{"action": ..., "sql": ..., "save": ...}`.

    Attributes:
        thread: Its name in the checkpointer; empty for a question of its own, whose turn is not kept.
    """

    def __init__(self, agent: SQLAgent, thread: str) -> None:
        self._agent = agent
        self._graph = agent.graph
        self._open: OpenTurn | None = None
        self.thread = thread
        self._name = thread or uuid.uuid4().hex  # a question of its own leaves nothing under its name

    def cancel(self) -> None:
        """Cancel the running turn within a fraction of a second, from any thread.

        The turn's `ask` raises `TurnCancelled`, and the conversation is as it was before the turn. Ctrl-C does the same
        and raises `KeyboardInterrupt`.
        """
        if (turn := self._open) is not None:
            turn.cancellation.cancel()

    def ask(self, question: UserInput, *, settings: RunSettings = None, notes: str = "") -> Answer:
        """Ask a question and return the answer; `notes` are as for `SQLAgent.ask`.

        Raises:
            TurnCancelled: `cancel` was called.
        """
        return run_blocking(_read_final(self._run_turn(question, settings, notes, blocking=True)))

    async def aask(self, question: UserInput, *, settings: RunSettings = None, notes: str = "") -> Answer:
        """Ask a question as `ask` does, without blocking."""
        return await _read_final(self._run_turn(question, settings, notes))

    def take(self, question: UserInput, settings: RunSettings = None, notes: str = "") -> Answer:
        """Ask a question; the answer lacks rows that may not be sent to a model."""
        return run_blocking(_read_final(self._run_turn(question, settings, notes, blocking=True, delivered=False)))

    async def atake(self, question: UserInput, settings: RunSettings = None, notes: str = "") -> Answer:
        """Ask a question as `take` does, without blocking."""
        return await _read_final(self._run_turn(question, settings, notes, delivered=False))

    def stream(self, question: UserInput, *, settings: RunSettings = None, notes: str = "") -> Generator[Event]:
        """Ask a question and yield the events of the turn (see `Event`), the answer last.

        If the stream is not read to its end, the turn is undone.
        """
        return _iterate_events_blocking(self._run_turn(question, settings, notes, blocking=True, watched=True))

    async def astream(
        self, question: UserInput, *, settings: RunSettings = None, notes: str = ""
    ) -> AsyncGenerator[Event]:
        """Yield the events of one turn as `stream` does, without blocking."""
        async with aclosing(self._run_turn(question, settings, notes, watched=True)) as events:
            async for event in events:
                yield event

    async def _run_turn(
        self,
        question: UserInput,
        settings: RunSettings,
        notes: str,
        *,
        blocking: bool = False,
        watched: bool = False,
        delivered: bool = True,
    ) -> AsyncGenerator[Event]:
        """Run one turn and yield its events; if `blocking`, the coroutine never suspends.

        Only where it is `watched` do models send their replies piece by piece.
        """
        masks = self._agent.resources.database.session.policy.egress.mask
        reader = EventReader(deltas=not masks)

        async def deliver_answer(answer: Answer) -> Answer:
            if not (delivered and (answer.withheld or answer.sentence)):
                return answer
            call = partial(self._agent.deliver, answer, settings=settings)
            return call() if blocking else await asyncio.to_thread(call)

        yield Event("reading", "rephrase", {"question": str(question)})
        try:
            with self._open_new_turn(question, watched=watched) as turn:
                config, output = self._make_run_config(turn), dict[str, Any]()
                graph_input = self._make_graph_input(question, await self._get_graph_state(config, blocking), notes)
                stream: Any = self._graph.stream if blocking else self._graph.astream
                context = None if settings is None else make_settings(settings)
                chunks = stream(graph_input, config, context=context, **(_WATCH_OPTIONS if watched else _END_OPTIONS))
                async for mode, chunk in _fetch_stream_chunks(chunks, turn) if blocking else chunks:
                    if mode == "values":
                        output = chunk
                        continue
                    if mode == "custom" and chunk.get("event") == EARLY:
                        early_answer = await deliver_answer(Answer(load(AnswerRecord, chunk["answer"]), self.thread))
                        yield Event(EARLY, "respond", render_answer(early_answer))
                        continue
                    for event in reader.read(mode, chunk):
                        yield event
                if turn.is_undone:
                    raise KeyboardInterrupt if turn.interrupted else make_cancellation_error()
                if output.get(INTERRUPT):
                    answer = self._make_pending_answer(await self._get_graph_state(self._make_run_config(), blocking))
                else:
                    answer = Answer(load(AnswerRecord, output["answer"]), self.thread)
        finally:
            if not self.thread and blocking:
                self.reset()
            elif not self.thread:
                await self._agent.adelete_thread(self._name)
        for event in reader.end(await deliver_answer(answer)):
            yield event

    async def _get_graph_state(self, config: RunnableConfig, blocking: bool) -> StateSnapshot:
        return self._graph.get_state(config) if blocking else await self._graph.aget_state(config)

    def last(self) -> Answer | None:
        """Return the answer of the last finished turn, even from an earlier process.

        None if there is none, or if it was given under wider permissions or to another person.
        """
        record = _read_state_values(self._graph.get_state(self._make_run_config())).get("answer")
        answer = load(AnswerRecord, record) if record else None
        if answer is None or not self._agent.resources.may_read(answer.rights):
            return None
        return self._agent.deliver(Answer(answer, self.thread))

    def why(self) -> AnswerBackground | None:
        """Return the background of the last answer, if there is one that this person may read."""
        state = _read_state_values(self._graph.get_state(self._make_run_config()))
        if not state.get("turn") or not self._can_resume_turn(state["turn"]):
            return None
        return read_answer_background(state)

    def undo(self) -> bool:
        """Undo the last turn with its clarifications; return False if there is no turn.

        The conversation is then as it was before the turn. A checkpointer that keeps a history still has the turn.
        """
        now = self._graph.get_state(self._make_run_config())
        if not now.values:
            return False
        before = now.parent_config
        while before is not None:
            state = self._graph.get_state(before)
            if state.values and not state.next:
                self._graph.update_state(before, None, as_node="__copy__")
                return True
            before = state.parent_config
        self.reset()
        return True

    def reset(self) -> None:
        """Delete all turns of the conversation from the checkpointer."""
        saver = self._graph.checkpointer
        assert isinstance(saver, BaseCheckpointSaver)
        saver.delete_thread(self._name)

    @contextmanager
    def _open_new_turn(self, question: object, *, watched: bool) -> Generator[OpenTurn]:
        """Open a turn that `cancel` can end; if the turn fails, record it in the audit trail."""
        turn = self._open = OpenTurn(watched=watched)
        try:
            yield turn
        except BaseException as error:
            turn.failed = True
            turn.cancellation.cancel()
            if not isinstance(error, AuditError):
                is_stop = isinstance(error, TurnCancelled | KeyboardInterrupt | asyncio.CancelledError | GeneratorExit)
                kind = "" if is_stop else type(error).__name__
                self._audit_unanswered_turn(str(question), "cancelled" if is_stop else "error", error=kind)
            raise
        finally:
            self._open = None

    def _audit_unanswered_turn(self, question: str, status: str, **more: Any) -> None:
        """Record a turn without an answer in the audit trail, if the agent has one."""
        resources = self._agent.resources
        if resources.audit is not None:
            resources.audit.write(make_record(resources.database, self._name, question, status=status, **more))

    def _make_run_config(self, turn: OpenTurn | None = None) -> RunnableConfig:
        entries: dict[str, Any] = {} if turn is None else {KEY: turn}
        return {"configurable": {"thread_id": self._name, **entries}}

    def _make_graph_input(self, question: object, state: StateSnapshot, notes: str) -> Any:
        """Return the graph's input: a new question, or a reply to the agent's question.

        What was asked back under wider rights, or of somebody else, is passed over: these words are a new question.
        """
        if not isinstance(question, str | Mapping):
            raise TableturnError(f"the question must be text, not {question!r}")
        reply_kind = self._get_awaited_reply_kind(state)
        if isinstance(question, Mapping) and reply_kind != "approve":
            raise NothingToDecide(NO_DECISION)
        if reply_kind:
            return Command(resume=question)
        if isinstance(question, str) and not question.strip():
            raise TableturnError("the question is empty: say what you want to know")
        return {"messages": [HumanMessage(str(question))], **({"evidence": notes} if notes else {})}

    async def awaits_for(self) -> str:
        """Return the kind of reply that is awaited: `approve`, `clarify`, or '' for none."""
        return self._get_awaited_reply_kind(await self._graph.aget_state(self._make_run_config()))

    def _get_awaited_reply_kind(self, state: StateSnapshot) -> str:
        """Return the kind of reply that a state awaits: `approve`, `clarify`, or '' for none."""
        values = _read_state_values(state)
        if not state.interrupts or not self._can_resume_turn(values.get("turn")):
            return ""
        return str(state.interrupts[0].value.get("kind", "clarify"))

    def _can_resume_turn(self, turn: Any) -> bool:
        """Whether a turn can continue under the current person's rights."""
        return turn is not None and self._agent.resources.may_read(load(Turn, turn).rights)

    def _make_pending_answer(self, state: StateSnapshot) -> Answer:
        """Return the answer of a turn that waits for a person to clarify or approve."""
        resources, values, request = self._agent.resources, _read_state_values(state), state.interrupts[0].value
        translator = resources.translator(resources.settings)
        turn, by_node = load_turn(values), load_usage(values)
        record = AnswerRecord(
            question=turn.asked or turn.question,
            rephrased=turn.rephrasing.rephrased,
            intent=turn.rephrasing.intent,
            sql=request.get("sql"),
            status="needs_clarification",
            text=str(request.get("question", "")),
            usage=add_usages(by_node.values()),
            translator=translator.name,
            model=translator.model,
            notes=tuple(values.get("notes", ())),
            choices=tuple(request.get("choices", ())),
            usage_by_node=by_node,
            stop_kind="asked",
            explanation=str(request.get("explanation", "")),
            rights=resources.rights,
            estimate=Estimate(**request["estimate"]) if request.get("estimate") else None,
            locale=choose_turn_locale(values, turn, self._agent.settings),
        )
        self._audit_unanswered_turn(record.question, record.status, queries=turn.sent)
        return Answer(record, self.thread)


def _read_state_values(snapshot: StateSnapshot) -> AgentState:
    """Return the values of a checkpoint, upgraded to the current version of the state."""
    return cast("AgentState", {**snapshot.values, **upgrade(snapshot.values)} if snapshot.values else {})


async def _fetch_stream_chunks(chunks: Iterator[tuple[str, Any]], turn: OpenTurn) -> AsyncIterator[tuple[str, Any]]:
    """Yield the parts of a blocking stream; Ctrl-C cancels the turn only during a fetch."""
    while True:
        with cancel_on_ctrl_c(turn):
            chunk = next(chunks, None)
        if chunk is None:
            return
        yield chunk


async def _read_final(events: AsyncIterator[Event]) -> Answer:
    """Return the answer from the last event of a turn."""
    answer = [event.answer async for event in events][-1]
    assert answer is not None
    return answer


def _iterate_events_blocking(events: AsyncGenerator[Event]) -> Generator[Event]:
    """Yield the events of an asynchronous generator that never suspends."""
    try:
        with suppress(StopAsyncIteration):
            while True:
                yield run_blocking(events.__anext__())
    finally:
        run_blocking(events.aclose())
