"""The agent as the one who answers: one for each database, of which the last few used stay open."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver
from rapidfuzz import fuzz

from ...agent import Answer, Conversation, Settings, SQLAgent, TableturnError
from ...agent.context.annotate import describe_all
from ...agent.nodes.link import kept_items
from ...tools.database import Schema
from ...tools.errors import ModelError, NotUnderstood
from ...tools.examples import open_existing
from ...tools.linking import PastTurn
from ...tools.sql import explain
from ..datasets import Dataset, Question
from ..metrics.redundancy import Linked
from .model import asked_about, repeated, watched
from .record import TurnRecord, failed, not_asked, record_answer
from .spec import History

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


class AgentAnswering:
    """Answers with an agent for each database.

    Args:
        agents: The agents.
        history: What a turn sees of the turns before it.
    """

    def __init__(self, agents: Agents, history: History) -> None:
        self._agents = agents
        self._answers = self._after_gold if history == "gold" else self._after_own

    def answers(self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """See `Answering`."""
        return self._answers(turns, recorded)

    def close(self) -> None:
        """See `Answering`."""
        self._agents.close()

    async def _after_gold(
        self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]
    ) -> AsyncIterator[TurnRecord]:
        """Each turn in a conversation of its own, starting with the gold SQL of the turns before it."""
        for place, turn in enumerate(turns):
            if turn.id in recorded:
                continue
            try:
                with self._agents.conversation(turn.database) as conversation:
                    await self._agents.remember(turn.database, conversation, turns[:place])
                    record = await self._take(turn, conversation)
            except TableturnError as error:
                record = failed(turn, error)
            yield record

    async def _after_own(
        self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]
    ) -> AsyncIterator[TurnRecord]:
        """All turns in one conversation.

        Turns that were answered before are taken again where a later one builds on them; their replies are cached.
        """
        to_do = [turn for turn in turns if turn.id not in recorded]
        if not to_do:
            return
        try:
            with self._agents.conversation(turns[0].database) as conversation:
                for turn in turns[: turns.index(to_do[-1]) + 1]:
                    record = await self._take(turn, conversation)
                    if not record.asked:
                        yield replace(record, id=to_do[0].id)
                        return
                    if turn.id not in recorded:
                        to_do.remove(turn)
                        yield record
        except TableturnError as error:
            for turn in to_do:
                yield failed(turn, error)

    async def _take(self, turn: Question, conversation: Conversation) -> TurnRecord:
        asked_about.set(turn.id)
        repeated.set(turn.repeat or 0)
        start = time.perf_counter()
        with watched() as requests:
            try:
                answer = await conversation.aask(turn.text, notes=turn.evidence)
                asked_back = answer.text if answer.status == "needs_clarification" else ""
                if asked_back and (reply := told(turn, answer, self._agents.schema(turn.database))):
                    answer = await conversation.aask(reply)
                seconds = time.perf_counter() - start
                linked = await self._agents.linked(turn.database, conversation)
                record = record_answer(turn.id, answer, linked, seconds, asked_back)
            except Exception as error:  # noqa: BLE001 - a crash is a wrong answer, and the other questions still count
                record = failed(turn, error)
        why = requests.unanswered(record.sql)
        return not_asked(turn, why) if why else record


def told(turn: Question, answer: Answer, schema: Schema) -> str:
    """The reply to what was asked back: the choice nearest to what the asker means, else that in their words.

    Args:
        turn: Says what its asker means; where asking back is right and it does not, its gold does, in plain words.
        answer: What was asked back, with the choices on offer.
        schema: Of the database that was asked.

    Returns:
        Empty where the person has nothing to say.
    """
    meant = turn.expects.meant if turn.expects else ""
    if not meant and turn.expects is not None and turn.expects.outcome == "ask_back" and turn.golds:
        meant = explain(turn.golds[0], schema)
    if not meant or not answer.choices:
        return meant
    return max(answer.choices, key=lambda choice: fuzz.token_set_ratio(choice.lower(), meant.lower()))
