"""An agent for each database, opened when a question on it comes; the last few used stay open."""

from __future__ import annotations

import asyncio
import uuid
from collections import Counter, OrderedDict
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from langgraph.checkpoint.memory import InMemorySaver

from ...agent import Conversation, Settings, SQLAgent
from ...agent.context.annotate import describe_all
from ...agent.nodes.link import kept_items
from ...tools.database import Schema
from ...tools.errors import ModelError, NotUnderstood
from ...tools.examples import open_existing
from ...tools.linking import PastTurn
from ..datasets import Dataset, Question
from ..metrics.redundancy import Linked

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

_KEPT_OPEN = 4


class Agents:
    """Agents by database.

    Args:
        dataset: Says where the databases are.
        model: What each agent is given.
        settings: Likewise.
        examples: An example store, opened once for all of them; None for the built-in examples.
        embedding: Of that store.

    Raises:
        ExampleStoreError: The store is not there, or was made with another embedding.
    """

    def __init__(
        self,
        dataset: Dataset,
        model: BaseChatModel | str,
        settings: Settings,
        examples: str | None,
        embedding: str = "hashed",
    ) -> None:
        self._dataset = dataset
        self._model = model
        self._settings = settings
        self._examples = open_existing(examples, embedding) if examples else None
        self._open: OrderedDict[str, SQLAgent] = OrderedDict()
        self._in_use: Counter[str] = Counter()
        self._checkpoints = InMemorySaver()

    @contextmanager
    def conversation(self, database: str) -> Generator[Conversation]:
        """A conversation, forgotten at its end: memory stays flat in the number of questions.

        Raises:
            DatabaseUnavailable: The database is missing or cannot be used.
        """
        conversation = self._agent(database).conversation(uuid.uuid4().hex)
        self._in_use[database] += 1
        try:
            yield conversation
        finally:
            self._in_use[database] -= 1
            self._checkpoints.delete_thread(conversation.thread)

    async def remember(self, database: str, conversation: Conversation, turns: Sequence[Question]) -> None:
        """Makes a conversation look as if these turns had been answered by their gold SQL.

        What the linker makes of each is kept too: how relevant a turn's SQL is depends on it (Track-SQL equation 8).
        """
        agent = self._agent(database)
        past: list[PastTurn] = []
        for turn in turns:
            if turn.golds:
                asked = PastTurn(question=turn.text, rephrased=turn.text, sql=turn.golds[0])
                past.append(replace(asked, items=await asyncio.to_thread(_linked, agent, turn.text, tuple(past))))
        if past:
            config: Any = {"configurable": {"thread_id": conversation.thread}}
            await agent.graph.aupdate_state(config, {"turns": [asdict(one) for one in past]}, as_node="respond")

    def schema(self, database: str) -> Schema:
        """A database's schema, as the agent has it."""
        return self._agent(database).resources.database.schema()

    async def linked(self, database: str, conversation: Conversation) -> Linked:
        """What the linker found for the conversation's last turn, with probabilities."""
        config: Any = {"configurable": {"thread_id": conversation.thread}}
        state = await self._agent(database).graph.aget_state(config)
        return state.values.get("turn", {}).get("items", ())

    def close(self) -> None:
        """Closes what is open."""
        for agent in self._open.values():
            agent.close()
        self._open.clear()
        if self._examples is not None:
            self._examples.close()

    def _agent(self, database: str) -> SQLAgent:
        if database in self._open:
            self._open.move_to_end(database)
            return self._open[database]
        idle = [name for name in self._open if not self._in_use[name]]
        if len(self._open) >= _KEPT_OPEN and idle:
            self._open.pop(idle[0]).close()
        agent = self._open[database] = SQLAgent(
            self._dataset.place(database),
            model=self._model,
            settings=self._settings,
            examples=self._examples,
            checkpointer=self._checkpoints,
        )
        if self._settings.annotate and self._model != "offline":
            with suppress(ModelError, NotUnderstood):  # each turn goes on with what is left, and says so
                describe_all(agent.resources, self._settings)
        return agent


def _linked(agent: SQLAgent, question: str, history: tuple[PastTurn, ...]) -> tuple[tuple[str, str | None, float], ...]:
    """What the linker makes of a turn."""
    resources, settings = agent.resources, agent.resources.settings
    values = resources.tools.find_values.call(text=question, limit=max(settings.values, 10))
    seen = history[-settings.history_window :] if settings.history_window else ()
    linker = resources.schemas.linker(settings.annotate)
    return kept_items(linker.link(question, seen, values, threshold=settings.link_threshold))
