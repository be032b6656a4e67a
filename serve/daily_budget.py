"""The daily budget: what everybody, and each person, may still spend on models today (UTC)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .request_checks import TooMany
from .store import Owner, TurnStore

if TYPE_CHECKING:
    from ..agent.records import Usage
    from .config import ServerLimits

_TURN_TOKENS = 10_000, 1_000  # of prompts and replies: what a turn is taken to need before any has ended


class DailyBudget:
    """The daily limits in dollars, over all workers, and what a turn costs in this one."""

    def __init__(self, store: TurnStore, limits: ServerLimits) -> None:
        self._store = store
        self._limits = limits
        self._turn_dollars = limits.dollars(*_TURN_TOKENS)  # on average of the last few

    async def get_dollars_left(self, owner: Owner) -> dict[str, float]:
        """Return the dollars that may still be spent today, by limit: `everybody's` and `your`."""
        limits, dollars = self._limits, dict[str, float]()
        budgets = ("everybody's", limits.dollars_a_day, None), ("your", limits.dollars_a_person, owner.person)
        for whose, most, person in budgets:
            if most is not None:
                spent = limits.dollars(*await self._store.run(self._store.count_tokens_today, person))
                dollars[whose] = max(most - spent, 0.0)
        return dollars

    async def check_turn(self, owner: Owner, running: Iterable[Owner]) -> None:
        """Raise `TooMany` if a budget is spent, or may be by the turns that run."""
        for whose, dollars in (await self.get_dollars_left(owner)).items():
            person = owner.person if whose == "your" else None
            turn_count = await self._store.run(self._store.count_turns_elsewhere, person)
            turn_count += sum(person in (None, other.person) for other in running)
            if dollars <= 0:
                raise TooMany(f"{whose} budget for today is used up: it resets at 00:00 UTC")
            if dollars <= turn_count * self._turn_dollars:
                raise TooMany(f"running questions may use up {whose} budget for today: try again when they end")

    def record_turn(self, usage: Usage) -> None:
        """Count what an ended turn used in the average cost of a turn."""
        cost = self._limits.dollars(usage.prompt_tokens, usage.completion_tokens)
        self._turn_dollars += (cost - self._turn_dollars) / 8
