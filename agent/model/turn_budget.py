"""The budgets of a turn, and the error for one that is used up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple, TypeVar

from ...tools.errors import ModelError
from ..records import Usage
from ..settings import Settings

T = TypeVar("T")

LEAST_REPLY = 50  # tokens of a reply that are worth asking for

LEAST_SECONDS = 0.1
"""The minimum for a query or code when the turn's time is up: it may be the only answer."""


class BudgetReached(ModelError):
    """One more request would pass a budget of the turn; the message names it.

    What to do: raise `turn_calls`, `turn_tokens` or `turn_seconds`. In a turn, this error is
    caught: the attempts end, and the answer says so.
    """


TRIES = 3  # requests that one task makes at most: the first, one for an unusable reply, one for a cut one


class Budget(NamedTuple):
    """The remaining budgets of a turn."""

    calls: int  # requests to a model
    tokens: int  # of prompts and replies together
    until: float  # when the time is over, by `time.monotonic`
    task_seconds: float = math.inf  # of one task, retries included, however slowly a reply trickles in

    def subtract(self, spent: Usage) -> Budget:
        """Return the budget without this usage."""
        calls, tokens = max(self.calls - spent.llm_calls, 0), max(self.tokens - spent.tokens, 0)
        return Budget(calls, tokens, self.until, self.task_seconds)

    @property
    def seconds(self) -> float:
        """The remaining time."""
        return self.until - time.monotonic()

    @property
    def wait(self) -> float:
        """The longest time to wait for one task."""
        return min(self.seconds, self.task_seconds)

    def reply_tokens(self, prompt: int, wanted: int | None) -> int:
        """Return the maximum length of the next reply."""
        self.check_seconds()
        self.check_calls()
        tokens = self.tokens - prompt
        if tokens < LEAST_REPLY:
            raise BudgetReached("this question has used up its tokens (turn_tokens)")
        return tokens if wanted is None else min(tokens, wanted)

    def check_seconds(self) -> None:
        """Raise `BudgetReached` if no time is left."""
        if self.seconds <= 0:
            raise BudgetReached("the time for this question is up (turn_seconds)")

    def check_calls(self) -> None:
        """Raise `BudgetReached` if no request is left."""
        if not self.calls:
            raise BudgetReached("this question has used up its model requests (turn_calls)")


@dataclass
class Allowance:
    """The budget of one running task or function of a node, and its usage."""

    budget: Budget  # what it may cost
    spent: Usage = field(default_factory=Usage)  # requests that a client repeats by itself included
    called_off: bool = False  # nobody waits for it any more: nothing more is to be sent
    _hang_ups: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def call_off(self) -> None:
        """Stop spending: send nothing more, and close connections that wait for a reply."""
        self.called_off = True
        for hang_up in self._hang_ups:
            hang_up()

    def add_connection(self, hang_up: Callable[[], None]) -> None:
        """Register a function that closes a connection; call it at once after `call_off`."""
        self._hang_ups.append(hang_up)
        if self.called_off:
            hang_up()

    @property
    def left(self) -> Budget:
        """The remaining budget."""
        return self.budget.subtract(self.spent)

    def send(self) -> None:
        """Count a request before it is sent; raise `BudgetReached` if there is no budget."""
        self.budget.check_seconds()
        if self.called_off:
            raise BudgetReached("the model took too long to reply (request_seconds)")
        self.left.check_calls()
        self.spent += Usage(1)


def compute_budget(
    settings: Settings, usage: Mapping[str, Usage], shares: int = 1, number: int = 0, elapsed: float = 0.0
) -> Budget:
    """Return the remaining budget of a node, or of one of `shares` parallel nodes."""
    spent = usage.values()
    calls = max(settings.turn_calls - sum(one.llm_calls for one in spent), 0)
    tokens = max(settings.turn_tokens - sum(one.prompt_tokens + one.completion_tokens for one in spent), 0)
    until = time.monotonic() + settings.turn_seconds - sum(one.seconds for one in spent) - elapsed
    task_seconds = settings.request_seconds * (settings.request_retries + 1) * TRIES
    return Budget(calls // shares + (number < calls % shares), tokens // shares, until, task_seconds)


def _set_variable(variable: ContextVar[T], value: T) -> Generator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


_current: ContextVar[Allowance | None] = ContextVar("tableturn_allowance", default=None)


@contextmanager
def use_allowance(allowance: Allowance) -> Generator[None]:
    """Make this the allowance of requests in the context; threads and tasks do not inherit it."""
    yield from _set_variable(_current, allowance)


_meter: ContextVar[Callable[[Usage], None] | None] = ContextVar("tableturn_meter", default=None)


@contextmanager
def count_costs(count: Callable[[Usage], None]) -> Generator[None]:
    """Call `count` with the usage of each task in the context, failed turns included."""
    yield from _set_variable(_meter, count)


def report_cost(spent: Usage) -> None:
    """Report a task's usage to the meter, if there is one."""
    if (count := _meter.get()) is not None and spent.llm_calls:
        count(spent)


def current_allowance() -> Allowance | None:
    """Return the current allowance; None outside a graph."""
    return _current.get()


def seconds_left(wanted: float) -> float:
    """Return `wanted`, or the turn's remaining time if that is less, at least `LEAST_SECONDS`."""
    allowance = _current.get()
    return wanted if allowance is None else min(wanted, max(allowance.budget.seconds, LEAST_SECONDS))


def calls_left() -> float:
    """Return the number of requests left; infinite outside a graph."""
    allowance = _current.get()
    return math.inf if allowance is None else allowance.left.calls
