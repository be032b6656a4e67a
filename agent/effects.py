"""Effects: how a node asks for work, so that one body serves `invoke` and `ainvoke`.

A node's body is a generator: it prepares, yields an effect (a task for the translator, a function that blocks, or a
request to a chat model), receives the result, and returns a state update. One driver runs all bodies, and the
translator's own with them: it keeps to the turn's budgets, counts what is spent, and calls off what is late. Only the
last step differs, an effect done blocking or awaited.
"""

from __future__ import annotations

import asyncio
import math
import threading
import time
from collections.abc import Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from contextlib import nullcontext
from contextvars import copy_context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Protocol, TypeVar

from ..prompts.task import Task
from ..tools.database import Cancellation
from ..tools.errors import ModelError, NotUnderstood, ReplyError, TurnCancelled
from .model.replies import get_reply_usage, is_closed_event_loop_error
from .model.turn_budget import BudgetReached, TaskAllowance, TurnBudget, report_task_usage, use_task_allowance
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


class TaskEffect(NamedTuple, Generic[R]):
    """An effect: a task for a translator, by default the translator of the body."""

    task: Task[R]
    translator: Translator | None = None


class FunctionEffect(NamedTuple, Generic[R]):
    """An effect: a function that waits for a disk, a database or a process."""

    function: Callable[[], R]
    abandoned: bool = False  # whether a cancelled turn leaves it to itself: it may take long


class ModelRequest(NamedTuple):
    """A request to a chat model: the messages, with their estimated size in `tokens`."""

    model: BaseChatModel
    messages: list[BaseMessage]
    tokens: int


Effect = TaskEffect[Any] | FunctionEffect[Any] | ModelRequest
Body = Generator[Effect, Any, R]  # a computation that yields effects and returns an `R`


class Done(NamedTuple, Generic[R]):
    """The result of a task, with notes for the answer."""

    reply: R
    notes: tuple[str, ...] = ()  # for the answer: what the prompt left out, what was repaired


NO_REPLY = (ReplyError, ModelError, NotUnderstood)
"""What a translator raises that does no task; each is for the body that asked to deal with."""


class Translator(Protocol):
    """A protocol for performers of tasks: a chat model or the offline parser."""

    name: str  # `offline` or `prompted`
    model: str  # the model's name as answers report it
    reads_examples: bool  # whether few-shot examples are of use to it; where not, none are fetched
    understands: bool  # whether its reply to a request for SQL can also ask back and decline

    def perform(self, task: Task[R]) -> Body[Done[R]]:
        """Perform a task, and return the result.

        Raises:
            ModelError: The model could not be reached or would not answer.
            ReplyError: It answered, but not in a usable form, retries included.
            NotUnderstood: The offline translator cannot read the question.
        """
        ...


def ask(task: Task[R], translator: Translator | None = None) -> Body[Done[R]]:
    """Have a translator perform a task, and return the result."""
    return (yield TaskEffect(task, translator))


def do(function: Callable[[], R]) -> Body[R]:
    """Call a function and return the result; under `ainvoke`, in a thread."""
    return (yield FunctionEffect(function))


def wait_for(function: Callable[[], R]) -> Body[R]:
    """Call a slow function and return the result; a cancelled turn does not wait for it."""
    return (yield FunctionEffect(function, abandoned=True))


@dataclass
class BudgetTracker:
    """The budget and the usage of the tasks of one body."""

    budget: TurnBudget  # what they may still cost
    query: int | None = None  # the number of the turn's query that the body works on, from 0; None outside a graph
    cancellation: Cancellation | None = None  # ends the body at its next effect, and what runs for it
    usage: Usage = field(default_factory=Usage)  # what they did cost


def run(body: Body[R], translator: Translator, tally: BudgetTracker) -> R:
    """Run a body to its end, blocking, and return the result."""
    return run_blocking(arun(body, translator, tally, blocking=True))


def run_blocking(coroutine: Coroutine[Any, Any, R]) -> R:
    """Run a coroutine that never suspends, and return the result."""
    try:
        coroutine.send(None)
    except StopIteration as stop:
        return stop.value
    raise AssertionError("a coroutine that must not suspend was suspended")


