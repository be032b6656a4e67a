"""Conversations: what a person does turn after turn, and what the model writes for each question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import yaml

Form = Literal["sql", "unsure", "ask", "cannot", "small", "prose", "empty", "json", "bare", "two", "mended", "down"]
"""How the model replies where SQL is asked for; `mended` is right only when asked once more."""

Act = Literal["ask", "approve", "correct", "note", "forget", "rerun", "stream"]


@dataclass(frozen=True)
class Turn:
    """Something a person does, and the model's part in it.

    Attributes:
        says: The question, the reply to what was asked back, a decision; the definition or name of other acts.
        sql: What the model drafts; the right query of a correction.
        then: What revisions say; the same again if empty.
        means: The question made self-contained, where it leans on others.
        form: How the model replies.
        code: Pandas code; if empty, some of a table that `sql` reads.
        drafts: Queries of further drafts, where there are several.
        act: What the person does.
        settings: Fields to change for this turn.
    """

    says: str | Mapping[str, Any] = ""
    sql: str = ""
    then: str = ""
    means: str = ""
    form: Form = "sql"
    code: str = ""
    drafts: Sequence[str] = ()
    act: Act = "ask"
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


Talk = Sequence[Turn]


def _read_talks() -> dict[str, list[Talk]]:
    found = yaml.safe_load(Path(__file__).with_name("talks.yaml").read_text("utf-8"))
    return {name: [[Turn(**entry) for entry in talk] for talk in talks] for name, talks in found.items()}


TALKS: Mapping[str, Sequence[Talk]] = _read_talks()
"""The conversations over each database."""

PRESETS = ("full", "credit", "craft", "track", "revision")
OFFLINE = "offline"

VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "candidates": {"candidates": 3},
    "high": {"effort": "high"},
    "always": {"rephrase": "always"},
    "blocks": {"reason": "code_blocks"},
    "ask": {"readings": "ask"},
    "doubt": {"feedback_explanation": True, "max_attempts": 4},
    "draft": {"examples": "draft", "schema_style": "ddl"},
    "small": {"prompt_tokens": 1_500, "history_window": 1, "rows": 3, "values": 2},
    "benchmark": {"conventions": "benchmark", "today": "none", "clarify": False, "link_threshold": 0.1},
    "deny": {"deny": ("order.customer", "order lines.discount %")},
}
"""Settings that change the way of a turn, beside the presets."""


@dataclass(frozen=True)
class Group:
    """Conversations that share an agent, one after another.

    Attributes:
        database: Which is asked.
        engine: In what it lies.
        way: A preset, `offline`, or one of `VARIANTS` over the preset `full`.
    """

    database: str
    engine: str
    way: str

    @property
    def name(self) -> str:
        return f"{self.database}-{self.engine}-{self.way}"

    @property
    def preset(self) -> str:
        return self.way if self.way in PRESETS else "full"

    @property
    def talks(self) -> Sequence[Talk]:
        return TALKS[self.database]


def _groups() -> list[Group]:
    ways = (*PRESETS, OFFLINE)
    made = [Group("kestrel", "sqlite", way) for way in ways]
    for engine, names in {
        "sqlite": ("clinic", "depot", "library", "weather"),
        "duckdb": ("clinic", "library", "weather"),
        "postgres": ("clinic", "depot"),
        "mariadb": ("library", "weather"),
    }.items():
        made += [Group(name, engine, way) for name in names for way in ways]
    bases = ("clinic", "depot", "library", "weather")
    made += [Group(bases[n % 4], "sqlite", way) for n, way in enumerate(VARIANTS)]
    return made


GROUPS: Mapping[str, Group] = {group.name: group for group in _groups()}
