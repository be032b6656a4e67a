"""What a turn spends beyond one request, and where that pays (`Settings.effort`)."""

from __future__ import annotations

from collections.abc import Sequence

from ..records import Attempt, Stop, Turn
from ..settings import Settings

HIGH_DRAFTS = 3
"""Drafts side by side at high effort, every third of them reasoned in code where that is possible."""

MORE_DRAFTS = 2
"""Drafts that are added to one that is in doubt: with it, two can outvote one."""

UNSURE = 0.5
"""A reply that is no surer than this of its query calls it as likely wrong as right."""


def drafts(settings: Settings) -> int:
    """How many drafts a turn begins with; those that go side by side could only be approved all at once."""
    if settings.approve:
        return 1
    return max(settings.candidates, HIGH_DRAFTS) if settings.effort == "high" else settings.candidates


def needs_more(attempts: Sequence[Attempt], stop: Stop, turn: Turn, settings: Settings) -> str:
    """Why a turn that would end here gets more drafts; empty where it does not."""
    if settings.effort != "auto" or settings.max_attempts == 1 or turn.candidates > 1 or turn.approve:
        return ""
    if stop.kind == "edited":
        return ""
    if not any(attempt.result for attempt in attempts):
        return "no query ran"
    if settings.gate and all(attempt.result is None or attempt.proofs for attempt in attempts):
        return "no query passed the checks"
    last = attempts[-1]
    if last.source == "draft" and last.sure is not None and last.sure <= UNSURE:
        return f"the reply was only {last.sure:.0%} sure"
    return ""
