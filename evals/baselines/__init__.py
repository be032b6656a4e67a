"""Baselines: other ways to answer the same questions, through the same runner."""

from __future__ import annotations

from collections.abc import Mapping
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


BASELINES: Mapping[str, Mapping[str, Any]] = {
    "zero-shot": {**_ONE_REQUEST, "examples": "none"},
    "random-examples": {**_ONE_REQUEST, "examples": "random"},
    "random-dialogues": {},
    "langchain": {},
}
"""The agent's settings that make each baseline; the run's own settings override them.

Of one without any, a module of this package answers instead, by its `make(dataset, model, settings, history)`.
"""


def baseline_settings(name: str) -> Mapping[str, Any]:
    """Return the settings of a baseline.

    Raises:
        SettingsError: There is none of that name.
    """
    if name not in BASELINES:
        raise SettingsError(f"no baseline is called {name!r}; known: {', '.join(BASELINES)}")
    return BASELINES[name]
