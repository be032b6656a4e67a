"""Running turns: each is a task that continues when nobody is watching."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading
import time
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from opentelemetry import trace

from ..agent import Answer
from ..agent.answers.render import render_answer
from ..agent.conversation import NO_DECISION
from ..agent.effects import make_cancellation_error
from ..agent.model.turn_budget import observe_task_usage
from ..tools.errors import NothingToDecide, TableturnError, TurnCancelled
from .daily_budget import DailyBudget
from .errors import log_internal_error, make_error
from .request_checks import TooMany
from .store import WORKER_SECONDS, Busy, NotKept, NotThere, Owner, StoredTurn, StoreError, TurnRequest, TurnStore

if TYPE_CHECKING:
    from ..agent import SQLAgent
    from ..agent.conversation import Conversation
    from ..agent.records import AnswerRecord, Usage
    from .config import ServerLimits
    from .metrics import Metrics
    from .store import TurnStatus

_log = logging.getLogger(__name__)
_tracer = trace.get_tracer("tableturn")

SENT_EVENTS = frozenset({"reading", "linked", "sql_delta", "sql", "rows", "early_answer", "note", "clarify", "answer"})
"""Events that are sent to clients; the others are about nodes and their state."""

_STOPPING = "the server is stopping: ask again"
_BEAT_SECONDS = 2.0
_WATCH_SECONDS = 0.1
_SILENT_SECONDS = 3 * _BEAT_SECONDS
_GRACE_SECONDS = 10.0  # how long turns may go on once the server is told to stop


class Internal(TableturnError):
    """An unexpected error of tableturn.

    What to do: find the reference from the message in the server's log, and report the problem.
    """


@dataclass
class RunningTurn:
    """A turn that runs in this worker."""

    record: StoredTurn
    request: TurnRequest
    conversation: Conversation
    events: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])  # as JSON; the answer comes last
    answer: Answer | None = None
    error: TableturnError | None = None  # why there is none
    done: bool = False
    stopped: bool = False  # whether it is to be cancelled, even before it has begun to run
    task: asyncio.Task[None] | None = None
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def id(self) -> str:
        """The turn's id."""
        return self.record.id

    def add_event(self, event: dict[str, Any]) -> None:
        """Add an event to the turn."""
        self.events.append(event)
        self._news.set()

    def finish(self) -> None:
        """Mark the turn as done."""
        self.done = True
        self._news.set()

    def stop(self) -> None:
        """Cancel the turn, even if it has not begun to run."""
        self.stopped = True
        self.conversation.cancel()

    async def watch(self, last_number: int = 0) -> AsyncIterator[tuple[int, dict[str, Any]]]:
        """Yield the turn's numbered events after number `last_number`, until the turn is done."""
        number = min(last_number, len(self.events))
        while True:
            while number < len(self.events):
                number += 1
                yield number, self.events[number - 1]
            if self.done:
                if (answer := self.answer) is not None and number == len(self.events):
                    yield number + 1, {"event": "answer", "turn": self.id, **render_answer(answer)}
                return
            self._news.clear()
            await self._news.wait()

    async def wait(self) -> Answer:
        """Return the turn's answer once it is done; raise its error if there is none."""
        assert self.task is not None
        await asyncio.shield(self.task)
        if self.answer is None:
            raise self.error or Internal("the turn ended without an answer: ask again")
        return self.answer


