"""Who answers: the agent, one per database, of which the last few used stay open; and what baselines share."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langgraph.checkpoint.memory import InMemorySaver
from rapidfuzz import fuzz

from ...agent import Answer, Conversation, Settings, SQLAgent, TableturnError
from ...agent.context.annotate import describe_all
from ...agent.nodes.link import kept_items
from ...agent.records import Result, Usage, plain_result
from ...tools.database import Database, Schema
from ...tools.errors import ModelError, NotUnderstood, QueryError
from ...tools.examples import open_existing
from ...tools.linking import PastTurn
from ...tools.sql import explain
from ..datasets import Dataset, Question
from .model import watch_turn
from .record import SHOWN_ROWS, History, TurnRecord, failed

_KEPT_OPEN = 4
_LINKED_FROM = 0.1
"""Track-SQL's threshold for what is shown (2.2)."""


@dataclass
class AgentAnswering:
    """Answers with an agent per database, as `Answering` asks for."""

    dataset: Dataset
    model: BaseChatModel | str
    settings: Settings
    history: History
    examples: str | None = None  # a store, opened once for all agents; None for the built-in examples
    embedding: str = "hashed"
    annotator: BaseChatModel | str | None = None  # describes schemas; None for `model`
    annotations: Path | None = None  # the cache folder of its descriptions; None for the user's own

    def __post_init__(self) -> None:
        self._store = open_existing(self.examples, self.embedding) if self.examples else None
        self._open: dict[str, SQLAgent] = {}
        self._in_use: Counter[str] = Counter()
        self._checkpoints = InMemorySaver()

    def close(self) -> None:
        """Close the agents and the example store."""
        for opened in (*self._open.values(), self._store):
            if opened is not None:
                opened.close()

    async def answers(self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """Yield the records that are missing, as `Answering` says."""
        to_do = [turn for turn in turns if turn.id not in recorded]
        if self.history == "gold":
            for turn in to_do:
                try:
                    with self._conversation(turn.database) as (agent, conversation):
                        await _remember_gold(agent, conversation, turns[: turns.index(turn)])
                        record = await watch_turn(turn, _take(turn, agent, conversation))
                except TableturnError as error:
                    record = failed(turn, error)
                yield record
            return
        try:
            with self._conversation(turns[0].database) as (agent, conversation):
                # Turns that were answered before are taken again if a later one builds on them; replies are cached.
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
        """Yield a database's agent and a new conversation, which is forgotten at its end: memory stays flat."""
        # The last in the order is the last that was used.
        agent = self._open[database] = self._open.pop(database, None) or self._open_agent(database)
        conversation = agent.conversation(uuid.uuid4().hex)
        self._in_use[database] += 1
        try:
            yield agent, conversation
        finally:
            self._in_use[database] -= 1
            self._checkpoints.delete_thread(conversation.thread)

    def _open_agent(self, database: str) -> SQLAgent:
        idle = [name for name in self._open if not self._in_use[name]]
        if len(self._open) >= _KEPT_OPEN and idle:
            self._open.pop(idle[0]).close()
        agent = SQLAgent(
            self.dataset.place(database),
            model=self.model,
            settings=self.settings,
            examples=self._store,
            checkpointer=self._checkpoints,
            annotator=self.annotator,
        )
        agent.resources.schemas.folder = self.annotations
        if self.settings.annotate and (self.annotator or self.model) != "offline":
            with suppress(ModelError, NotUnderstood):  # each turn goes on with what is left, and says so
                describe_all(agent.resources, self.settings)
        return agent


async def _take(turn: Question, agent: SQLAgent, conversation: Conversation) -> TurnRecord:
    """Ask a question, reply if the agent asks back, and return what is kept of the answer."""
    start = time.perf_counter()
    answer = await conversation.aask(turn.text, notes=turn.evidence)
    asked_back = answer.text if answer.status == "needs_clarification" else ""
    if asked_back and (reply := told(turn, answer, agent.resources.database.schema())):
        answer = await conversation.aask(reply)
    seconds = time.perf_counter() - start
    state = await agent.graph.aget_state(_config(conversation))
    linked = state.values.get("turn", {}).get("items", ())
    as_they_are = ("status", "rephrased", "text", "confidence", "columns", "row_count", "notes")
    return TurnRecord(
        turn.id,
        answer.sql or "",
        **{name: getattr(answer, name) for name in as_they_are},
        rows=answer.rows[:SHOWN_ROWS],
        attempts=tuple(asdict(attempt) for attempt in answer.attempts),
        usage=asdict(answer.usage),
        usage_by_node={node: asdict(usage) for node, usage in answer.usage_by_node.items()},
        seconds=round(seconds, 4),
        linked=tuple((table, column, round(p, 3)) for table, column, p in linked if p >= _LINKED_FROM),
        asked_back=asked_back,
        evidence=answer.record.evidence,
    )


async def _remember_gold(agent: SQLAgent, conversation: Conversation, turns: Sequence[Question]) -> None:
    """Make a conversation look as if these turns had been answered by their gold SQL."""
    resources, settings = agent.resources, agent.resources.settings
    past: list[PastTurn] = []

    def add(question: str, gold: str) -> None:
        # How relevant a turn's SQL is depends on what the linker makes of it (Track-SQL equation 8).
        values = resources.tools.find_values.call(text=question, limit=max(settings.values, 10))
        seen = past[-settings.history_window :] if settings.history_window else ()
        linker = resources.schemas.linker(settings.annotate)
        items = kept_items(linker.link(question, seen, values, threshold=settings.link_threshold))
        past.append(PastTurn(question=question, rephrased=question, sql=gold, items=items))

    for turn in turns:
        if turn.golds:
            await asyncio.to_thread(add, turn.text, turn.golds[0])
    if past:
        remembered = {"turns": [asdict(one) for one in past]}
        await agent.graph.aupdate_state(_config(conversation), remembered, as_node="respond")


def _config(conversation: Conversation) -> Any:
    return {"configurable": {"thread_id": conversation.thread}}


def told(turn: Question, answer: Answer, schema: Schema) -> str:
    """Return the reply to a question asked back: the choice nearest to what the asker means, else that in their words.

    Empty if the person has nothing to say.
    """
    meant = turn.expects.meant if turn.expects else ""
    if not meant and turn.wanted == "ask_back" and turn.golds:
        # The gold says what is meant, in plain words.
        meant = explain(turn.golds[0], schema)
    if not meant or not answer.choices:
        return meant
    return max(answer.choices, key=lambda choice: fuzz.token_set_ratio(choice.lower(), meant.lower()))


@dataclass(frozen=True)
class TurnReply:
    """A baseline's answer to one turn."""

    sql: str  # empty if it wrote no query
    usage: Usage
    text: str = ""  # the answer in words
    tried: tuple[str, ...] = ()  # queries that it ran on the way, `sql` included; empty if it ran no other
    notes: tuple[str, ...] = ()  # what was left out of a prompt, or repaired


@dataclass
class TurnByTurn:
    """Answers an interaction's turns one after the other, as `Answering` asks for."""

    dataset: Dataset
    model: BaseChatModel
    settings: Settings
    history: History

    def __post_init__(self) -> None:
        """Prepare what all turns share."""

    async def take(self, turn: Question, past: Sequence[PastTurn], database: Database) -> TurnReply:
        """Answer one turn, given the turns before it."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing: no database stays open."""

    async def answers(self, turns: Sequence[Question], recorded: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """Yield the records that are missing, as `Answering` says."""
        past: list[PastTurn] = []
        for turn in turns:
            record = recorded.get(turn.id)
            if record is None:
                record = await watch_turn(turn, self._record(turn, tuple(past)))
                yield record
                if not record.asked and self.history == "predicted":
                    return
            past.append(PastTurn(turn.text, sql=turn.golds[0] if self.history == "gold" else record.sql))

    async def _record(self, turn: Question, past: Sequence[PastTurn]) -> TurnRecord:
        # A baseline is told the evidence with the question; agents are given it apart.
        asked = replace(turn, text=f"{turn.text}\n({turn.evidence})") if turn.evidence else turn
        start = time.perf_counter()
        result, error = Result((), ()), "no query"
        attempts: list[dict[str, object]] = []
        with Database.open(self.dataset.database(turn.database)) as database:
            reply = await self.take(asked, past, database)
            seconds = round(time.perf_counter() - start, 4)
            for sql in reply.tried or filter(None, (reply.sql,)):
                result, error = Result((), ()), None
                try:
                    result = plain_result(database.execute(sql, self.settings.limits))
                except QueryError as failure:
                    error = str(failure)
                count = None if error else result.row_count
                attempts.append({"sql": sql, "error": error, "row_count": count, "feedback": ""})
        return TurnRecord(
            turn.id,
            reply.sql,
            "failed" if error else "converged",
            text=reply.text,
            columns=result.columns,
            rows=result.rows[:SHOWN_ROWS],
            row_count=result.row_count,
            attempts=tuple(attempts),
            usage=asdict(replace(reply.usage, seconds=seconds)),
            notes=reply.notes,
            seconds=seconds,
        )
