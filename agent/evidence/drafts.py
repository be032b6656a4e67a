"""Several drafts for one question: how many a turn begins with, when more are added, and how they differ."""

from __future__ import annotations

from collections.abc import Sequence

from ..records import Attempt, Stop, Turn
from ..settings import Settings

HIGH_DRAFTS = 3
"""Drafts side by side at high effort."""

MORE_DRAFTS = 2
"""Drafts that are added to one that failed: with it, two can outvote one."""

_SELECTORS = ("skeleton", "question", "voted")
"""Ways of choosing examples, taken in turn."""

_TEMPERATURE = 0.7
"""Of every draft except the first."""

_REASONED = 3
"""Every third draft is reasoned in code where the others aren't (`Settings.candidate_reasoning`)."""


def count_drafts(settings: Settings) -> int:
    """Return how many drafts a turn begins with; those that go side by side could only be approved all at once."""
    if settings.approve:
        return 1
    return max(settings.candidates, HIGH_DRAFTS) if settings.effort == "high" else settings.candidates


def needs_more(attempts: Sequence[Attempt], stop: Stop, turn: Turn, settings: Settings) -> bool:
    """Return whether a turn that would end here gets more drafts: no query ran, and the model may still have another.

    A query that failed and was given back unchanged is the model's last word.
    """
    if settings.effort != "auto" or settings.max_attempts == 1 or turn.candidates > 1 or turn.approve:
        return False
    return stop.kind == "attempts" and not any(attempt.result for attempt in attempts)


def vary(settings: Settings, number: int) -> Settings:
    """Return the settings of one draft; those of the first are the run's own.

    Args:
        settings: The run's.
        number: Of the draft, from 0.
    """
    if number == 0:
        return settings
    change: dict[str, object] = {"temperature": _TEMPERATURE}
    if settings.examples in _SELECTORS:
        own = _SELECTORS.index(settings.examples)
        change["examples"] = _SELECTORS[(own + number) % len(_SELECTORS)]
    if settings.candidate_reasoning and number % _REASONED == _REASONED - 1:
        change["reason"] = "pot" if settings.reason == "off" else "off"
    return settings.model_copy(update=change)
