"""How a node asks for what it cannot do itself, so that one body serves `invoke` and `ainvoke`.

A node's body is a generator: it prepares, yields an effect (a task for the translator, or a function that blocks),
receives the result, absorbs it, and returns a state update. Two small drivers run a body: one blocks, one awaits.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Generator
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from ..prompts.task import Task
from ..tools.errors import ModelError
from .budget import Allowance, Budget, BudgetReached, spending
from .translator import Done, Translator, Usage

R = TypeVar("R")


@dataclass(frozen=True)
class Ask(Generic[R]):
    """Have the translator do a task."""

    task: Task[R]


@dataclass(frozen=True)
class Do(Generic[R]):
    """Call a function that waits on a disk, a database or a process."""

    function: Callable[[], R]


Effect = Ask[Any] | Do[Any]
Body = Generator[Effect, Any, R]
"""A computation that yields effects and returns an `R`."""


def ask(task: Task[R]) -> Body[Done[R]]:
    """The task, done."""
    return (yield Ask(task))


def do(function: Callable[[], R]) -> Body[R]:
    """The function's result; under `ainvoke` it runs in a thread."""
    return (yield Do(function))


@dataclass
class Tally:
    """Counts what the tasks of one body cost.

    Attributes:
        budget: What they may cost.
        usage: What they did.
    """

    budget: Budget
    usage: Usage = field(default_factory=Usage)

    @property
    def left(self) -> Budget:
        """The budget, less what was spent."""
        return self.budget.after(self.usage)

    def add(self, result: Any) -> None:
        """Adds the usage of a task that was done, or failed after a model was asked; the rest costs nothing."""
        spent = result.usage if isinstance(result, Done) else getattr(result, "spent", None)
        if isinstance(spent, Usage):
            self.usage = self.usage + spent


def run(body: Body[R], translator: Translator, tally: Tally) -> R:
    """Runs a body, blocking."""
    effect = _start(body)
    while isinstance(effect, Ask | Do):
        try:
            allowance = Allowance(tally.left)
            result: Any = (
                _asked(translator, effect.task, allowance) if isinstance(effect, Ask) else _did(effect, allowance)
            )
        except Exception as error:  # noqa: BLE001 - the body decides what an effect's failure means
            tally.add(error)
            effect = _step(lambda error=error: body.throw(error))
            continue
        tally.add(result)
        effect = _step(lambda result=result: body.send(result))
    return effect.value


async def arun(body: Body[R], translator: Translator, tally: Tally) -> R:
    """Runs a body without blocking the event loop."""
    effect = _start(body)
    while isinstance(effect, Ask | Do):
        try:
            allowance = Allowance(tally.left)
            if isinstance(effect, Ask):
                result: Any = await _aasked(translator, effect.task, allowance)
            else:
                result = await asyncio.to_thread(_did, effect, allowance)
        except Exception as error:  # noqa: BLE001 - the body decides what an effect's failure means
            tally.add(error)
            effect = _step(lambda error=error: body.throw(error))
            continue
        tally.add(result)
        effect = _step(lambda result=result: body.send(result))
    return effect.value


def _did(effect: Do[R], allowance: Allowance) -> R:
    with spending(allowance):
        return effect.function()


def _asked(translator: Translator, task: Task[R], allowance: Allowance) -> Done[R]:
    """The task, done in a thread that is left to itself when time is up: a blocking request cannot be called off.

    That thread sends nothing more.
    """
    allowance.budget.check_seconds()
    outcome: Future[Done[R]] = Future()

    def work() -> None:
        try:
            with spending(allowance):
                outcome.set_result(translator.do(task))
        except BaseException as error:  # noqa: BLE001 - handed over to the waiting thread
            outcome.set_exception(error)

    threading.Thread(target=copy_context().run, args=(work,), daemon=True).start()
    try:
        return outcome.result(allowance.budget.wait)
    except TimeoutError:
        raise _called_off(allowance) from None


async def _aasked(translator: Translator, task: Task[R], allowance: Allowance) -> Done[R]:
    allowance.budget.check_seconds()
    with spending(allowance):
        try:
            return await asyncio.wait_for(translator.ado(task), allowance.budget.wait)
        except TimeoutError:
            raise _called_off(allowance) from None


def _called_off(allowance: Allowance) -> ModelError:
    """Ends a task that is late: the error that says so, with the requests that were sent for it."""
    allowance.called_off = True
    try:
        allowance.budget.check_seconds()
    except BudgetReached as reached:
        error: ModelError = reached
    else:
        error = ModelError(
            f"the model's reply was not complete after {allowance.budget.patience:.0f} s: "
            "try again, or raise request_seconds"
        )
    error.spent = Usage(max(allowance.sent, 1))
    return error


@dataclass(frozen=True)
class _Returned(Generic[R]):
    value: R


def _start(body: Body[R]) -> Effect | _Returned[R]:
    return _step(lambda: next(body))


def _step(advance: Callable[[], Effect]) -> Effect | _Returned[Any]:
    try:
        return advance()
    except StopIteration as stop:
        return _Returned(stop.value)
