"""What a turn may still cost, and the error that says that it may cost no more."""

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
"""What a query or code gets where the turn's time is up: most need less, and it may be the one answer there is."""


class BudgetReached(ModelError):
    """One more request would pass a budget of the turn; the message names it.

    What to do: raise `turn_calls`, `turn_tokens` or `turn_seconds`. In a turn, this error is
    caught: the attempts end, and the answer says so.
    """


TRIES = 3  # requests that one task makes at most: the first, one for an unusable reply, one for a cut one


class Budget(NamedTuple):
    """What is left of a turn's budgets."""

    calls: int  # requests to a model
    tokens: int  # of prompts and replies together
    until: float  # when the time is over, by `time.monotonic`
    task_seconds: float = math.inf  # of one task, retries included, however slowly a reply trickles in

    def after(self, spent: Usage) -> Budget:
        """Return what is left once this is spent of it."""
        calls, tokens = max(self.calls - spent.llm_calls, 0), max(self.tokens - spent.tokens, 0)
        return Budget(calls, tokens, self.until, self.task_seconds)

    @property
    def seconds(self) -> float:
        """Time that is left."""
        return self.until - time.monotonic()

    @property
    def wait(self) -> float:
        """How long one task may be waited for."""
        return min(self.seconds, self.task_seconds)

    def reply_tokens(self, prompt: int, wanted: int | None) -> int:
        """Return how long the reply to one more request may be."""
        self.check_seconds()
        self.check_calls()
        tokens = self.tokens - prompt
        if tokens < LEAST_REPLY:
            raise BudgetReached("the turn's token budget is used up (turn_tokens)")
        return tokens if wanted is None else min(tokens, wanted)

    def check_seconds(self) -> None:
        """Whether there is time left."""
        if self.seconds <= 0:
            raise BudgetReached("the turn's time is up (turn_seconds)")

    def check_calls(self) -> None:
        """Whether there is a call left."""
        if not self.calls:
            raise BudgetReached("the turn's budget of model calls is used up (turn_calls)")


@dataclass
class Allowance:
    """A budget while one task or function of a node lasts."""

    budget: Budget  # what it may cost
    spent: Usage = field(default_factory=Usage)  # requests that a client repeats by itself included
    called_off: bool = False  # nobody waits for it any more: nothing more is to be sent
    _hang_ups: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def call_off(self) -> None:
        """End what it is spent on: nothing more is sent, and connections that wait for a reply are closed."""
        self.called_off = True
        for hang_up in self._hang_ups:
            hang_up()

    def connected(self, hang_up: Callable[[], None]) -> None:
        """Take in how to close a connection that is used for it; close it at once where nobody waits any more."""
        self._hang_ups.append(hang_up)
        if self.called_off:
            hang_up()

    @property
    def left(self) -> Budget:
        """What it may still cost."""
        return self.budget.after(self.spent)

    def send(self) -> None:
        """Count a request that is about to go out."""
        self.budget.check_seconds()
        if self.called_off:
            raise BudgetReached("nobody waits for the reply any more (request_seconds)")
        self.left.check_calls()
        self.spent += Usage(1)


def left_of(
    settings: Settings, usage: Mapping[str, Usage], shares: int = 1, number: int = 0, elapsed: float = 0.0
) -> Budget:
    """What is left for a node: of `shares` side by side the one of that number, so many seconds after they began."""
    spent = usage.values()
    calls = max(settings.turn_calls - sum(one.llm_calls for one in spent), 0)
    tokens = max(settings.turn_tokens - sum(one.prompt_tokens + one.completion_tokens for one in spent), 0)
    until = time.monotonic() + settings.turn_seconds - sum(one.seconds for one in spent) - elapsed
    task_seconds = settings.request_seconds * (settings.request_retries + 1) * TRIES
    return Budget(calls // shares + (number < calls % shares), tokens // shares, until, task_seconds)


def _within(variable: ContextVar[T], value: T) -> Generator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


_current: ContextVar[Allowance | None] = ContextVar("tableturn_allowance", default=None)


@contextmanager
def spending(allowance: Allowance) -> Generator[None]:
    """Within it, whoever asks a model keeps to this allowance; threads and tasks of their own do not share it."""
    yield from _within(_current, allowance)


_meter: ContextVar[Callable[[Usage], None] | None] = ContextVar("tableturn_meter", default=None)


@contextmanager
def metered(count: Callable[[Usage], None]) -> Generator[None]:
    """Within it, and in tasks begun in it, `count` is told what each task of a model cost, ended turns included."""
    yield from _within(_meter, count)


def told_cost(spent: Usage) -> None:
    """Tell whoever counts what a task cost."""
    if (count := _meter.get()) is not None and spent.llm_calls:
        count(spent)


def current_allowance() -> Allowance | None:
    """Return the allowance of what runs; None outside a graph."""
    return _current.get()


def seconds_left(wanted: float) -> float:
    """Return how long something may run: as wanted, or as long as the turn's time lasts, but `LEAST_SECONDS` always."""
    allowance = _current.get()
    return wanted if allowance is None else min(wanted, max(allowance.budget.seconds, LEAST_SECONDS))


def calls_left() -> float:
    """Return how many requests may still be made; infinite outside a graph."""
    allowance = _current.get()
    return math.inf if allowance is None else allowance.left.calls
