"""The offline translator: does every task that needs no code by parsing, without a model."""

from __future__ import annotations

import threading
from typing import TypeVar, cast

from ...prompts.explain import ExplainTask
from ...prompts.generate import GenerateTask
from ...prompts.rephrase import RephraseTask
from ...prompts.replies import Draft, Explanation, Rephrasing
from ...prompts.revise import ReviseTask
from ...prompts.simplify import SimplifyTask
from ...prompts.task import Task
from ...tools.database import Database
from ...tools.errors import NotUnderstood
from ...tools.linking import PastTurn
from ...tools.sql import explain
from ...tools.values import ValueIndex
from ..effects import Body, Do, Done
from .frame import give_me
from .parser import Answer, Engine, UnresolvedPronoun
from .reading import CUES

R = TypeVar("R")
_DECLINE = 0.12
"""Confidence below which no SQL is written."""

_DOUBTFUL = 0.4
"""Confidence below which a person is told that the question was not read well enough."""

_REMEMBERED = 1_024
"""Answers that are kept from the rephrasing of their questions for the writing of their SQL."""

_OFFERED = 6
"""Tables of which a person is asked to choose what a word stands for, at most."""


class OfflineTranslator:
    """A deterministic stand-in for a model: reads questions by grammar, schema and values, and says how.

    Args:
        database: What is asked about.
        values: Its value index; made on first use if not given.
    """

    name = "offline"
    model = "offline"
    reads_examples = False
    understands = False

    def __init__(self, database: Database, values: ValueIndex | None = None) -> None:
        self._engine = Engine(database, values if values is not None else ValueIndex.open(database))
        self._lock = threading.Lock()
        self._read: dict[tuple[str, str, str, str], Answer] = {}

    def perform(self, task: Task[R]) -> Body[Done[R]]:
        """See `Translator`."""
        return (yield Do(lambda: self.do(task)))

    def do(self, task: Task[R]) -> Done[R]:
        """Does a task, blocking.

        Raises:
            NotUnderstood: The question cannot be read, or the task needs a model.
        """
        return Done(cast("R", self._reply(task)))

    def _reply(self, task: object) -> object:
        match task:
            case RephraseTask():
                return self._rephrase(task)
            case SimplifyTask():
                return task.question
            case GenerateTask():
                return self._generate(task)
            case ReviseTask():
                return _draft(self._answer(task.generate))  # it knows no better: the loop ends
            case ExplainTask():
                return Explanation(explain(task.sql, task.schema))
            case _:
                raise NotUnderstood(
                    f"The offline translator does no {type(task).__name__}: choose a model, or switch reasoning off."
                )

    def _rephrase(self, task: RephraseTask) -> Rephrasing:
        if CUES["small_talk"].match(task.question):
            reply = "You are welcome. Ask me something about this database."
            return Rephrasing(task.question, task.question, "small_talk", reply)
        base = _base(task.history)
        try:
            answer = self._engine.answer(task.question, base, task.clarification[1] if task.clarification else "")
        except UnresolvedPronoun as error:
            asks = f'What does "{error.words[0]}" stand for?'
            tables = tuple(table.name.replace("_", " ") for table in task.schema.tables[:_OFFERED])
            return Rephrasing(task.question, task.question, "ambiguous", asks, tables)
        except NotUnderstood as error:
            return Rephrasing(task.question, task.question, "unanswerable", str(error))
        sentence = give_me(answer.frame)
        with self._lock:
            self._read[task.question, base, sentence, self._engine.names().schema.version] = answer
            if len(self._read) > _REMEMBERED:
                del self._read[next(iter(self._read))]
        if _doubtful(answer):
            return Rephrasing(sentence, sentence, "unanswerable", _unsure(answer))
        return Rephrasing(sentence, sentence)

    def _generate(self, task: GenerateTask) -> Draft:
        answer = self._answer(task)
        if answer.confidence < _DECLINE:
            raise NotUnderstood(_unsure(answer), answer.unread)
        return _draft(answer)

    def _answer(self, task: GenerateTask) -> Answer:
        """The answer to a turn, as its rephrasing settled it: two conversations may settle one question apart."""
        base = _base(task.history)
        known = self._read.get((task.question, base, task.rephrasing.rephrased, self._engine.names().schema.version))
        return known or self._engine.answer(task.question, base)


def _base(history: tuple[PastTurn, ...]) -> str:
    """The last query that answered a turn."""
    return next((turn.sql for turn in reversed(history) if turn.sql), "")


def _doubtful(answer: Answer) -> bool:
    """Whether declining serves a person better: where what was passed over matters, or the reading is unsure.

    Where every question must be answered (`Settings.clarify` off), only `_DECLINE` holds.
    """
    return answer.partial or answer.confidence < _DOUBTFUL


def _draft(answer: Answer) -> Draft:
    caveats = (f"Not understood and left out: {', '.join(answer.unread)}.",) if answer.unread else ()
    return Draft(answer.sql, answer.confidence, answer.notes, caveats)


def _unsure(answer: Answer) -> str:
    if answer.unread:
        words = f"I did not understand: {', '.join(answer.unread)}."
    else:
        empty = " Nothing fits that." if answer.signals["no row"] else ""
        words = f'I am not sure enough of my reading: "{give_me(answer.frame)}"{empty}'
    return f"I cannot read this question well enough without a model. {words}"
