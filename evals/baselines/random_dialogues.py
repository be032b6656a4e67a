"""CREDIT-SQL's baseline (4.4): random dialogues from the training set with their schemas."""

from __future__ import annotations

import random
from collections.abc import Sequence
from contextlib import suppress

from ...agent.effects import BudgetTracker, arun, ask
from ...agent.model import PromptedTranslator, TranslatorOptions, compute_node_budget
from ...prompts.generate import DialogueExample, DialogueQueryTask
from ...tools.database import Database, render_schema
from ...tools.errors import DatabaseUnavailable
from ...tools.linking import PastTurn
from ..datasets import GoldTurn, load_dataset
from ..runner.agents import BaselineReply, TurnByTurnAnswerer

DIALOGUES = 5  # the number of dialogues shown; the paper says `multiple`, and its sample prompt has two

_SCHEMA_FORM = "credit"


class RandomDialoguesBaseline(TurnByTurnAnswerer):
    """A baseline that shows the model the same random training dialogues in every request.

    They are from the dataset's own training split, chosen by `example_seed`.
    """

    def __post_init__(self) -> None:
        self._translator = PromptedTranslator(self.model, TranslatorOptions.of(self.settings))
        train = load_dataset(self.dataset.name, "train", self.dataset.root)
        databases = {question.database for question in self.dataset.questions}
        candidates = [turns for turns in train.interactions if turns[0].database not in databases]
        random.Random(self.settings.example_seed).shuffle(candidates)  # noqa: S311 - a sample, not a secret
        self._dialogues: list[DialogueExample] = []
        for turns in candidates:
            # A database that is missing has no schema to show.
            with suppress(DatabaseUnavailable), Database.open(train.find_file(turns[0].database)) as database:
                dialogue = tuple(PastTurn(turn.text, sql=turn.golds[0]) for turn in turns)
                self._dialogues.append(DialogueExample(render_schema(database.schema(), _SCHEMA_FORM), dialogue))
            if len(self._dialogues) == DIALOGUES:
                break

    async def answer_turn(self, turn: GoldTurn, past: Sequence[PastTurn], database: Database) -> BaselineReply:
        """Answer one turn of a conversation by one model request."""
        schema = render_schema(database.schema(), _SCHEMA_FORM)
        task = DialogueQueryTask(turn.text, schema, tuple(past), tuple(self._dialogues))
        tally = BudgetTracker(compute_node_budget(self.settings, {}))
        result = await arun(ask(task), self._translator, tally)
        return BaselineReply(result.reply.sql, tally.usage, notes=(*result.notes, *result.reply.notes))
