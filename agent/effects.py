"""Effects: how a node asks for work, so that one body serves `invoke` and `ainvoke`.

A node's body is a generator: it prepares, yields an effect (a task for the translator, a function that blocks, or a
request to a chat model), receives the result, and returns a state update. One driver runs all bodies, and the
translator's own with them: it keeps to the turn's budgets, counts what is spent, and calls off what is late. Only the
last step differs, an effect done blocking or awaited.
"""

from __future__ import annotations

import asyncio
import math
import os
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from ..prompts.task import Task
from ..tools.database import Cancellation
from ..tools.errors import ModelError, NotUnderstood, ReplyError, TurnCancelled
from .model.replies import loop_is_gone, reply_usage
from .model.turn_budget import Allowance, Budget, BudgetReached, report_cost, use_allowance
from .records import Usage

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import AIMessage, BaseMessage
    from langchain_core.runnables import RunnableConfig

R = TypeVar("R")

TASK, QUERY_NUMBER = "tableturn_task", "tableturn_query"
"""Metadata of a request's run: the task's name, and the number of the turn's query that it is for, from 0."""

_SLICE_SECONDS = 0.05  # a cancellation is noticed within so many seconds
_DEAD_CONNECTIONS = 100  # as many as the pools of the usual clients keep alive

_OURS = (ModelError, TurnCancelled)
"""What code of ours within a client's call raises: a budget was reached, or the turn was cancelled."""


class Ask(NamedTuple, Generic[R]):
    """A task for the translator, or for another one."""

    task: Task[R]
    translator: Translator | None = None


class Do(NamedTuple, Generic[R]):
    """A function that waits for a disk, a database or a process."""

    function: Callable[[], R]
    abandoned: bool = False  # whether a cancelled turn leaves it to itself: it may take long


class ModelRequest(NamedTuple):
    """Messages for a chat model, with their estimated size in `tokens`."""

    model: BaseChatModel
    messages: list[BaseMessage]
    tokens: int


Effect = Ask[Any] | Do[Any] | ModelRequest
Body = Generator[Effect, Any, R]  # a computation that yields effects and returns an `R`


class Done(NamedTuple, Generic[R]):
    """The result of a task."""

    reply: R
    notes: tuple[str, ...] = ()  # for the answer: what the prompt left out, what was repaired


NO_REPLY = (ReplyError, ModelError, NotUnderstood)
"""What a translator raises that does no task; each is for the body that asked to deal with."""


class Translator(Protocol):
    """A performer of tasks: a chat model or the offline parser."""

    name: str  # `offline` or `prompted`
    model: str  # the model's name as answers report it
    reads_examples: bool  # whether few-shot examples are of use to it; where not, none are fetched
    understands: bool  # whether its reply to a request for SQL can also ask back and decline

    def perform(self, task: Task[R]) -> Body[Done[R]]:
        """Perform the task.

        Raises:
            ModelError: The model could not be reached or would not answer.
            ReplyError: It answered, but not in a usable form, retries included.
            NotUnderstood: The offline translator cannot read the question.
        """
        ...


def ask(task: Task[R], translator: Translator | None = None) -> Body[Done[R]]:
    """Return the result of a task, by the body's own translator or another."""
    return (yield Ask(task, translator))


def do(function: Callable[[], R]) -> Body[R]:
    """Return the function's result; under `ainvoke` it runs in a thread."""
    return (yield Do(function))


def wait_for(function: Callable[[], R]) -> Body[R]:
    """Return the function's result; a cancelled turn does not wait for it."""
    return (yield Do(function, abandoned=True))


@dataclass
class Tally:
    """The usage of one body's tasks."""

    budget: Budget  # what they may still cost
    query: int | None = None  # the number of the turn's query that the body works on, from 0; None outside a graph
    cancellation: Cancellation | None = None  # ends the body at its next effect, and what runs for it
    usage: Usage = field(default_factory=Usage)  # what they did cost

    def config(self, task: str) -> RunnableConfig:
        """Return the configuration that names a request's run after its task."""
        metadata: dict[str, Any] = {TASK: task}
        return {"run_name": task, "metadata": metadata if self.query is None else metadata | {QUERY_NUMBER: self.query}}


def run(body: Body[R], translator: Translator, tally: Tally) -> R:
    """Run a body, blocking."""
    return run_blocking(arun(body, translator, tally, blocking=True))


