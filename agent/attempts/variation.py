"""How several drafts for one question differ from one another."""

from __future__ import annotations

from ..settings import Settings

_SELECTORS = ("skeleton", "question", "voted")
"""Ways of choosing examples, taken in turn."""

_TEMPERATURE = 0.7
"""Of every draft except the first."""

_REASONED = 3
"""Every third draft is reasoned in code where the others aren't."""


def varied(settings: Settings, number: int) -> Settings:
    """The settings of one draft; those of the first are the run's own.

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
