"""The baselines by name; listing them imports none of them."""

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
        summary: One line: what it does.
        settings: The agent's settings that make it, under the run's own.
        module: Of this package, whose `make(dataset, model, settings, history) -> Answering` makes who answers instead
            of the agent; empty where the agent answers.
    """

    summary: str
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])
    module: str = ""


BASELINES: Mapping[str, Baseline] = {
    "zero-shot": Baseline(
        "one request with the schema and the conversation, without examples", {**_ONE_REQUEST, "examples": "none"}
    ),
    "random-examples": Baseline(
        "one request with randomly chosen examples of the store", {**_ONE_REQUEST, "examples": "random"}
    ),
    "random-dialogues": Baseline(
        "one request after randomly chosen dialogues of the training set (CREDIT-SQL 4.4)", module="random_dialogues"
    ),
    "langchain": Baseline(
        "LangChain's own SQL agent with langchain-community's toolkit (extra `baselines`)", module="langchain_agent"
    ),
}


def find_baseline(name: str) -> Baseline:
    """A baseline by name.

    Raises:
        SettingsError: There is none of that name.
    """
    if name not in BASELINES:
        raise SettingsError(f"no baseline is called {name!r}; known: {', '.join(BASELINES)}")
    return BASELINES[name]
