"""What revisions of Spider train's gold queries do: careless ones must not replace them, and they must replace those.

The rules that choose among attempts were developed on this, never on a development set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..datasets import Dataset, Question, load_dataset
from ..metrics import OfficialJudge
from .mutations import MUTATIONS
from .never_worse import SETTINGS, mutations, others
from .registry import BenchOptions
from .replayed import revised, share

EVERY = 9
"""One question in so many, where no limit is set."""

WITHOUT = ("baseball_1", "music_2", "soccer_1")
"""Databases that are not there or have no rows, so that results on them mean nothing."""


def run(options: BenchOptions) -> dict[str, object]:
    """By mutation, and for another question's query: `changed` questions, and the rates `kept` and `mended`.

    `kept` is EX with the gold query as the draft and the mutation as its revision. `mended` is EX with the mutation as
    the draft and the gold query as its revision, of those mutations that are wrong.
    """
    whole = load_dataset("spider", "train", options.folder).without(WITHOUT)
    step = EVERY if options.limit is None else max(len(whole.questions) // options.limit, 1)
    asked = replace(whole, questions=whole.questions[::step])
    golds = {question.id: question.golds[0] for question in asked.questions}
    mutants = {name: mutations(asked, golds, name) for name in MUTATIONS} | {"other_question": others(asked, golds)}
    return {"n": len(golds), **{name: _figures(asked, golds, found) for name, found in mutants.items()}}


def _figures(asked: Dataset, golds: Mapping[str, str], mutants: Mapping[str, str]) -> dict[str, object]:
    changed = tuple(question for question in asked.questions if mutants[question.id] != golds[question.id])
    wrong = _wrong(replace(asked, questions=changed), mutants)
    return {
        "changed": len(changed),
        "wrong": len(wrong),
        "kept": share(list(revised(asked, changed, golds, mutants, SETTINGS).values())),
        "mended": share(list(revised(asked, wrong, mutants, golds, SETTINGS).values())),
    }


def _wrong(asked: Dataset, mutants: Mapping[str, str]) -> tuple[Question, ...]:
    with OfficialJudge(asked) as judge:
        return tuple(found for found in asked.questions if judge.judge(found, mutants[found.id]).ex is False)
