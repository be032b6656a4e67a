"""Baselines: other ways to answer the same questions, through the same runner."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...tools.errors import SettingsError

_ONE_REQUEST: Mapping[str, Any] = {
    "rephrase": "never",
    "simplify": False,
    "reason": "off",
    "values": 0,
    "base_sql": False,
    "candidates": 1,
    "max_attempts": 1,
}


@dataclass(frozen=True)
class Baseline:
    """One baseline.

    Attributes:
        settings: The agent's settings that make the baseline; the run's own settings override them.
        module: A module of this package whose `make(dataset, model, settings, history)` returns who answers; empty if
            the agent does. Listing baselines imports none.
    """

    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    module: str = ""


BASELINES: Mapping[str, Baseline] = {
    "zero-shot": Baseline({**_ONE_REQUEST, "examples": "none"}),
    "random-examples": Baseline({**_ONE_REQUEST, "examples": "random"}),
    "random-dialogues": Baseline(module="random_dialogues"),
    "langchain": Baseline(module="langchain_agent"),
}


def find_baseline(name: str) -> Baseline:
    """Return a baseline by name.

    Raises:
        SettingsError: There is none of that name.
    """
    if name not in BASELINES:
        raise SettingsError(f"no baseline is called {name!r}; known: {', '.join(BASELINES)}")
    return BASELINES[name]
