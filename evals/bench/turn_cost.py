"""What a turn costs: requests, tokens of their prompts, and how much of a prompt repeats the one before."""

from __future__ import annotations

import json
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
from .registry import BenchOptions

SETS = {"spider": "spider", "sparc": "sparc", "cosql": "cosql", "kaggle": "kaggle-dbqa"}
"""Each set's name among the drafts."""

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
    """

    turns: int = 0
    sizes: list[int] = field(default_factory=list[int])
    shares: list[float] = field(default_factory=list[float])

    def figures(self) -> dict[str, float | None]:
        """`calls` a turn, mean `prompt_tokens` a turn, mean `cacheable_share` of prompts that follow another."""
        turns = max(self.turns, 1)
        return {
            "n": self.turns,
            "calls": round(len(self.sizes) / turns, 3),
            "prompt_tokens": round(sum(self.sizes) / CHARACTERS_A_TOKEN / turns),
            "cacheable_share": round(sum(self.shares) / len(self.shares), 3) if self.shares else None,
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
    """
    drafts = read_drafts(options.folder)
    return {
        name: _cost([draft for draft in drafts if draft["dataset"] == kept][: options.limit], options.folder).figures()
        for name, kept in SETS.items()
    }


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
