"""Other ways to answer the same questions, through the same runner: what the agent is compared with."""

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
        settings: The agent's settings that make it, under the run's own.
        module: Of this package, whose `make(dataset, model, settings, history) -> Answering` makes who answers instead
            of the agent; empty where the agent answers. Listing baselines imports none.
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
    """A baseline by name.

    Raises:
        SettingsError: There is none of that name.
    """
    if name not in BASELINES:
        raise SettingsError(f"no baseline is called {name!r}; known: {', '.join(BASELINES)}")
    return BASELINES[name]
