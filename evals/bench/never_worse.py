"""Revisions that make things worse, played against DAIL-SQL's drafts: the answer must not be worse than the draft."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from ..datasets import Dataset
from .registry import BenchOptions
from .replayed import SYSTEMS, Replayed, share

SETTINGS = {"gate": False, "max_attempts": 2}
"""Every draft is revised once, however good it looks."""


def run(options: BenchOptions) -> dict[str, object]:
    """`first_draft`, and `after` each reviser: EX by the official rules.

    `next_best` is the system second to the draft's; `better_of_two` is the better one's EX.
    """
    replayed = Replayed.load(cast("Path", options.data), options.limit)
    drafts, next_best = (replayed.predictions[name] for name in SYSTEMS[:2])
    after = {
        name: share([judged.right for judged in replayed.play([drafts, revisions], SETTINGS)])
        for name, revisions in (_revisers(replayed.asked, drafts) | {"next_best": next_best}).items()
    }
    first = share(list(replayed.right(drafts).values()))
    other = share(list(replayed.right(next_best).values()))
    n = len(replayed.asked.questions)
    return {"n": n, "first_draft": first, "better_of_two": max(first, other), "after": after}


def _revisers(asked: Dataset, drafts: Mapping[str, str]) -> dict[str, Mapping[str, str]]:
    ids = [question.id for question in asked.questions]
    return {
        "broken": {name: f"{drafts[name].rstrip(' ;')} WHERE FROM" for name in ids},
        "empty": {name: f"SELECT * FROM ({drafts[name].rstrip(' ;')}) LIMIT 0" for name in ids},
        "prose": dict.fromkeys(ids, "I believe that the query above is what was asked for."),
        "other_question": _others(asked, drafts),
    }


def _others(asked: Dataset, drafts: Mapping[str, str]) -> dict[str, str]:
    """For each question, another one's draft, half-way round its database's list, as neighbours often ask the same."""
    found: dict[str, str] = {}
    for question in asked.questions:
        same = [drafts[other.id] for other in asked.questions if other.database == question.database]
        own = drafts[question.id]
        start = (same.index(own) + len(same) // 2) % len(same)
        rotated = same[start:] + same[:start]
        found[question.id] = next((sql for sql in rotated if sql != own), own)
    return found
