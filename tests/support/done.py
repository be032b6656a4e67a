"""Having a translator do a task outside a graph, with nothing to save on."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Generic, TypeVar

from tableturn.agent import effects
from tableturn.agent.effects import BudgetTracker, Translator, arun, ask, run
from tableturn.agent.model.turn_budget import TurnBudget
from tableturn.agent.records import Usage
from tableturn.prompts.task import Task

R = TypeVar("R")


@dataclass(frozen=True)
class Done(Generic[R]):
    """A task done, with what it cost."""

    reply: R
    notes: tuple[str, ...]
    usage: Usage


def _tally() -> BudgetTracker:
    return BudgetTracker(TurnBudget(calls=1_000, tokens=1_000_000_000, until=time.monotonic() + 600))


def _done(done: effects.Done[R], tally: BudgetTracker) -> Done[R]:
    return Done(done.reply, done.notes, tally.usage)


def done_by(translator: Translator, task: Task[R]) -> Done[R]:
    """The task, done."""
    tally = _tally()
    return _done(run(ask(task), translator, tally), tally)


async def adone(translator: Translator, task: Task[R]) -> Done[R]:
    """The task, done without blocking."""
    tally = _tally()
    return _done(await arun(ask(task), translator, tally), tally)