async def arun(body: Body[R], translator: Translator, tally: BudgetTracker, *, blocking: bool = False) -> R:
    """Run a body to its end, and return the result; if `blocking`, never suspend."""
    executor = (_BlockingExecutor if blocking else _AsyncExecutor)(tally.cancellation)
    return await _run_body(body, _EffectRunner(translator, tally, executor).perform)


class _EffectTimeout(Exception):
    """The error raised if an effect takes too long."""


class RequestFailed(Exception):
    """An error that the client of a chat model raised."""

    def __init__(self, error: Exception) -> None:
        super().__init__(str(error))
        self.error = error


class _EffectRunner(NamedTuple):
    """A runner of effects within the budget of one body.

    Both ways of doing an effect raise `_EffectTimeout` at a deadline, and `TurnCancelled` if the turn is cancelled. A
    function that is not to be abandoned is waited for even then.
    """

    translator: Translator
    tally: BudgetTracker
    way: _BlockingExecutor | _AsyncExecutor

    async def perform(self, effect: Effect) -> Any:
        """Perform an effect of a node's body, and return the result."""
        if self.tally.cancellation is not None and self.tally.cancellation.cancelled:
            raise make_cancellation_error()
        if isinstance(effect, TaskEffect):
            return await self._perform_task(effect.task, effect.translator or self.translator)
        if isinstance(effect, FunctionEffect):
            with use_task_allowance(TaskAllowance(self.tally.budget)):
                return await self.way.call(effect.function, math.inf, abandoned=effect.abandoned)
        raise TypeError("only a translator may send requests to a model")

    async def _perform_task(self, task: Task[R], translator: Translator) -> Done[R]:
        """Have a translator perform a task within the time limit, retries included."""
        allowance = TaskAllowance(self.tally.budget)
        allowance.budget.check_time_left()
        deadline = time.monotonic() + min(allowance.budget.seconds, allowance.budget.task_seconds)

        async def perform_effect(effect: Effect) -> Any:
            seconds = deadline - time.monotonic()
            if seconds <= 0:
                raise _stop_late_task(allowance)
            try:
                if isinstance(effect, ModelRequest):
                    return await self._send_request(effect, task.name, allowance, seconds)
                assert isinstance(effect, FunctionEffect), "a translator asks nobody else"
                return await self.way.call(effect.function, seconds)
            except _EffectTimeout:
                raise _stop_late_task(allowance) from None

        with use_task_allowance(allowance):
            try:
                return await _run_body(translator.perform(task), perform_effect)
            except TurnCancelled:
                allowance.cancel_requests()
                raise
            finally:
                self.tally.usage += allowance.usage
                self.tally.budget = allowance.remaining_budget
                report_task_usage(allowance.usage)

    async def _send_request(
        self, request: ModelRequest, task: str, allowance: TaskAllowance, seconds: float
    ) -> AIMessage:
        """Send a request to a chat model, and add its cost to the usage."""
        before = allowance.usage.llm_calls

        def count_unreported_request() -> int:
            return int(allowance.usage.llm_calls == before)

        try:
            metadata = {TASK: task} if self.tally.query is None else {TASK: task, QUERY_NUMBER: self.tally.query}
            config: RunnableConfig = {"run_name": task, "metadata": metadata}
            reply = await self.way.send(request, config, allowance, seconds)
        except BudgetReached:
            raise  # the client sent nothing more
        except (TurnCancelled, asyncio.CancelledError, _EffectTimeout):
            # The model may have read the prompt, and is paid for that.
            allowance.usage += Usage(count_unreported_request(), request.tokens)
            raise
        except Exception as error:
            allowance.usage += Usage(count_unreported_request())
            if isinstance(error, ModelError):
                raise
            raise RequestFailed(error) from error
        allowance.usage += replace(get_reply_usage(reply, request.tokens), llm_calls=count_unreported_request())
        return reply


async def _run_body(body: Body[R], perform: Callable[[Effect], Awaitable[Any]]) -> R:
    """Run a body to its end; raise the error of a failed effect inside the body."""
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


def _stop_late_task(allowance: TaskAllowance) -> ModelError:
    """Stop a task that takes too long; return the error to raise."""
    allowance.cancel_requests()
    try:
        allowance.budget.check_time_left()
    except BudgetReached as reached:
        return reached
    return ModelError(
        f"the model's reply was not complete after {allowance.budget.task_seconds:.0f} s: "
        "try again, or raise request_seconds"
    )


