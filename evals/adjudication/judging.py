"""Asking a judge: each case twice, with the sides swapped, any number of cases at once."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ...agent.effects import Tally, Translator, arun, ask
from ...agent.model.budget import TRIES, Budget, BudgetReached
from ...prompts.judge import Judgement, JudgeTask, Opinion
from ...tools.errors import DatabaseUnavailable, ModelError, ReplyError
from ..runner.run import completed
from .cases import Case, Cases
from .ruling import Ruling, now

PASSES = 2
"""Requests a case: a judge that prefers the first place says otherwise when the sides are swapped."""

_AFFORDABLE = Budget(calls=4 * TRIES, tokens=1_000_000, until=math.inf)
"""For one opinion; the model's own time limit holds, and calls that a client repeats by itself count."""

GIVE_UP_AFTER = 8
"""Cases in a row that cannot be asked before judging stops."""


@dataclass(frozen=True)
class Finding:
    """What a judge says of a case.

    Attributes:
        case: What was judged.
        answer: On the answer; unclear where the two passes disagree.
        gold: On the gold query, likewise.
        calls: Requests that it took.
    """

    case: Case
    answer: Opinion
    gold: Opinion
    calls: int

    def proposals(self, dataset: str, model: str) -> tuple[Ruling, ...]:
        """Both opinions as rulings that nobody has accepted."""
        question, at = self.case.question, now()
        return tuple(
            Ruling(
                dataset=dataset,
                id=question.id,
                question=question.text,
                sql=sql,
                gold=self.case.gold,
                verdict=opinion.verdict,
                kind=opinion.kind,
                why=opinion.why,
                by=judge_name(model),
                at=at,
                accepted=False,
            )
            for sql, opinion in ((self.case.sql, self.answer), (self.case.gold, self.gold))
        )


Listener: TypeAlias = Callable[[Finding], None]
"""Told about each case as it is judged."""


@dataclass(frozen=True)
class Judged:
    """How judging ended.

    Attributes:
        calls: Requests made.
        left: Cases that the budget of calls had no room for.
        failed: Cases that could not be asked, with the reason.
    """

    calls: int
    left: int
    failed: tuple[tuple[Case, str], ...] = ()


def judge_name(model: str) -> str:
    """Who a model's rulings are by."""
    return f"model {model}"


def judge_cases(
    cases: Sequence[Case], shown: Cases, judge: Translator, listener: Listener, *, jobs: int, calls: int | None = None
) -> Judged:
    """Has cases judged.

    Args:
        cases: Those of one database together.
        shown: Prepares them.
        judge: Whom to ask.
        listener: Told about each finding, in no order; what it has been told need not be asked again.
        jobs: Cases at once.
        calls: Requests to make at most, those that are repeated included; None for no limit.

    Raises:
        ModelError: `GIVE_UP_AFTER` cases in a row could not be asked.
    """
    return completed(_Judging(shown, judge, listener, calls).all(cases, jobs))


class _Judging:
    def __init__(self, shown: Cases, judge: Translator, listener: Listener, calls: int | None) -> None:
        self._shown = shown
        self._judge = judge
        self._listener = listener
        self._free = math.inf if calls is None else calls
        self._begun = 0
        self._changed = asyncio.Condition()
        self._spent = 0
        self._left = 0
        self._failed: list[tuple[Case, str]] = []
        self._failed_in_a_row = 0

    async def all(self, cases: Sequence[Case], jobs: int) -> Judged:
        waiting = iter(cases)
        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(min(jobs, len(cases))):
                    group.create_task(self._work(waiting))
        except ExceptionGroup as group:
            raise group.exceptions[0] from None
        return Judged(self._spent, self._left, tuple(self._failed))

    async def _work(self, cases: Iterator[Case]) -> None:
        """One of the workers, who share the iterator."""
        for case in cases:
            granted = await self._granted()
            if not granted:
                self._left += 1
                continue
            spent = 0
            try:
                spent = await self._one(case, granted)
            finally:
                await self._returned(granted - spent)

    async def _granted(self) -> int:
        """Requests that are set aside for a case, as many as it may need; 0 where there are too few for one.

        Where there are, it waits for those that others leave over.
        """
        async with self._changed:
            await self._changed.wait_for(lambda: self._free >= PASSES or not self._begun)
            granted = int(min(self._free, PASSES * _AFFORDABLE.calls))
            if granted < PASSES:
                return 0
            self._free -= granted
            self._begun += 1
            return granted

    async def _returned(self, calls: int) -> None:
        async with self._changed:
            self._free += calls
            self._begun -= 1
            self._changed.notify_all()

    async def _one(self, case: Case, calls: int) -> int:
        """Has a case judged with so many requests at most; those that it took."""
        try:
            task = self._shown.task(case)
        except DatabaseUnavailable as error:
            self._fail(case, error)
            return 0
        # Each query comes first once, which is fairer than chance.
        passes = (self._asked(task, calls // PASSES), self._asked(task.swapped(), calls - calls // PASSES))
        (first, spent), (second, more) = await asyncio.gather(*passes)
        self._spent += spent + more
        if isinstance(first, Judgement) and isinstance(second, Judgement):
            self._failed_in_a_row = 0
            answer, gold = _agreed(first.first, second.second), _agreed(first.second, second.first)
            self._listener(Finding(case, answer, gold, spent + more))
            return spent + more
        errors = [error for error in (first, second) if isinstance(error, ModelError)]
        cut_short = calls < PASSES * _AFFORDABLE.calls and all(isinstance(error, BudgetReached) for error in errors)
        if cut_short:
            self._left += 1
        else:
            self._fail(case, next((error for error in errors if not isinstance(error, BudgetReached)), errors[0]))
        return spent + more

    def _fail(self, case: Case, error: Exception) -> None:
        """Stops where case after case fails."""
        self._failed.append((case, str(error)))
        self._failed_in_a_row += 1
        if self._failed_in_a_row == GIVE_UP_AFTER:
            raise ModelError(
                f"stopped after {self._spent} requests, as {GIVE_UP_AFTER} cases in a row could not be judged: {error}"
            ) from error

    async def _asked(self, task: JudgeTask, calls: int) -> tuple[Judgement | ModelError, int]:
        """Opinions on both sides, unclear where the reply cannot be read, and the requests that they took."""
        tally = Tally(replace(_AFFORDABLE, calls=calls))
        try:
            judgement = (await arun(ask(task), self._judge, tally)).reply
        except ReplyError as error:
            unread = Opinion("unclear", "", f"The judge's reply cannot be read: {error}")
            judgement = Judgement(unread, unread)
        except ModelError as error:
            judgement = error
        return judgement, tally.usage.llm_calls


def _agreed(one: Opinion, other: Opinion) -> Opinion:
    """One opinion of two passes."""
    if one.verdict == other.verdict:
        return one
    said = " ".join(f"{opinion.verdict.capitalize()}: {opinion.why}" for opinion in (one, other))
    return Opinion("unclear", "", f"Judged one way in one order and another way in the other. {said}")
