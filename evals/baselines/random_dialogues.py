"""CREDIT-SQL's own baseline (4.4): dialogues chosen at random from the training set, with their schemas."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ...agent import Settings
from ...agent.prompted import PromptedTranslator, TranslatorOptions
from ...prompts.dialogues import Dialogue, DialoguesTask
from ...tools.database import Database, render_schema
from ...tools.errors import DatabaseUnavailable
from ...tools.linking import PastTurn
from ..datasets import Dataset, Question, load_dataset
from ..runner.answering import asked_text
from ..runner.record import TurnRecord
from ..runner.spec import History
from .turns import Said, turn_by_turn

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

DIALOGUES = 5
"""Dialogues shown; the paper says `multiple`, and its sample prompt has two."""

_SEED = 0
_SCHEMA = "credit"


class RandomDialogues:
    """One request a turn; the same dialogues, of databases that are not asked about, stand before every question.

    Args:
        dataset: What is asked; its own training split gives the dialogues.
        model: Who is asked.
        settings: `prompt_tokens`, `max_output_tokens`, `temperature` and the limits of queries count here.
        history: What a turn sees of the turns before it.

    Raises:
        SettingsError: The dataset has no training split.
    """

    def __init__(self, dataset: Dataset, model: BaseChatModel, settings: Settings, history: History) -> None:
        options = TranslatorOptions(settings.prompt_tokens, settings.max_output_tokens, settings.temperature)
        self._translator = PromptedTranslator(model, options)
        self._dataset = dataset
        self._settings = settings
        self._history: History = history
        self._dialogues = _sampled(dataset)

    def answers(self, turns: Sequence[Question], kept: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """See `Answering`."""
        return turn_by_turn(turns, kept, self._history, self._dataset.database, self._settings.limits, self._take)

    def close(self) -> None:
        """See `Answering`; nothing stays open."""

    async def _take(self, turn: Question, past: Sequence[PastTurn], database: Database) -> Said:
        schema = render_schema(database.schema(), _SCHEMA)
        task = DialoguesTask(asked_text(turn), schema, tuple(past), self._dialogues)
        done = await self._translator.ado(task)
        return Said(done.reply.sql, done.usage, notes=(*done.notes, *done.reply.notes))


def make(dataset: Dataset, model: BaseChatModel, settings: Settings, history: History) -> RandomDialogues:
    """See `Baseline.module`.

    Raises:
        SettingsError: The dataset has no training split.
    """
    return RandomDialogues(dataset, model, settings, history)


def _sampled(dataset: Dataset) -> tuple[Dialogue, ...]:
    """Dialogues of the training split whose databases are there and not asked about; the same ones in every run."""
    train = load_dataset(dataset.name, "train", dataset.root)
    asked = {question.database for question in dataset.questions}
    candidates = [turns for turns in train.interactions if turns[0].database not in asked]
    random.Random(_SEED).shuffle(candidates)  # noqa: S311 - a sample, not a secret

    @cache
    def schema(name: str) -> str:
        try:
            with Database.open(train.database(name)) as database:
                return render_schema(database.schema(), _SCHEMA)
        except DatabaseUnavailable:
            return ""

    found: list[Dialogue] = []
    for turns in candidates:
        if shown := schema(turns[0].database):
            found.append(Dialogue(shown, tuple(PastTurn(turn.text, sql=turn.golds[0]) for turn in turns)))
        if len(found) == DIALOGUES:
            break
    return tuple(found)
