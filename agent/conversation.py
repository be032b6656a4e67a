"""Turns on one thread, each read in the light of the ones before it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.types import Command, StateSnapshot

from ..tools.errors import AuditError, NothingToDecide, TableturnError, TurnCancelled
from ..tools.examples import database_identity
from .answers.answer import Answer, pending_answer
from .answers.events import STREAM_MODES, Event, EventReader
from .answers.why import Why, read_why
from .audit import AuditRecord, unanswered
from .records import AnswerRecord, Turn, load
from .settings import Settings, make_settings
from .state import AgentState, upgrade
from .undo import KEY, OpenTurn, interruptible

if TYPE_CHECKING:
    from .sqlagent import SQLAgent

INTERRUPT = "__interrupt__"
"""Where LangGraph reports interrupts among the output's values."""

_STREAMING: dict[str, Any] = {
    "durability": "exit",
    "stream_mode": STREAM_MODES,
    "output_keys": list(AgentState.__annotations__),
}
"""How a turn is streamed: node updates show everything that a node wrote."""

RunSettings = Settings | Mapping[str, Any] | None
"""Fields that override the agent's settings for one run."""

UserInput = str | Mapping[str, Any]
"""What a person gives: a question, a reply to what was asked back, or a decision (`agent/answers/approval.py`)."""


