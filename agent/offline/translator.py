"""The offline translator: does every task that needs no code by parsing, without a model."""

from __future__ import annotations

import asyncio
import re
from typing import TypeVar, cast

from ...prompts.annotate import AnnotateColumnsTask, AnnotateTablesTask
from ...prompts.explain import ExplainTask
from ...prompts.generate import GenerateTask
from ...prompts.reason import ReasonTask, SQLFromCodeTask
from ...prompts.rephrase import RephraseTask
from ...prompts.replies import Draft, Explanation, Rephrasing
from ...prompts.revise import ReviseTask
from ...prompts.simplify import SimplifyTask
from ...prompts.task import Task
from ...tools.database import Database
from ...tools.errors import NotUnderstood
from ...tools.frames import give_me
from ...tools.linking import PastTurn
from ...tools.sql import explain
from ...tools.values import ValueIndex
from ..translator import Done
from .dangling import offered, pronoun
from .engine import Answer, Engine

R = TypeVar("R")
_DECLINE = 0.12
"""Confidence below which no SQL is written."""

_DECLINE_AT_ALL = 0.35
"""Confidence below which a person is told that the question was not read well enough."""

_DECLINE_WITH_UNREAD = 0.4
"""Confidence below which a question is declined where only verbs were not understood ("who *placed* orders")."""

_VERB = re.compile(r"\w{3,}(?:ed|ing)|have|has|had|made|make|sold|bought|written|wrote|taken|took|given|gave|held|ran")

_SMALL_TALK = re.compile(
    r"^\W*(?:(?:hi|hello|hey|thanks?|thank you|thx|bye|goodbye|ok(?:ay)?|great|good|cool|nice|perfect|wonderful"
    r"|awesome|"
    r"sure|yes|no|got it|i see|very|much|so|that|is|it|all|for|now|your|help|you(?:'re)?|welcome|morning|evening|"
    r"have|a|day|helpful|interesting|sounds|how are|please|very well|fine|was|the|there)\b\W*)+$",
    re.IGNORECASE,
)


class OfflineTranslator:
    """A deterministic stand-in for a model: reads questions by grammar, schema and values, and says how.

    Args:
        database: What is asked about.
        values: Its value index; made on first use if not given.
    """

    name = "offline"
    model = "offline"
    reads_examples = False

    def __init__(self, database: Database, values: ValueIndex | None = None) -> None:
        self._engine = Engine(database, values if values is not None else ValueIndex.open(database))

    def do(self, task: Task[R]) -> Done[R]:
        """See `Translator.do`.

        Raises:
            NotUnderstood: The question cannot be read, or the task needs a model.
        """
        return Done(cast("R", self._reply(task)))

    async def ado(self, task: Task[R]) -> Done[R]:
        """As `do`, in a worker thread."""
        return await asyncio.to_thread(self.do, task)

    def _reply(self, task: object) -> object:
        match task:
            case RephraseTask():
                return self._rephrase(task)
            case SimplifyTask():
                return task.question
            case GenerateTask():
                return self._generate(task)
            case ReviseTask():
                return self._revise(task)
            case ExplainTask():
                return Explanation(explain(task.sql, task.schema))
            case ReasonTask() | SQLFromCodeTask():
                raise NotUnderstood("The offline translator writes no code; choose a model, or switch reasoning off.")
            case AnnotateColumnsTask() | AnnotateTablesTask():
                raise NotUnderstood("The offline translator describes no columns; choose a model.")
            case _:
                raise NotUnderstood(f"The offline translator cannot do a {type(task).__name__}; choose a model.")

    def _rephrase(self, task: RephraseTask) -> Rephrasing:
        if _SMALL_TALK.match(task.question):
            reply = "You are welcome. Ask me something about this database."
            return Rephrasing(task.question, task.question, "small_talk", reply)
        meant = None if task.clarification or _base(task.history) else pronoun(task.question)
        if meant is not None:
            asks, choices = f'What does "{meant}" stand for?', offered(task.schema)
            return Rephrasing(task.question, task.question, "ambiguous", asks, choices)
        try:
            answer = self._engine.answer(task.question, _base(task.history), task.clarification)
        except NotUnderstood as error:
            return Rephrasing(task.question, task.question, "unanswerable", str(error))
        if _doubtful(answer):
            return Rephrasing(task.question, task.question, "unanswerable", _unsure(answer))
        sentence = give_me(answer.frame)
        if answer.choices:
            return Rephrasing(sentence, sentence, "ambiguous", answer.asks, answer.choices)
        return Rephrasing(sentence, sentence)

    def _generate(self, task: GenerateTask) -> Draft:
        answer = self._engine.answer(task.question, _base(task.history))
        if answer.confidence < _DECLINE:
            raise NotUnderstood(_unsure(answer), answer.unread)
        return _draft(answer)

    def _revise(self, task: ReviseTask) -> Draft:
        return _draft(self._engine.corrected(self._engine.answer(task.generate.question, _base(task.generate.history))))


def _base(history: tuple[PastTurn, ...]) -> str:
    """The last query that answered a turn."""
    return next((turn.sql for turn in reversed(history) if turn.sql), "")


def _doubtful(answer: Answer) -> bool:
    """Whether declining serves a person better than an answer that passed words over.

    On Spider train four in ten such answers are right, but seven in ten where the words are verbs alone. Where every
    question must be answered (`Settings.clarify` off), only `_DECLINE` holds.
    """
    if not answer.unread:
        return answer.confidence < _DECLINE_AT_ALL
    return answer.confidence < _DECLINE_WITH_UNREAD or not all(_VERB.fullmatch(word.lower()) for word in answer.unread)


def _draft(answer: Answer) -> Draft:
    caveats = (f"Not understood and left out: {', '.join(answer.unread)}.",) if answer.unread else ()
    return Draft(answer.sql, answer.confidence, answer.notes, caveats)


def _unsure(answer: Answer) -> str:
    words = f" I did not understand: {', '.join(answer.unread)}." if answer.unread else ""
    return f"I cannot read this question well enough without a model.{words}"
