"""All searches over a dataset."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ..adjudication.ruling import Ruling
from ..datasets import Dataset
from .dispute import Dispute, Golds, Predictions, Search
from .joins import join_disputes
from .opponents import system_disputes, verdict_disputes
from .text import text_disputes
from .twins import twin_disputes
from .values import value_disputes


def find_disputes(
    dataset: Dataset, rulings: Sequence[Ruling] = (), predictions: Predictions | None = None
) -> list[Dispute]:
    """Golds that there is reason to doubt, in the dataset's order; one may be doubted for several reasons.

    Args:
        dataset: The questions.
        rulings: Of a verdict file.
        predictions: Of published systems.
    """
    searches: tuple[Search, ...] = (
        failures,
        value_disputes,
        text_disputes,
        join_disputes,
        twin_disputes,
        partial(verdict_disputes, rulings=rulings),
        partial(system_disputes, rulings=rulings, predictions=predictions or {}),
    )
    # What is to be declined has no gold to be doubted.
    dataset = replace(dataset, questions=tuple(question for question in dataset.questions if question.golds))
    places = {question.id: place for place, question in enumerate(dataset.questions)}
    with Golds(dataset) as golds:
        found = [dispute for search in searches for dispute in search(golds)]
    return sorted(found, key=lambda dispute: places[dispute.question.id])


def failures(golds: Golds) -> Iterator[Dispute]:
    """Golds that do not run, or cannot be judged by."""
    for question in golds.dataset.questions:
        if golds.schema(question) is not None and (why := golds.judge.unfit(question)):
            yield Dispute(question, "fails", why)
