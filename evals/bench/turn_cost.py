"""What a turn costs: requests, tokens of their prompts, and how much of a prompt repeats the one before."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from ...agent import SQLAgent
from ...tools.database import Schema
from ...tools.database.rendering.text import identifiers
from ...tools.linking import STAR
from ...tools.sql import used_items
from ..datasets import Dataset, load_dataset
from .registry import BenchOptions

SETS = {"spider": "spider", "sparc": "sparc", "cosql": "cosql", "kaggle": "kaggle-dbqa"}
"""Each set's name among the drafts."""

LARGE = "large"
"""The set of one large database, of which gold is played: nobody has drafts of it."""

ARM = "zero-shot"
"""The strong model's drafts that are played: those of one request."""

CHARACTERS_A_TOKEN = 4


@dataclass
class Cost:
    """What the turns of a set cost.

    Attributes:
        turns: How many.
        sizes: Characters of each prompt.
        shares: Of each prompt that follows another on the same database, the share that both begin with.
        gold_shown: Turns whose first prompt shows all tables and columns that gold uses; counted of `large` alone.
    """

    turns: int = 0
    sizes: list[int] = field(default_factory=list[int])
    shares: list[float] = field(default_factory=list[float])
    gold_shown: int | None = None

    def figures(self) -> dict[str, float | None]:
        """`calls` a turn, mean `prompt_tokens` a turn, mean `cacheable_share` of prompts that follow another."""
        turns = max(self.turns, 1)
        return {
            "n": self.turns,
            "calls": round(len(self.sizes) / turns, 3),
            "prompt_tokens": round(sum(self.sizes) / CHARACTERS_A_TOKEN / turns),
            "cacheable_share": round(sum(self.shares) / len(self.shares), 3) if self.shares else None,
            **({} if self.gold_shown is None else {"gold_shown": round(self.gold_shown / turns, 3)}),
        }


class DraftModel(BaseChatModel):
    """Replies with the SQL that is set, as a model does that answers in one block; keeps the prompts."""

    _sql: str = PrivateAttr(default="")
    _prompts: list[str] = PrivateAttr(default_factory=list[str])

    @property
    def _llm_type(self) -> str:
        return "draft"

    @property
    def prompts(self) -> list[str]:
        """The messages of each request as one text."""
        return self._prompts

    def reply_with(self, sql: str) -> None:
        """Sets the SQL of the replies to come."""
        self._sql = sql

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        self._prompts.append("\n".join(message.text for message in messages))
        message = AIMessage(f"```sql\n{self._sql}\n```\nSure: 90")
        return ChatResult(generations=[ChatGeneration(message=message)])


def run(options: BenchOptions) -> dict[str, object]:
    """Strong drafts, played as the model's replies over each set's databases, in conversations where it has them.

    Questions on one database are asked one after the other: `cacheable_share` is of prompts that follow another on it.
    `large` asks single questions of a database of all others' tables, and adds `gold_shown`: the share of questions
    whose prompt shows all tables and columns that gold uses.
    """
    drafts = read_drafts(options.folder)
    costs = {
        name: _cost([draft for draft in drafts if draft["dataset"] == kept][: options.limit], options.folder)
        for name, kept in SETS.items()
    }
    costs[LARGE] = _cost_of_large(load_dataset(LARGE, "dev", options.folder).first(options.limit))
    return {name: cost.figures() for name, cost in costs.items()}


def read_drafts(data: Path) -> list[dict[str, Any]]:
    """The drafts, conversation after conversation."""
    lines = (data / "strong_model" / "drafts.jsonl").read_text(encoding="utf-8").splitlines()
    return [draft for line in lines if (draft := json.loads(line))["arm"] == ARM]


def _cost(drafts: Sequence[Mapping[str, Any]], data: Path) -> Cost:
    cost = Cost()
    for database, found in groupby(sorted(drafts, key=itemgetter("database")), itemgetter("database")):
        model = DraftModel()
        with SQLAgent(_place(data, database), model=model, settings={"record": "off"}) as agent:
            for _, turns in groupby(found, itemgetter("interaction")):
                chat = agent.conversation()
                for turn in turns:
                    model.reply_with(turn["sql"])
                    chat.ask(turn["question"])
                    cost.turns += 1
        cost.sizes += map(len, model.prompts)
        cost.shares += [_shared(*pair) / len(pair[1]) for pair in pairwise(model.prompts)]
    return cost


def _cost_of_large(dataset: Dataset) -> Cost:
    cost, model = Cost(gold_shown=0), DraftModel()
    for name, questions in groupby(dataset.questions, lambda question: question.database):
        with SQLAgent(dataset.database(name), model=model) as agent:
            schema = agent.resources.database.schema()
            agent.resources.values.find("")  # goes on with the index as long as a turn may
            for question in questions:
                model.reply_with(question.golds[0])
                asked = len(model.prompts)
                agent.ask(question.text)
                cost.turns += 1
                cost.gold_shown = (cost.gold_shown or 0) + _shows(model.prompts[asked], question.golds[0], schema)
    cost.sizes += map(len, model.prompts)
    cost.shares += [_shared(*pair) / len(pair[1]) for pair in pairwise(model.prompts)]
    return cost


def _shows(prompt: str, gold: str, schema: Schema) -> bool:
    """Whether a prompt's schema, in the compact form, has all tables and columns that a query uses."""
    used, written = used_items(gold, schema), identifiers(schema)
    for table in used.tables:
        columns = [written(column) for of, column in used.columns if of == table and column != STAR]
        line = re.search(rf"^{re.escape(written(table))}\^?\((.*)$", prompt, re.MULTILINE)
        if line is None or not all(re.search(rf"(^|, ){re.escape(column)}[*^]* ", line[1]) for column in columns):
            return False
    return True


def _shared(one: str, other: str) -> int:
    """Characters that both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (a, b) in pairs if a != b), min(len(one), len(other)))


def _place(data: Path, database: str) -> Path:
    """The file of a database, whichever benchmark it is of."""
    return next(
        path
        for folder in ("spider/database", "spider/test_database", "kaggle-dbqa/database")
        if (path := data / folder / database / f"{database}.sqlite").is_file()
    )
