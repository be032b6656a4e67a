"""The agent as the one who answers: one for each database, of which the last few used stay open."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
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
from .model import watch_turn
from .record import TurnRecord, failed, record_answer
from .spec import History

_KEPT_OPEN = 4


class AgentAnswering:
    """Answers with an agent for each database.

    Args:
        dataset: Says where the databases are.
        model: What each agent is given.
        settings: Likewise.
        history: What a turn sees of the turns before it.
        examples: An example store, opened once for all of them; None for the built-in examples.
        embedding: Of that store.
        annotator: The model that describes schemas; None for `model`.
        annotations: The cache folder of its descriptions; None for the user's own.

    Raises:
        ExampleStoreError: The store is not there, or was made with another embedding.
    """

    def __init__(
        self,
        dataset: Dataset,
        model: BaseChatModel | str,
        settings: Settings,
        history: History,
        examples: str | None = None,
        embedding: str = "hashed",
        annotator: BaseChatModel | str | None = None,
        annotations: Path | None = None,
    ) -> None:
        self._dataset = dataset
        self._model = model
        self._settings = settings
        self._annotator = annotator
        self._annotations = annotations
        self._history: History = history
        self._examples = open_existing(examples, embedding) if examples else None
        self._open: OrderedDict[str, SQLAgent] = OrderedDict()
        self._in_use: Counter[str] = Counter()
        self._checkpoints = InMemorySaver()

    def answers(self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """See `Answering`."""
        answer = self._answer_after_gold if self._history == "gold" else self._answer_after_own
        return answer(turns, recorded)

    def close(self) -> None:
        """See `Answering`."""
        for agent in self._open.values():
            agent.close()
        self._open.clear()
        if self._examples is not None:
            self._examples.close()

    async def _answer_after_gold(
        self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]
    ) -> AsyncIterator[TurnRecord]:
        """Yield each turn's record, of a conversation of its own that starts with the gold SQL of those before it."""
        for place, turn in enumerate(turns):
            if turn.id in recorded:
                continue
            try:
                with self._conversation(turn.database) as (agent, conversation):
                    await _remember(agent, conversation, turns[:place])
                    record = await watch_turn(turn, _take(turn, agent, conversation))
            except TableturnError as error:
                record = failed(turn, error)
            yield record

    async def _answer_after_own(
        self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]
    ) -> AsyncIterator[TurnRecord]:
        """Yield the records of all turns in one conversation.

        Turns that were answered before are taken again where a later one builds on them; their replies are cached.
        """
        to_do = [turn for turn in turns if turn.id not in recorded]
        if not to_do:
            return
        try:
            with self._conversation(turns[0].database) as (agent, conversation):
                for turn in turns[: turns.index(to_do[-1]) + 1]:
                    record = await watch_turn(turn, _take(turn, agent, conversation))
                    if not record.asked:
                        yield replace(record, id=to_do[0].id)
                        return
                    if turn.id not in recorded:
                        to_do.remove(turn)
                        yield record
        except TableturnError as error:
            for turn in to_do:
                yield failed(turn, error)

    @contextmanager
    def _conversation(self, database: str) -> Generator[tuple[SQLAgent, Conversation]]:
        """Yield a database's agent and a conversation, forgotten at its end: memory stays flat.

        Raises:
            DatabaseUnavailable: The database is missing or cannot be used.
        """
        agent = self._agent(database)
        conversation = agent.conversation(uuid.uuid4().hex)
        self._in_use[database] += 1
        try:
            yield agent, conversation
        finally:
            self._in_use[database] -= 1
            self._checkpoints.delete_thread(conversation.thread)

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
            annotator=self._annotator,
        )
        agent.resources.schemas.folder = self._annotations
        if self._settings.annotate and (self._annotator or self._model) != "offline":
            with suppress(ModelError, NotUnderstood):  # each turn goes on with what is left, and says so
                describe_all(agent.resources, self._settings)
        return agent


async def _take(turn: Question, agent: SQLAgent, conversation: Conversation) -> TurnRecord:
    start = time.perf_counter()
    answer = await conversation.aask(turn.text, notes=turn.evidence)
    asked_back = answer.text if answer.status == "needs_clarification" else ""
    if asked_back and (reply := told(turn, answer, agent.resources.database.schema())):
        answer = await conversation.aask(reply)
    seconds = time.perf_counter() - start
    state = await agent.graph.aget_state(_config(conversation))
    return record_answer(turn.id, answer, state.values.get("turn", {}).get("items", ()), seconds, asked_back)


async def _remember(agent: SQLAgent, conversation: Conversation, turns: Sequence[Question]) -> None:
    """Make a conversation look as if these turns had been answered by their gold SQL.

    What the linker makes of each is kept too: how relevant a turn's SQL is depends on it (Track-SQL equation 8).
    """
    past: list[PastTurn] = []
    for turn in turns:
        if turn.golds:
            asked = PastTurn(question=turn.text, rephrased=turn.text, sql=turn.golds[0])
            past.append(replace(asked, items=await asyncio.to_thread(_link, agent, turn.text, tuple(past))))
    if past:
        told = {"turns": [asdict(one) for one in past]}
        await agent.graph.aupdate_state(_config(conversation), told, as_node="respond")


def _config(conversation: Conversation) -> Any:
    return {"configurable": {"thread_id": conversation.thread}}


def _link(agent: SQLAgent, question: str, history: tuple[PastTurn, ...]) -> tuple[tuple[str, str | None, float], ...]:
    """Return what the linker makes of a turn."""
    resources, settings = agent.resources, agent.resources.settings
    values = resources.tools.find_values.call(text=question, limit=max(settings.values, 10))
    seen = history[-settings.history_window :] if settings.history_window else ()
    linker = resources.schemas.linker(settings.annotate)
    return kept_items(linker.link(question, seen, values, threshold=settings.link_threshold))


def told(turn: Question, answer: Answer, schema: Schema) -> str:
    """Return the reply to what was asked back: the choice nearest to what the asker means, else that in their words.

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