class _BlockingExecutor(NamedTuple):
    """An executor of effects in this thread, or in one abandoned on timeout or cancellation.

    That thread sends nothing more, and its connection is closed (`Allowance.cancel_requests`).
    """

    cancellation: Cancellation | None

    async def call(self, function: Callable[[], Any], seconds: float, *, abandoned: bool = True) -> Any:
        """Call a function and return the result, within a number of seconds."""
        if seconds == math.inf and not (abandoned and self.cancellation):
            return function()
        outcome = start_in_thread(function)
        deadline = time.monotonic() + seconds
        while (remaining_seconds := deadline - time.monotonic()) > 0:
            if self.cancellation and self.cancellation.cancelled:
                raise make_cancellation_error()
            try:
                return outcome.result(min(remaining_seconds, _SLICE_SECONDS))
            except TimeoutError:
                if outcome.done():
                    return outcome.result()  # its value, or the function's own error
        raise _EffectTimeout

    async def send(
        self, request: ModelRequest, config: RunnableConfig, allowance: TaskAllowance, seconds: float
    ) -> AIMessage:
        """Send a request to a chat model and return the reply, within a number of seconds."""
        return await self.call(lambda: request.model.invoke(request.messages, config), seconds)


def start_in_thread(function: Callable[[], R]) -> Future[R]:
    """Call a function in a daemon thread, in the caller's context.

    Threads of the standard library's executors would not do: at its end a program waits for them, and so for a server
    that never replies.
    """
    outcome: Future[R] = Future()

    def run_function() -> None:
        try:
            outcome.set_result(context.run(function))
        except BaseException as error:  # noqa: BLE001 - handed over to whoever waits
            outcome.set_exception(error)

    context = copy_context()
    threading.Thread(target=run_function, daemon=True).start()
    return outcome


def make_cancellation_error() -> TurnCancelled:
    """Return the error to raise for a turn that a person cancelled."""
    return TurnCancelled("this turn was cancelled; earlier turns are not affected")


class _AsyncExecutor(NamedTuple):
    """An executor of effects that does not block the event loop."""

    cancellation: Cancellation | None

    async def call(self, function: Callable[[], Any], seconds: float, *, abandoned: bool = True) -> Any:
        """Call a function in a thread and await the result, for a number of seconds."""
        return await self._await_with_timeout(asyncio.to_thread(function), seconds)

    async def send(
        self, request: ModelRequest, config: RunnableConfig, allowance: TaskAllowance, seconds: float
    ) -> AIMessage:
        """Send a request to a chat model and await the reply, for a number of seconds."""
        return await self._await_with_timeout(_ainvoke_model(request, config, allowance), seconds)

    async def _await_with_timeout(self, result: Coroutine[Any, Any, R], seconds: float) -> R:
        """Await a result for at most `seconds`, without polling: hundreds may wait at once."""
        loop = asyncio.get_running_loop()
        task, stop = asyncio.create_task(result), loop.create_future()

        def signal_cancellation() -> None:
            loop.call_soon_threadsafe(lambda: stop.done() or stop.set_result(None))

        try:
            with self.cancellation.watch(signal_cancellation) if self.cancellation else nullcontext():
                limit = None if seconds == math.inf else seconds
                await asyncio.wait((task, stop), timeout=limit, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                return task.result()
        finally:
            task.cancel()
        raise make_cancellation_error() if stop.done() else _EffectTimeout


async def _ainvoke_model(request: ModelRequest, config: RunnableConfig, allowance: TaskAllowance) -> AIMessage:
    """Invoke the model; retry if the client reused a connection of a closed event loop.

    Clients are shared, and each such try rids their pool of one dead connection. Without this the second
    `asyncio.run` of a program would fail. Nothing went out over it, so that it counts as no request.
    """
    usage, tries = allowance.usage, _DEAD_CONNECTIONS
    while True:
        try:
            return await request.model.ainvoke(request.messages, config)
        except RuntimeError as error:
            if not tries or not is_closed_event_loop_error(error):
                raise
            allowance.usage, tries = usage, tries - 1