class Conversation:
    """Turns on one thread: each question is read in the light of the ones before it.

    If the last turn asked back, the next words are the reply to it. If it waits for a query to be approved
    (`Settings.approve`), the next words are "approve", "approve and save", "reject", another query, or
    `{"action": ..., "sql": ..., "save": ...}`.

    Attributes:
        thread: Its name in the checkpointer.
    """

    def __init__(self, agent: SQLAgent, thread: str) -> None:
        self._agent = agent
        self._graph = agent.graph
        self._open: OpenTurn | None = None
        self.thread = thread

    def cancel(self) -> None:
        """Ends the running turn within a fraction of a second; may be called from any thread.

        The turn's `ask` raises `TurnCancelled`, and the conversation is as it was before the turn. Ctrl-C does the same
        and raises `KeyboardInterrupt`.
        """
        if (turn := self._open) is not None:
            turn.cancellation.cancel()

    def ask(self, question: UserInput, *, settings: RunSettings = None, notes: str = "") -> Answer:
        """Takes one turn; `notes` come with its question, as for `SQLAgent.ask`.

        Raises:
            TurnCancelled: `cancel` was called.
        """
        return self._agent.deliver(self.take(question, settings, notes), settings=settings)

    async def aask(self, question: UserInput, *, settings: RunSettings = None, notes: str = "") -> Answer:
        """As `ask`, without blocking."""
        answer = await self.atake(question, settings, notes)
        return await asyncio.to_thread(self._agent.deliver, answer, settings=settings) if answer.withheld else answer

    def take(self, question: UserInput, settings: RunSettings = None, notes: str = "") -> Answer:
        """Takes one turn; the answer lacks rows that may not be sent to a model (see `SQLAgent.deliver`)."""
        with self._turn(question) as turn, interruptible(turn):
            config = self._config(turn)
            given = self._input(question, self._graph.get_state(config), notes)
            output = self._graph.invoke(given, config, context=given_settings(settings), durability="exit")
            return self._answered(output, turn) or self._asked_back(self._graph.get_state(self._config()))

    async def atake(self, question: UserInput, settings: RunSettings = None, notes: str = "") -> Answer:
        """As `take`, without blocking."""
        with self._turn(question) as turn:
            config = self._config(turn)
            given = self._input(question, await self._graph.aget_state(config), notes)
            output = await self._graph.ainvoke(given, config, context=given_settings(settings), durability="exit")
            return self._answered(output, turn) or self._asked_back(await self._graph.aget_state(self._config()))

    def stream(self, question: UserInput, *, settings: RunSettings = None, notes: str = "") -> Generator[Event]:
        """Takes one turn and yields events as they happen (see `Event`); the last one has the answer.

        If the stream is not read to its end, the turn is undone.
        """
        reader = self._reader(question)
        yield reader.begin()
        with self._turn(question) as turn:
            config = self._config(turn)
            given = self._input(question, self._graph.get_state(config), notes)
            output: Any = {}
            parts: Any = self._graph.stream(given, config, context=given_settings(settings), **_STREAMING)
            while (found := _next_part(parts, turn)) is not None:
                mode, part = found
                output = part if mode == "values" else output
                yield from reader.read(mode, part)
            answer = self._answered(output, turn) or self._asked_back(self._graph.get_state(self._config()))
        yield from reader.end(self._agent.deliver(answer, settings=settings))

    async def astream(
        self, question: UserInput, *, settings: RunSettings = None, notes: str = ""
    ) -> AsyncIterator[Event]:
        """As `stream`, without blocking."""
        reader = self._reader(question)
        yield reader.begin()
        with self._turn(question) as turn:
            config = self._config(turn)
            given = self._input(question, await self._graph.aget_state(config), notes)
            output: Any = {}
            parts: Any = self._graph.astream(given, config, context=given_settings(settings), **_STREAMING)
            async for mode, part in parts:
                output = part if mode == "values" else output
                for event in reader.read(mode, part):
                    yield event
            answer = self._answered(output, turn) or self._asked_back(await self._graph.aget_state(self._config()))
        if answer.withheld:
            answer = await asyncio.to_thread(self._agent.deliver, answer, settings=settings)
        for event in reader.end(answer):
            yield event

    def _reader(self, question: object) -> EventReader:
        return EventReader(question, deltas=not self._agent.resources.database.session.policy.egress.mask)

    def last(self) -> Answer | None:
        """The answer of the last finished turn, which may be from an earlier process.

        None if there is none, or if it was given under wider permissions or to another person.
        """
        record = _values(self._graph.get_state(self._config())).get("answer")
        answer = load(AnswerRecord, record) if record else None
        if answer is None or not self._agent.resources.may_read(answer.rights):
            return None
        return self._agent.deliver(Answer(answer, self.thread))

    def why(self) -> Why | None:
        """What the last turn's answer rests on; None if there is none that this person may read."""
        state = _values(self._graph.get_state(self._config()))
        if not state.get("turn") or not self._resumable(state["turn"]):
            return None
        return read_why(state)

    def undo(self) -> bool:
        """Takes the last turn back, with any question back in it; returns whether there was one.

        The conversation is then as it was before the turn. A checkpointer that keeps a history still has the turn.
        """
        now = self._graph.get_state(self._config())
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
        """Deletes all turns of the conversation from the checkpointer."""
        saver = self._graph.checkpointer
        assert isinstance(saver, BaseCheckpointSaver)
        saver.delete_thread(self.thread)

    @contextmanager
    def _turn(self, question: object) -> Generator[OpenTurn]:
        """A turn, from here on the one that `cancel` ends; one that gives no answer is written down as what it is."""
        turn = self._open = OpenTurn()
        try:
            yield turn
        except BaseException as error:
            turn.fail()
            turn.cancellation.cancel()
            self._write_down(question, error)
            raise
        finally:
            self._open = None

    def _write_down(self, question: object, error: BaseException) -> None:
        audit = self._agent.resources.audit
        if audit is None or isinstance(error, AuditError):
            return
        ended = isinstance(error, TurnCancelled | KeyboardInterrupt | asyncio.CancelledError | GeneratorExit)
        kind = "" if ended else type(error).__name__
        audit.write(self._unanswered(str(question), "cancelled" if ended else "error", error=kind))

    def _unanswered(self, question: str, status: str, **more: Any) -> AuditRecord:
        database = self._agent.resources.database
        name = database_identity(database)
        return unanswered(question, status, database.session.identity, self.thread, database=name, **more)

    def _config(self, turn: OpenTurn | None = None) -> RunnableConfig:
        own: dict[str, Any] = {} if turn is None else {KEY: turn}
        return {"configurable": {"thread_id": self.thread, **own}}

    def _input(self, question: object, state: StateSnapshot, notes: str) -> Any:
        """What the graph is given: a new question, or the reply to what was asked back.

        What was asked back under wider rights, or of somebody else, is passed over: these words are a new question.

        Raises:
            TableturnError: It is neither words nor fields.
            NothingToDecide: It is a decision, and no query waits for one.
        """
        if not isinstance(question, str | Mapping):
            raise TableturnError(f"a turn takes a question as text, or the fields of a decision, not {question!r}")
        waits_for = self._waits_for(state)
        if isinstance(question, Mapping) and waits_for != "approve":
            raise NothingToDecide("no query of this conversation waits for approval: ask a question in words")
        if waits_for:
            return Command(resume=question)
        return {"messages": [HumanMessage(str(question))], **({"evidence": notes} if notes else {})}

    async def awaits_for(self) -> str:
        """What the conversation waits for: `approve`, a decision on a query; `clarify`, a reply; empty for nothing."""
        return self._waits_for(await self._graph.aget_state(self._config()))

    def _waits_for(self, state: StateSnapshot) -> str:
        values = _values(state)
        if not state.interrupts or not self._resumable(values.get("turn")):
            return ""
        return str(state.interrupts[0].value.get("kind", "clarify"))

    def _resumable(self, turn: Any) -> bool:
        """Whether a waiting turn goes on here: not one of an earlier version, nor one of wider rights."""
        return turn is not None and self._agent.resources.may_read(load(Turn, turn).rights)

    def _answered(self, output: Mapping[str, Any], turn: OpenTurn) -> Answer | None:
        """The turn's answer; None where it waits for a person.

        Raises:
            TurnCancelled: It was undone when it was all but done.
        """
        if turn.undone:
            raise TurnCancelled("this turn was cancelled; the ones before it are kept")
        if output.get(INTERRUPT):
            return None
        return Answer(load(AnswerRecord, output["answer"]), self.thread)

    def _asked_back(self, state: StateSnapshot) -> Answer:
        resources = self._agent.resources
        translator = resources.translator(resources.settings)
        values = _values(state)
        asked = pending_answer(values, state.interrupts[0].value, translator, resources.rights)
        if resources.audit is not None:
            sent = load(Turn, values["turn"]).sent if values.get("turn") else ()
            resources.audit.write(self._unanswered(asked.question, asked.status, queries=sent))
        return Answer(asked, self.thread)


def _values(saved: StateSnapshot) -> AgentState:
    """Return what a checkpoint holds, as this version reads it."""
    return cast("AgentState", {**saved.values, **upgrade(saved.values)} if saved.values else {})


def given_settings(settings: RunSettings) -> Settings | None:
    """Return the fields that override the agent's settings for one run; None where there are none."""
    return None if settings is None else make_settings(settings)


def _next_part(parts: Iterator[tuple[str, Any]], turn: OpenTurn) -> tuple[str, Any] | None:
    """The next part of a stream; None at its end. Only while it is fetched does Ctrl-C end the turn."""
    with interruptible(turn):
        return next(parts, None)
