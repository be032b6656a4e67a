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

LEAST_SECONDS = 0.1  # the minimum for a query or code when the turn's time is up: it may be the only answer


class BudgetReached(ModelError):
    """An error: one more request would exceed a budget of the turn.

    What to do: raise `turn_calls`, `turn_tokens` or `turn_seconds`. In a turn, this error is
    caught: the attempts end, and the answer says so.
    """


TRIES = 3  # requests that one task makes at most: the first, one for an unusable reply, one for a cut one


class TurnBudget(NamedTuple):
    """The remaining budgets of a turn."""

    calls: int  # requests to a model
    tokens: int  # of prompts and replies together
    until: float  # when the time is over, by `time.monotonic`
    task_seconds: float = math.inf  # of one task, retries included, however slowly a reply trickles in

    @property
    def seconds(self) -> float:
        """The remaining time in seconds."""
        return self.until - time.monotonic()

    def compute_max_reply_tokens(self, prompt_tokens: int, limit: int | None) -> int:
        """Return the maximum number of tokens for the next reply."""
        self.check_time_left()
        self.check_requests_left()
        tokens = self.tokens - prompt_tokens
        if tokens < LEAST_REPLY:
            raise BudgetReached("this question has used up its tokens: ask for less, or raise turn_tokens")
        return tokens if limit is None else min(tokens, limit)

    def check_time_left(self) -> None:
        """Raise `BudgetReached` if no time is left."""
        if self.seconds <= 0:
            raise BudgetReached("the time for this question is up: ask for less, or raise turn_seconds")

    def check_requests_left(self) -> None:
        """Raise `BudgetReached` if no request is left."""
        if not self.calls:
            raise BudgetReached("this question has used up its model requests: ask for less, or raise turn_calls")


@dataclass
class TaskAllowance:
    """The budget and usage of one running task or node function."""

    budget: TurnBudget  # what it may cost
    usage: Usage = field(default_factory=Usage)  # requests that a client repeats by itself included
    is_cancelled: bool = False  # nobody waits for the result: no more requests are sent
    _connection_closers: list[Callable[[], None]] = field(default_factory=list[Callable[[], None]])

    def cancel_requests(self) -> None:
        """Send no more requests, and close connections that wait for a reply."""
        self.is_cancelled = True
        for close_connection in self._connection_closers:
            close_connection()

    def register_connection_closer(self, close_connection: Callable[[], None]) -> None:
        """Register a function that closes a connection; call it at once if already cancelled."""
        self._connection_closers.append(close_connection)
        if self.is_cancelled:
            close_connection()

    @property
    def remaining_budget(self) -> TurnBudget:
        """The remaining budget."""
        calls, tokens = self.budget.calls - self.usage.llm_calls, self.budget.tokens - self.usage.tokens
        return self.budget._replace(calls=max(calls, 0), tokens=max(tokens, 0))

    def count_request(self) -> None:
        """Count a request before it is sent; raise `BudgetReached` if no budget is left."""
        self.budget.check_time_left()
        if self.is_cancelled:
            raise BudgetReached("the model took too long to reply: try again, or raise request_seconds")
        self.remaining_budget.check_requests_left()
        self.usage += Usage(1)


def compute_node_budget(
    settings: Settings, usage: Mapping[str, Usage], shares: int = 1, number: int = 0, elapsed: float = 0.0
) -> TurnBudget:
    """Return the remaining budget of a node, or of one of `shares` parallel nodes."""
    costs = usage.values()
    calls = max(settings.turn_calls - sum(cost.llm_calls for cost in costs), 0)
    tokens = max(settings.turn_tokens - sum(cost.prompt_tokens + cost.completion_tokens for cost in costs), 0)
    deadline = time.monotonic() + settings.turn_seconds - sum(cost.seconds for cost in costs) - elapsed
    task_seconds = settings.request_seconds * (settings.request_retries + 1) * TRIES
    return TurnBudget(calls // shares + (number < calls % shares), tokens // shares, deadline, task_seconds)


def _set_context_variable(variable: ContextVar[T], value: T) -> Generator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


_current: ContextVar[TaskAllowance | None] = ContextVar("tableturn_allowance", default=None)


@contextmanager
def use_task_allowance(allowance: TaskAllowance) -> Generator[None]:
    """Set the allowance for requests in the context; new threads and tasks do not inherit it."""
    yield from _set_context_variable(_current, allowance)


_meter: ContextVar[Callable[[Usage], None] | None] = ContextVar("tableturn_meter", default=None)


@contextmanager
def observe_task_usage(count: Callable[[Usage], None]) -> Generator[None]:
    """Call `count` with the usage of each task in the context, failed turns included."""
    yield from _set_context_variable(_meter, count)


def report_task_usage(usage: Usage) -> None:
    """Pass a task's usage to the callback of the context, if there is one."""
    if (count := _meter.get()) is not None and usage.llm_calls:
        count(usage)


def get_current_allowance() -> TaskAllowance | None:
    """Return the current allowance; None outside a graph."""
    return _current.get()


def limit_to_remaining_seconds(seconds: float) -> float:
    """Return `seconds`, or the turn's remaining time if that is less, at least `LEAST_SECONDS`."""
    allowance = _current.get()
    return seconds if allowance is None else min(seconds, max(allowance.budget.seconds, LEAST_SECONDS))


def get_remaining_requests() -> float:
    """Return the number of model requests left; infinite outside a graph."""
    allowance = _current.get()
    return math.inf if allowance is None else allowance.remaining_budget.calls
