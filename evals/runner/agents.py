"""An agent for each database, opened when its first question comes and closed after its last."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.memory import InMemorySaver

from ...agent import Conversation, Settings, SQLAgent
from ...tools.linking import PastTurn
from ..datasets import Dataset, Question

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel


class Agents:
    """Agents by database.

    Args:
        dataset: Its interactions are counted, to know a database's last one.
        model: What each agent is given.
        settings: Likewise.
        examples: An example store; None for the built-in examples.
    """

    def __init__(self, dataset: Dataset, model: BaseChatModel | str, settings: Settings, examples: str | None) -> None:
        self._dataset = dataset
        self._model = model
        self._settings = settings
        self._examples = examples
        self._left = Counter(turns[0].database for turns in dataset.interactions)
        self._open: dict[str, SQLAgent] = {}
        self._checkpoints = InMemorySaver()

    @contextmanager
    def conversation(self, database: str) -> Generator[Conversation]:
        """A conversation, forgotten at its end: memory stays flat in the number of questions.

        Raises:
            DatabaseUnavailable: The database is missing or cannot be used.
        """
        conversation = self._agent(database).conversation(uuid.uuid4().hex)
        try:
            yield conversation
        finally:
            self._checkpoints.delete_thread(conversation.thread)

    async def remember(self, database: str, conversation: Conversation, turns: Sequence[Question]) -> None:
        """Makes a conversation look as if these turns had been answered by their gold SQL."""
        past: list[dict[str, Any]] = [
            asdict(PastTurn(question=turn.text, rephrased=turn.text, sql=turn.golds[0])) for turn in turns
        ]
        if past:
            config: Any = {"configurable": {"thread_id": conversation.thread}}
            await self._agent(database).graph.aupdate_state(config, {"turns": past}, as_node="respond")

    def done(self, database: str) -> None:
        """Says that one interaction of a database has ended."""
        self._left[database] -= 1
        if not self._left[database] and database in self._open:
            self._open.pop(database).close()

    def close(self) -> None:
        """Closes what is open."""
        for agent in self._open.values():
            agent.close()
        self._open.clear()

    def _agent(self, database: str) -> SQLAgent:
        if database not in self._open:
            self._open[database] = SQLAgent(
                self._dataset.database(database),
                model=self._model,
                settings=self._settings,
                examples=self._examples,
                checkpointer=self._checkpoints,
            )
        return self._open[database]