class RunningTurns:
    """The running turns of one worker."""

    def __init__(self, store: TurnStore, limits: ServerLimits, metrics: Metrics) -> None:
        self._store = store
        self._limits = limits
        self._metrics = metrics
        self.budget = DailyBudget(store, limits)
        self._turns: dict[str, RunningTurn] = {}
        self._starts: dict[str, Owner] = {}
        self._pending_writes: dict[str, Callable[[], StoredTurn]] = {}
        self._watch_task: asyncio.Task[None] | None = None
        self._end_task: asyncio.Task[None] | None = None
        self._stop_event = threading.Event()
        self._heart = threading.Thread(target=self._run_heartbeat, name="tableturn-heartbeat", daemon=True)
        self.end_event = asyncio.Event()

    def start(self) -> None:
        """Start the heartbeat and the watch for requests to stop turns."""
        self._watch_task = asyncio.create_task(self._cancel_requested_turns())
        self._heart.start()

    def stop_turns_gracefully(self, grace: float = _GRACE_SECONDS) -> asyncio.Task[None]:
        """Let turns finish within `grace` seconds, then cancel them; accept no new turns."""
        if self._end_task is None:
            self._end_task = asyncio.create_task(self._finish_or_cancel_turns(grace))
        return self._end_task

    async def _finish_or_cancel_turns(self, grace: float) -> None:
        tasks = [turn.task for turn in self._turns.values() if turn.task]
        if tasks:
            await asyncio.wait(tasks, timeout=grace)
        for turn in list(self._turns.values()):
            turn.stop()
        if tasks:
            await asyncio.wait(tasks, timeout=5)
        self.end_event.set()  # whoever follows a turn of another worker is let go

    async def stop(self) -> None:
        """Let turns finish or cancel them, then stop the heartbeat."""
        await self.stop_turns_gracefully()
        self._stop_event.set()  # what is being written is written to its end
        if self._watch_task is not None:
            await self._watch_task
        await asyncio.to_thread(self._heart.join)

    def get(self, id_: str) -> RunningTurn | None:
        """Return a turn that runs in this worker, or None."""
        return self._turns.get(id_)

    async def begin(self, agent: SQLAgent, request: TurnRequest) -> RunningTurn:
        """Start a turn in a task of this worker.

        Raises:
            Busy: Its thread takes one already, or there are too many at once.
            TooMany: The sum for today is spent, or may be by the turns that run.
            NotThere: There is no such thread.
            NothingToDecide: It is a decision, and no query waits for one.
            TurnCancelled: The server is stopping.
            StoreError: It cannot be kept.
        """
        if self._end_task is not None:
            raise TurnCancelled(_STOPPING)
        owners = [*(turn.request.owner for turn in self._turns.values()), *self._starts.values()]
        if len(owners) >= self._limits.at_once:
            raise TooMany("the server is busy: try again in a moment")
        own_count = owners.count(request.owner)
        if request.owner.person and own_count >= self._limits.at_once_a_person:
            raise TooMany(f"{own_count} of your questions are running already: wait for one of them, or stop it")
        id_ = uuid.uuid4().hex
        self._starts[id_] = request.owner
        try:
            await self.budget.check_turn(request.owner, owners)
            conversation = agent.conversation(request.thread or None)
            if request.decision is not None and await conversation.awaits_for() != "approve":
                raise NothingToDecide(NO_DECISION)
            record = await self._store.run(self._store.begin_turn, request, agent.resources.rights, id_)
            if request.leave and await conversation.awaits_for() == "approve":
                await asyncio.to_thread(conversation.undo)
            turn = RunningTurn(record, request, conversation)
            self._turns[turn.id] = turn
        finally:
            del self._starts[id_]
        turn.task = asyncio.create_task(self._run_turn_in_span(turn, agent))
        return turn

    async def cancel(self, owner: Owner, id_: str) -> None:
        """Cancel a turn that runs in this worker or in another one."""
        if (turn := self._turns.get(id_)) is not None and turn.request.owner == owner:
            turn.stop()
        else:
            await self._store.run(self._store.request_turn_stop, owner, id_)

    async def cancel_and_wait(self, owner: Owner, thread: str | None = None) -> None:
        """Cancel all turns of a person, or those of one thread, and wait for their end."""
        deadline = time.monotonic() + WORKER_SECONDS + 2 * _BEAT_SECONDS
        while turn_ids := await self._store.run(self._store.list_running_turns, owner, thread):
            if time.monotonic() > deadline:
                raise Busy("a running turn could not be stopped: try again in a moment")
            for id_ in turn_ids:
                await self.cancel(owner, id_)
            await asyncio.sleep(_WATCH_SECONDS)

    async def _run_turn_in_span(self, turn: RunningTurn, agent: SQLAgent) -> None:
        """Run a turn in a trace span that records its outcome but not its question."""

        def record_usage(usage: Usage) -> None:
            self._store.add_token_usage(usage, turn.request.owner.person)
            self._metrics.count_model_usage(usage)

        with _tracer.start_as_current_span("tableturn.turn", attributes={"tableturn.turn.id": turn.id}) as span:
            with observe_task_usage(record_usage):
                await self._run_and_store_turn(turn, agent)
            if turn.answer is not None:
                usage = turn.answer.usage
                self.budget.record_turn(usage)
                span.set_attributes({"tableturn.status": turn.answer.status, "tableturn.calls": usage.llm_calls})
                span.set_attributes({"tableturn.tokens": usage.tokens, "tableturn.rows": turn.answer.row_count})
            elif turn.error is not None:
                span.set_attribute("error.type", type(turn.error).__name__)

    async def _run_and_store_turn(self, turn: RunningTurn, agent: SQLAgent) -> None:
        start = time.perf_counter()
        answer: Answer | None = None
        try:
            inputs, conversation = turn.request, turn.conversation
            if turn.stopped:
                raise make_cancellation_error()
            if not inputs.watched:
                answer = await conversation.aask(inputs.question, settings=inputs.settings, notes=inputs.notes)
            else:
                async for event in conversation.astream(inputs.question, settings=inputs.settings, notes=inputs.notes):
                    answer = event.answer
                    if event.kind in SENT_EVENTS and answer is None:
                        turn.add_event(event.to_dict())
            assert answer is not None
            await self._store_turn_end(turn, "answered", answer.kept)
            turn.answer = answer  # it is told once it is kept
        except BaseException as error:
            await self._record_turn_error(turn, error)
            if not isinstance(error, Exception):
                raise
        finally:
            self._metrics.count_turn(turn.answer, turn.error, time.perf_counter() - start)
            del self._turns[turn.id]
            turn.finish()
            if not turn.request.thread or isinstance(turn.error, NotThere):
                with contextlib.suppress(Exception):
                    await agent.adelete_thread(turn.conversation.thread)

    async def _store_turn_end(
        self,
        turn: RunningTurn,
        status: TurnStatus,
        answer: AnswerRecord | None = None,
        error: TableturnError | None = None,
    ) -> None:
        """Store how a turn ended; if storing fails, retry with every heartbeat."""
        end = partial(self._store.end_turn, turn.record, status, answer, error)
        try:
            turn.record = await self._store.run(end)
        except StoreError:
            self._pending_writes[turn.id] = end
            raise

    async def _record_turn_error(self, turn: RunningTurn, error: BaseException) -> None:
        if not isinstance(error, Exception):
            error = TurnCancelled(_STOPPING)
        elif not isinstance(error, TableturnError):
            error = Internal(log_internal_error(error))
        turn.error = error
        try:
            status = "stopped" if isinstance(error, TurnCancelled) else "failed"
            if turn.id not in self._pending_writes:
                await self._store_turn_end(turn, status, None, error)
        except NotThere as cause:
            turn.error = error = cause
        except StoreError as failure:
            _log.error("turn %s: %s", turn.id, failure)
        turn.add_event({"event": "error", "turn": turn.id, **make_error(type(error).__name__, str(error))["error"]})

    def _run_heartbeat(self) -> None:
        """Run this worker's heartbeat in a thread of its own."""
        beat_time, steady = time.monotonic(), -math.inf
        while True:
            try:
                self._store.record_heartbeat()
                beat_time, previous_time = time.monotonic(), beat_time
                if beat_time - previous_time > _SILENT_SECONDS:
                    steady = beat_time
                self._end_lost_turns()
                # What kept this worker from being heard of may have kept the others: they get time to come back.
                if beat_time - steady > _SILENT_SECONDS:
                    self._store.mark_orphaned_turns_as_lost()
            except StoreError as error:
                _log.warning("the heartbeat of this worker could not be stored: %s", error)
            except Exception:  # noqa: BLE001 - a worker that is not heard of loses all of its turns
                _log.exception("a heartbeat failed")
            if self._stop_event.wait(_BEAT_SECONDS):
                return

    def _end_lost_turns(self) -> None:
        """End turns that are stored as running in this worker but do not run."""
        for id_, end in tuple(self._pending_writes.items()):
            with contextlib.suppress(NotThere, NotKept):
                end()
            del self._pending_writes[id_]
        for id_ in self._store.list_worker_turns():
            if id_ not in self._starts and id_ not in self._turns:  # in this order: it is never in neither between
                self._store.mark_turn_as_lost(id_)

    async def _cancel_requested_turns(self) -> None:
        """Cancel this worker's turns for which another worker stored a request to stop."""
        while not self._stop_event.is_set():
            await asyncio.sleep(_WATCH_SECONDS)
            if self._turns:
                with contextlib.suppress(StoreError):
                    for id_ in await self._store.run(self._store.list_turns_to_stop):
                        if (turn := self._turns.get(id_)) is not None:
                            turn.stop()

    async def wait_for_remote_turn(self, owner: Owner, id_: str, interval: float = 0.25) -> StoredTurn:
        """Return a turn of another worker once it ends, or as it is when this worker stops."""
        while (turn := await self._store.run(self._store.get_turn, owner, id_)).status == "running":
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.end_event.wait(), interval)
                break
        return turn
