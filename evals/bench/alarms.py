"""Which drafts are sent back for a revision: how many of the right ones, and how many of the wrong ones.

A draft is right by the verdict of a careful reader where there is one, else by the strict score. What counts as
evidence was decided on training golds and their mutations; strong and published drafts are of development questions,
and are only reported on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ..datasets import Dataset, load_dataset
from .mutations import MUTATIONS
from .never_worse import mutations, others
from .registry import BenchOptions
from .replayed import Replayed, share
from .revisions import EVERY, WITHOUT
from .strong import Readings, Strong, answered

SETTINGS = {"max_attempts": 2}
"""A draft that is sent back is answered with itself."""

LEAST_ALARMS = 10
"""Alarms below which a precision would say nothing."""

Judged = tuple[bool, bool]
"""Whether a draft is right, and whether it was sent back."""


def run(options: BenchOptions) -> dict[str, object]:
    """`right_sent_back` and `wrong_sent_back` are rates; `precision` is the share of alarms that are on wrong drafts.

    `strong` are a strong model's drafts over whole conversations, `published` six systems' on Spider dev, `mutated`
    gold queries of Spider train as they are and with one thing broken. `limit` keeps so many interactions of each.
    """
    return {
        "strong": figures(_strong(options)),
        "published": figures(_published(options)),
        "mutated": figures(_mutated(options)),
    }


def figures(judged: Iterable[Judged]) -> dict[str, object]:
    """Counts, rates from 0 to 1, and the precision, None where there were too few alarms to tell."""
    known = list(judged)
    right = [alarm for is_right, alarm in known if is_right]
    wrong = [alarm for is_right, alarm in known if not is_right]
    alarms = sum(right) + sum(wrong)
    return {
        "n_right": len(right),
        "n_wrong": len(wrong),
        "right_sent_back": share(right),
        "wrong_sent_back": share(wrong),
        "precision": round(sum(wrong) / alarms, 4) if alarms >= LEAST_ALARMS else None,
    }


def _strong(options: BenchOptions) -> Iterator[Judged]:
    strong = Strong.load(options.folder, options.limit)
    for drafts in strong.arms.values():
        yield from _judged(strong.asked, drafts, strong.readings)


def _published(options: BenchOptions) -> Iterator[Judged]:
    replayed = Replayed.load(options.folder, options.limit)
    for drafts in replayed.predictions.values():
        yield from _judged(replayed.asked, drafts)


def _mutated(options: BenchOptions) -> Iterator[Judged]:
    whole = load_dataset("spider", "train", options.folder).without(WITHOUT)
    step = EVERY if options.limit is None else max(len(whole.questions) // options.limit, 1)
    asked = replace(whole, questions=whole.questions[::step])
    golds = {question.id: question.golds[0] for question in asked.questions}
    yield from _judged(asked, golds)
    for found in (*(mutations(asked, golds, name) for name in MUTATIONS), others(asked, golds)):
        changed = tuple(question for question in asked.questions if found[question.id] != golds[question.id])
        yield from _judged(replace(asked, questions=changed), found)


def _judged(asked: Dataset, drafts: Mapping[str, str], readings: Readings | None = None) -> Iterator[Judged]:
    for record, verdict in answered(asked, [drafts], SETTINGS):
        reading = (readings or {}).get((verdict.question.text, drafts[record.id]))
        right = verdict.ex if reading is None else {"right": True, "wrong": False}.get(reading)
        if right is not None:
            failed = any(attempt["error"] for attempt in record.attempts[:1])
            yield right, failed or len(record.attempts) > 1