def run_blocking(coroutine: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine in which nothing ever waits, and return its result."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("what blocks was awaited")


async def arun(body: Body[R], translator: Translator, tally: Tally, *, blocking: bool = False) -> R:
    """Run a body without blocking the event loop; if `blocking`, nothing ever waits."""
    way = (_Blocking if blocking else _Awaiting)(tally.cancellation)
    return await _drive(body, _Driver(translator, tally, way).perform)


class _Late(Exception):
    """An effect that took too long."""


class RequestFailed(Exception):
    """An error that a model's client raised, as distinct from our own faults."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _Driver(NamedTuple):
    """A runner of bodies within the budget of a tally.

    Both ways of doing an effect raise `_Late` after so many seconds, and `TurnCancelled` once the turn is cancelled. A
    function that is not to be abandoned is waited for even then.
    """

    translator: Translator
    tally: Tally
    way: _Blocking | _Awaiting

    async def perform(self, effect: Effect) -> Any:
        """Perform an effect of a node's body."""
        if self.tally.cancellation is not None and self.tally.cancellation.cancelled:
            raise cancelled_turn()
        if isinstance(effect, Ask):
            return await self._ask(effect.task, effect.translator or self.translator)
        if isinstance(effect, Do):
            with use_allowance(Allowance(self.tally.budget)):
                return await self.way.call(effect.function, math.inf, abandoned=effect.abandoned)
        raise TypeError("only translators send requests")

    async def _ask(self, task: Task[R], translator: Translator) -> Done[R]:
        """Let a translator perform a task within the time for one task, retries included."""
        allowance = Allowance(self.tally.budget)
        allowance.budget.check_seconds()
        until = time.monotonic() + allowance.budget.wait

        async def perform(effect: Effect) -> Any:
            seconds = until - time.monotonic()
            if seconds <= 0:
                raise _stop_late_task(allowance)
            try:
                if isinstance(effect, ModelRequest):
                    return await self._send(effect, task.name, allowance, seconds)
                assert isinstance(effect, Do), "a translator asks nobody else"
                return await self.way.call(effect.function, seconds)
            except _Late:
                raise _stop_late_task(allowance) from None

        with use_allowance(allowance):
            try:
                return await _drive(translator.perform(task), perform)
            except TurnCancelled:
                allowance.call_off()
                raise
            finally:
                self.tally.usage += allowance.spent
                self.tally.budget = allowance.left
                report_cost(allowance.spent)

    async def _send(self, request: ModelRequest, task: str, allowance: Allowance, seconds: float) -> AIMessage:
        """Send a request, and count it as at least one."""
        before = allowance.spent.llm_calls

        def count_request() -> int:
            return int(allowance.spent.llm_calls == before)

        try:
            reply = await self.way.send(request, self.tally.config(task), allowance, seconds)
        except BudgetReached:
            raise  # the client sent nothing more
        except (TurnCancelled, asyncio.CancelledError, _Late):
            # The model may have read the prompt, and is paid for that.
            allowance.spent += Usage(count_request(), request.tokens)
            raise
        except Exception:
            allowance.spent += Usage(count_request())
            raise
        allowance.spent += replace(reply_usage(reply, request.tokens), llm_calls=count_request())
        return reply


async def _drive(body: Body[R], perform: Callable[[Effect], Awaitable[Any]]) -> R:
    """Run a body; an effect's failure is raised inside it."""
    advance: Callable[[], Effect] = partial(next, body)
    while True:
        try:
            effect = advance()
        except StopIteration as stop:
            return stop.value
        try:
            result = await perform(effect)
        except TurnCancelled:
            body.close()  # it has no say in this
            raise
        except Exception as error:  # noqa: BLE001 - see above
            advance = partial(body.throw, error)
        else:
            advance = partial(body.send, result)


def _stop_late_task(allowance: Allowance) -> ModelError:
    """Stop a late task; return the error that says so."""
    allowance.call_off()
    try:
        allowance.budget.check_seconds()
    except BudgetReached as reached:
        return reached
    return ModelError(
        f"the model's reply was not complete after {allowance.budget.task_seconds:.0f} s: "
        "try again, or raise request_seconds"
    )


class _Blocking(NamedTuple):
    """Effects performed here, or in a thread that is abandoned after a timeout or cancellation.

    That thread sends nothing more, and its connection is closed (`Allowance.call_off`).
    """

    cancellation: Cancellation | None

    async def call(self, function: Callable[[], Any], seconds: float, *, abandoned: bool = True) -> Any:
        if seconds == math.inf and not (abandoned and self.cancellation):
            return function()
        outcome = start(function)
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            if self.cancellation and self.cancellation.cancelled:
                raise cancelled_turn()
            try:
                return outcome.result(min(left, _SLICE_SECONDS))
            except TimeoutError:
                if outcome.done():
                    return outcome.result()  # its value, or the function's own error
        raise _Late

    async def send(
        self, request: ModelRequest, config: RunnableConfig, allowance: Allowance, seconds: float
    ) -> AIMessage:
        return await self.call(lambda: _invoke(request, config), seconds)


_idle: list[SimpleQueue[Callable[[], None]]] = []
"""By the queue that it waits at, each thread that has nothing to do: starting one takes longer than most effects."""

os.register_at_fork(after_in_child=_idle.clear)


def start(function: Callable[[], R]) -> Future[R]:
    """Call a function in a daemon thread, in the caller's context.

    Threads of the standard library's executors would not do: at its end a program waits for them, and so for a server
    that never replies.
    """
    outcome: Future[R] = Future()

    def work() -> None:
        try:
            result = context.run(function)
        except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
            tell: Callable[[], None] = partial(outcome.set_exception, error)
        else:
            tell = partial(outcome.set_result, result)
        _idle.append(jobs)  # before anybody can ask for another thread
        tell()

    context = copy_context()
    try:
        jobs = _idle.pop()
    except IndexError:
        jobs = SimpleQueue[Callable[[], None]]()
        threading.Thread(target=_work_off, args=(jobs,), daemon=True).start()
    jobs.put(work)
    return outcome


def _work_off(jobs: SimpleQueue[Callable[[], None]]) -> None:
    while True:
        jobs.get()()


def cancelled_turn() -> TurnCancelled:
    """Return the error of a turn that a person cancelled."""
    return TurnCancelled("this turn was cancelled; earlier turns are not affected")


class _Awaiting(NamedTuple):
    """Effects that are awaited."""

    cancellation: Cancellation | None

    async def call(self, function: Callable[[], Any], seconds: float, *, abandoned: bool = True) -> Any:
        return await self._await_result(asyncio.to_thread(function), seconds)

    async def send(
        self, request: ModelRequest, config: RunnableConfig, allowance: Allowance, seconds: float
    ) -> AIMessage:
        return await self._await_result(_ainvoke(request, config, allowance), seconds)

    async def _await_result(self, result: Coroutine[Any, Any, R], seconds: float) -> R:
        """Return the result within `seconds`, without polling: hundreds may wait at once."""
        loop = asyncio.get_running_loop()
        task, stopped = asyncio.create_task(result), loop.create_future()

        def stop() -> None:
            loop.call_soon_threadsafe(lambda: stopped.done() or stopped.set_result(None))

        try:
            with self.cancellation.watch(stop) if self.cancellation else nullcontext():
                limit = None if seconds == math.inf else seconds
                await asyncio.wait((task, stopped), timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
        finally:
            task.cancel()
        raise cancelled_turn() if stopped.done() else _Late


def _invoke(request: ModelRequest, config: RunnableConfig) -> AIMessage:
    try:
        return request.model.invoke(request.messages, config)
    except _OURS:
        raise
    except Exception as error:
        raise RequestFailed(error) from error


async def _ainvoke(request: ModelRequest, config: RunnableConfig, allowance: Allowance) -> AIMessage:
    """Ask the model; ask again if the client reused a connection of a closed event loop.

    Clients are shared, and each such try rids their pool of one dead connection. Without this the second
    `asyncio.run` of a program would fail. Nothing went out over it, so that it counts as no request.
    """
    spent, left = allowance.spent, _DEAD_CONNECTIONS
    while True:
        try:
            return await request.model.ainvoke(request.messages, config)
        except _OURS:
            raise
        except Exception as error:
            if not left or not (isinstance(error, RuntimeError) and loop_is_gone(error)):
                raise RequestFailed(error) from error
            allowance.spent, left = spent, left - 1
