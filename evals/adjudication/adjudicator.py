"""Finding what rulings say of an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...prompts.judge import Word
from ...tools.database import Database, Schema
from ...tools.errors import DatabaseUnavailable, SQLParseError
from ...tools.sql import regularize
from ..closing import Closing
from ..datasets import Dataset, Question
from ..metrics import StrictJudge
from ..official.execution import whole_operators
from .ruling import Ruling

Basis = Literal["gold", "ruling", "result", "none"]
"""What an outcome rests on: gold alone, a ruling on this very query, one on a query with the same result, nothing."""


@dataclass(frozen=True)
class Outcome:
    """An answer by verdict.

    Attributes:
        verdict: None where gold and answer disagree and nobody has judged: never guessed.
        basis: What it rests on.
        why: The ruling's reason; empty where gold decides.
        kind: The ruling's.
        proposal: What a judge proposes where nobody has decided; it counts for nothing.
        gold_proposal: Likewise of the gold query.
    """

    verdict: Word | None
    basis: Basis
    why: str = ""
    kind: str = ""
    proposal: Ruling | None = None
    gold_proposal: Ruling | None = None


@dataclass(frozen=True)
class _Known:
    """What is said of one query of a question: the last word of people, and the last proposal."""

    accepted: Ruling | None = None
    proposal: Ruling | None = None


class Adjudicator(Closing):
    """Applies the rulings of a verdict file to answers.

    A ruling is on a question by its id and text, or by its text and gold; and on an answer by its SQL up to
    regularisation, or by the same result as the query that was judged.
    """

    def __init__(self, dataset: Dataset, rulings: Iterable[Ruling]) -> None:
        self._dataset = dataset
        self._judge = StrictJudge(dataset)
        self._schemas: dict[str, Schema | None] = {}
        concerned = (ruling for ruling in rulings if ruling.dataset in ("", dataset.name))
        # Golds are judged with whole operators, and a ruling may be on the gold as it was published.
        self._rulings = _by_text(ruling.model_copy(update=_whole(ruling)) for ruling in concerned)

    def close(self) -> None:
        """See `Closing`."""
        self._judge.close()

    def ruling(self, question: Question, sql: str) -> Ruling | None:
        """What a person said of this very query."""
        return self._known(question).get(self._form(question, sql), _Known()).accepted

    def accepted(self, question: Question) -> list[Ruling]:
        """The queries that people call right as answers to a question."""
        known = [entry.accepted for entry in self._known(question).values() if entry.accepted is not None]
        return [ruling for ruling in known if ruling.verdict == "right"]

    def outcome(self, question: Question, sql: str, ex: bool | None, valid: bool) -> Outcome:
        """An answer by verdict.

        Args:
            question: What was asked.
            sql: The answer.
            ex: Whether gold calls it right; None where gold cannot be judged by.
            valid: Whether it runs; of no account where gold cannot be judged by.
        """
        known = self._known(question)
        form = self._form(question, sql) if known else ""
        found = known.get(form, _Known())
        if found.accepted is not None:
            return _outcome(found.accepted, "ruling")
        if not sql.strip() or (ex is False and not valid):
            return Outcome("wrong", "gold")
        people = {key: entry.accepted for key, entry in known.items() if entry.accepted is not None}
        alike = [ruling for key, ruling in people.items() if self._alike(question, sql, ex, key, ruling)]
        words = {ruling.verdict for ruling in alike}
        if len(words) == 1:
            return _outcome(alike[-1], "result")
        if ex and not words:
            return Outcome("right", "gold")
        gold = known.get(self._form(question, question.golds[0]), _Known()) if known else _Known()
        of_gold = None if gold.accepted is not None else gold.proposal
        return Outcome(None, "none", proposal=found.proposal, gold_proposal=of_gold)

    def _alike(self, question: Question, sql: str, ex: bool | None, form: str, ruling: Ruling) -> bool:
        """Whether an answer has the same result as the query of a ruling."""
        on_gold = form in {self._form(question, gold) for gold in question.golds}
        if on_gold and ex is not None:
            return ex
        if ex and ruling.verdict == "right":
            return False  # gold says as much
        return self._judge.judge(replace(question, golds=(ruling.sql,)), sql).ex is True

    def _known(self, question: Question) -> Mapping[str, _Known]:
        """By the regular form of each query that something is said of, in the order of the file."""
        found: dict[str, _Known] = {}
        for ruling in self._rulings.get(_words(question.text), ()):
            if concerns(ruling, question):
                form = self._form(question, ruling.sql)
                said = {"accepted" if ruling.accepted else "proposal": ruling}
                found[form] = replace(found.pop(form, _Known()), **said)
        return found

    def _form(self, question: Question, sql: str) -> str:
        schema = self._schema(question.database)
        try:
            return regularize(sql, schema) if schema is not None else _words(sql)
        except SQLParseError:
            return _words(sql)

    def _schema(self, name: str) -> Schema | None:
        if name not in self._schemas:
            try:
                with Database.open(self._dataset.place(name)) as database:
                    self._schemas[name] = database.schema()
            except DatabaseUnavailable:
                self._schemas[name] = None
        return self._schemas[name]


def concerns(ruling: Ruling, question: Question) -> bool:
    """Whether a ruling is on a question: by its id and text, or by its text and gold."""
    if _words(ruling.question) != _words(question.text):
        return False
    if ruling.id:
        return ruling.id == question.id
    return not ruling.gold or _words(whole_operators(ruling.gold)) in map(_words, question.golds)


def _whole(ruling: Ruling) -> dict[str, str]:
    return {"sql": whole_operators(ruling.sql), "gold": whole_operators(ruling.gold)}


def _by_text(rulings: Iterable[Ruling]) -> Mapping[str, Sequence[Ruling]]:
    found: dict[str, list[Ruling]] = {}
    for ruling in rulings:
        found.setdefault(_words(ruling.question), []).append(ruling)
    return found


def _outcome(ruling: Ruling, basis: Basis) -> Outcome:
    return Outcome(ruling.verdict, basis, ruling.why, ruling.kind)


def _words(text: str) -> str:
    return " ".join(text.split())
