"""Golds that readers and systems speak against."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ..adjudication.adjudicator import Adjudicator
from ..adjudication.ruling import Ruling
from ..datasets import Question
from .dispute import Dispute, Golds, Predictions

_ENOUGH = 2
"""Systems that must agree on a result: the same mistake is made by two, but not often one that a reader calls right."""


def verdict_disputes(golds: Golds, rulings: Iterable[Ruling]) -> Iterator[Dispute]:
    """Golds that somebody has called wrong."""
    with Adjudicator(golds.dataset, rulings) as adjudicator:
        for question in golds.dataset.questions:
            ruling = adjudicator.ruling(question, question.golds[0])
            if ruling is not None and ruling.verdict == "wrong":
                yield Dispute(question, "verdict", ruling.why or f"{ruling.by or 'a reader'} calls it wrong")


def system_disputes(golds: Golds, rulings: Iterable[Ruling], predictions: Predictions) -> Iterator[Dispute]:
    """Golds that no system agrees with, while several give a result that a reader calls right.

    Systems alone prove little: of the golds on Spider dev that four of six published ones contradict with one voice,
    half are sound, and all six look for a value that is not in the data.
    """
    with Adjudicator(golds.dataset, rulings) as adjudicator:
        for question in golds.dataset.questions:
            accepted = [ruling for ruling in adjudicator.accepted(question) if golds.contradicts(question, ruling.sql)]
            if not accepted:
                continue
            given = {name: found[question.id] for name, found in predictions.items() if found.get(question.id)}
            if any(golds.judge.judge(question, sql).ex for sql in given.values()):
                continue
            for ruling in accepted:
                agreeing = _agreeing(golds, question, ruling.sql, given)
                if len(agreeing) >= _ENOUGH:
                    told = f"{', '.join(agreeing)} give what a reader calls right: {ruling.why or ruling.sql}"
                    yield Dispute(question, "systems", told)
                    break


def _agreeing(golds: Golds, question: Question, sql: str, given: dict[str, str]) -> Sequence[str]:
    asked = replace(question, golds=(sql,))
    return [name for name, prediction in given.items() if golds.judge.judge(asked, prediction).ex]
