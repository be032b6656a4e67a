"""What a conversation cost: calls, tokens and, with prices, money."""

from __future__ import annotations

from dataclasses import dataclass, field

from ...records import Usage
from ...verbs import dollars


@dataclass
class Cost:
    """Adds up turns, those that were taken back among them.

    Attributes:
        price: Dollars a million prompt and completion tokens; None leaves money out.
        turns: Turns that came to an answer or asked back.
        ended: Turns that failed or were interrupted: what they cost is not known.
    """

    price: tuple[float, float] | None = None
    turns: int = 0
    ended: int = 0
    _whole: Usage = field(default_factory=Usage)
    _last: Usage = field(default_factory=Usage)

    def add(self, usage: Usage, *, goes_on: bool) -> None:
        """Adds a turn's usage; one that goes on after it asked back counts what it had cost by then again."""
        if not goes_on:
            self._whole += self._last
            self.turns += 1
        self._last = usage

    @property
    def spent(self) -> Usage:
        """All turns together."""
        return self._whole + self._last

    @property
    def told(self) -> str:
        """In words, on one line."""
        spent = self.spent
        parts = [
            f"{self.turns:,} turn(s)",
            f"{spent.llm_calls:,} model call(s)",
            f"{spent.prompt_tokens:,} prompt and {spent.completion_tokens:,} completion tokens",
        ]
        if self.price is not None:
            parts.append(f"${dollars(spent.prompt_tokens, spent.completion_tokens, self.price):,.4f}")
        if self.ended:
            parts.append(f"not counted: {self.ended:,} that came to no answer")
        return ", ".join(parts)
