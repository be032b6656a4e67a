"""Revisions that make things worse, played against DAIL-SQL's drafts: the answer must not be worse than the draft."""

from __future__ import annotations

from collections.abc import Mapping

from ..datasets import Dataset
from .mutations import MUTATIONS, mutated
from .registry import BenchOptions
from .replayed import SYSTEMS, Replayed, revised, share

SETTINGS = {"gate": False, "max_attempts": 2}
"""Every draft is revised once, however good it looks."""


def run(options: BenchOptions) -> dict[str, object]:
    """`first_draft`, and `after` each reviser: EX by the official rules.

    Of the mutations (`mutations.MUTATIONS`), `changed` says how many drafts each has something to change in.
    `next_best` is the system second to the draft's; `better_of_two` is the better one's EX.
    """
    replayed = Replayed.load(options.folder, options.limit)
    drafts, next_best = (replayed.predictions[name] for name in SYSTEMS[:2])
    right = replayed.right(drafts)
    mutants = {name: mutations(replayed.asked, drafts, name) for name in MUTATIONS}
    revisers = _revisers(replayed.asked, drafts) | mutants | {"next_best": next_best}
    other = share(list(replayed.right(next_best).values()))
    return {
        "n": len(right),
        "first_draft": share(list(right.values())),
        "better_of_two": max(share(list(right.values())), other),
        "after": {name: _after(replayed.asked, drafts, found, right) for name, found in revisers.items()},
        "changed": {name: sum(found[key] != drafts[key] for key in found) for name, found in mutants.items()},
    }


def _after(asked: Dataset, drafts: Mapping[str, str], revisions: Mapping[str, str], right: Mapping[str, bool]) -> float:
    """EX after the revisions; a revision that is the draft itself need not be played."""
    changed = [question for question in asked.questions if revisions.get(question.id) != drafts[question.id]]
    return share(list((dict(right) | revised(asked, changed, drafts, revisions, SETTINGS)).values()))


def _revisers(asked: Dataset, drafts: Mapping[str, str]) -> dict[str, Mapping[str, str]]:
    ids = [question.id for question in asked.questions]
    return {
        "broken": {name: f"{drafts[name].rstrip(' ;')} WHERE FROM" for name in ids},
        "empty": {name: f"SELECT * FROM ({drafts[name].rstrip(' ;')}) LIMIT 0" for name in ids},
        "prose": dict.fromkeys(ids, "I believe that the query above is what was asked for."),
        "other_question": others(asked, drafts),
    }


def mutations(asked: Dataset, drafts: Mapping[str, str], name: str) -> dict[str, str]:
    """Each question's draft with that mutation."""
    return {question.id: mutated(drafts[question.id], name) for question in asked.questions}


def others(asked: Dataset, drafts: Mapping[str, str]) -> dict[str, str]:
    """For each question, another one's draft, half-way round its database's list, as neighbours often ask the same."""
    found: dict[str, str] = {}
    for question in asked.questions:
        same = [drafts[other.id] for other in asked.questions if other.database == question.database]
        own = drafts[question.id]
        start = (same.index(own) + len(same) // 2) % len(same)
        rotated = same[start:] + same[:start]
        found[question.id] = next((sql for sql in rotated if sql != own), own)
    return found
