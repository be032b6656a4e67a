"""Answerers: the agent per database or a baseline, with cached, watched or replayed models."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatResult, Generation, LLMResult
from langgraph.checkpoint.memory import InMemorySaver
from rapidfuzz import fuzz

from ...agent import Answer, Conversation, Settings, SQLAgent, TableturnError
from ...agent.context import describe_whole_schema
from ...agent.effects import QUERY_NUMBER
from ...agent.model import explain_model_failure, get_model_label, resolve_model
from ...agent.records import PlainResult, Usage, make_plain_result
from ...tools.database import Database, Schema
from ...tools.errors import ModelError, NotUnderstood, QueryError, SettingsError
from ...tools.examples import open_existing
from ...tools.linking import PastTurn
from ...tools.sql import Query, explain
from ..datasets import Dataset, GoldTurn, read_predictions
from .record import NOT_ASKED, REPLAY, SHOWN_ROWS, History, RunSpec, TurnRecord, make_failure_record

CACHE_FILE = "replies.sqlite"  # the file in a run's folder that keeps every reply

_question: ContextVar[GoldTurn] = ContextVar("question")
"""The question that the current turn is about; each of several tries at it keeps its own replies."""


class ReplyCache(BaseCache):
    """A thread-safe cache of chat replies by prompt and model, in a file."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS reply (prompt TEXT, model TEXT, messages TEXT, PRIMARY KEY (prompt, model))"
            )
        except sqlite3.Error as error:
            raise SettingsError(f"{path} cannot keep replies: {error}") from error

    def _execute_sql(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return the stored replies to a prompt, or None."""
        rows = self._execute_sql(
            "SELECT messages FROM reply WHERE prompt = ? AND model = ?", *_make_cache_key(prompt, llm_string)
        )
        return [ChatGeneration(message=item) for item in messages_from_dict(json.loads(rows[0][0]))] if rows else None

    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        """Store a chat model's replies to a prompt."""
        messages = [message_to_dict(reply.message) for reply in return_val if isinstance(reply, ChatGeneration)]
        sql = "INSERT OR REPLACE INTO reply VALUES (?, ?, ?)"
        self._execute_sql(sql, *_make_cache_key(prompt, llm_string), json.dumps(messages))

    def clear(self, **kwargs: Any) -> None:
        """Delete all replies."""
        self._execute_sql("DELETE FROM reply")

    def size(self) -> int:
        """Return the number of stored replies."""
        return self._execute_sql("SELECT count(*) FROM reply")[0][0]

    def close(self) -> None:
        """Close the cache file."""
        self._connection.close()


def _make_cache_key(prompt: str, llm_string: str) -> tuple[str, str]:
    """Return a reply's cache key: the prompt, and the model with the number of the try."""
    messages: list[dict[str, Any]] = json.loads(prompt)
    for message in messages:
        # A message that comes from the cache carries another cost than a new one.
        for name in ("id", "response_metadata", "usage_metadata"):
            message.get("kwargs", {}).pop(name, None)
    question = _question.get(None)
    attempt = f" (try {question.repeat})" if question and question.repeat else ""
    return json.dumps(messages), llm_string + attempt


@dataclass
class _TurnRequests:
    """The model requests of one turn: pending ones, and an error if the model failed."""

    error: str = ""  # why the model could not be asked, in one line; empty if it could
    pending: set[UUID] = field(default_factory=set[UUID])  # those without a reply so far


_requests: ContextVar[_TurnRequests] = ContextVar("requests")


async def watch_turn(turn: GoldTurn, pending_record: Awaitable[TurnRecord]) -> TurnRecord:
    """Await a turn's record: not asked if the model is unreachable, wrong after other errors."""
    _question.set(turn)
    requests = _TurnRequests()
    token = _requests.set(requests)
    try:
        record = await pending_record
    except Exception as error:  # noqa: BLE001 - a crash is a wrong answer, and the other questions still count
        record = make_failure_record(turn, error)
    finally:
        _requests.reset(token)
    why = requests.error
    if requests.pending and not record.sql:
        # A request that the turn broke off counts only if it came to nothing.
        why = why or "a request to the model was interrupted before its reply arrived: try again, or allow more time"
    return TurnRecord(turn.id, "", NOT_ASKED, text=why) if why else record


class RequestWatcher(BaseCallbackHandler):
    """A callback that records pending and failed requests of the current turn to one model.

    It ignores errors that the translator recovers from, the prompt's own, and those of a replay without a prediction.
    """

    run_inline = True

    def __init__(self, label: str) -> None:
        self._label = label

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **_: Any
    ) -> None:
        """Record a request as pending."""
        if requests := _requests.get(None):
            requests.pending.add(run_id)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Record a reply; a reply without a message counts as an error."""
        if requests := _requests.get(None):
            requests.pending.discard(run_id)
            if not any(response.generations):
                requests.error = f"model {self._label} sent a reply without a message: check the server"

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Record why a request failed."""
        requests = _requests.get(None)
        if requests is None or not isinstance(error, Exception):
            return
        requests.pending.discard(run_id)
        requests.error = explain_model_failure(self._label, error) or requests.error


REPLAY_SETTINGS = {
    "rephrase": "never",
    "effort": "low",
    "simplify": False,
    "annotate": False,
    "reason": "off",
    "feedback_explanation": False,
    "examples": "none",
    "candidate_reasoning": False,
}
"""A recorded query answers requests for SQL; for everything else there is nothing to replay."""


class ReplayModel(BaseChatModel):
    """A model that replies with recorded SQL: file N has the reply for a turn's Nth query.

    So the files play drafts that are written side by side, in the order of their numbers whichever is asked for first,
    or a draft and its revisions; the last file goes on for ever. The second try for a reply that could not be used gets
    the same file's reply again: such a draft is lost, and no other file's takes its place. A baseline has one query.
    """

    files: Sequence[Mapping[str, str]]  # of each, SQL by question id

    @property
    def _llm_type(self) -> str:
        return "replay"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        question = _question.get().id
        number: int = ((run_manager.metadata if run_manager else None) or {}).get(QUERY_NUMBER, 0)
        predictions = self.files[min(number, len(self.files) - 1)]
        if question not in predictions:
            raise ModelError(f"the replayed files have no prediction for question {question}")
        message = AIMessage(f"```sql\n{predictions[question]}\n```")
        return ChatResult(generations=[ChatGeneration(message=message)])


def make_replay_model(spec: RunSpec, dataset: Dataset) -> ReplayModel:
    """Return the model that replays the prediction files named in the run's model."""
    files = str(spec.model).removeprefix(REPLAY).split(",")
    if not all(map(str.strip, files)):
        raise SettingsError(f"model {spec.model!r} does not name a file: write {REPLAY}FILE or {REPLAY}FILE,FILE")
    selection = dataset.without(spec.without).head(spec.limit)
    return ReplayModel(files=[read_predictions(Path(file), dataset, selection) for file in files])


def open_model(name: str | None, base_url: str | None, settings: Settings, cache: BaseCache) -> BaseChatModel | None:
    """Return a chat model with cached replies, or None for the built-in translator."""
    model = resolve_model(
        name, base_url=base_url, timeout=settings.request_seconds, max_retries=settings.request_retries
    )
    if model is None:
        return None
    callbacks = model.callbacks
    handlers = callbacks.handlers if isinstance(callbacks, BaseCallbackManager) else callbacks or ()
    return model.model_copy(update={"cache": cache, "callbacks": [*handlers, RequestWatcher(get_model_label(model))]})


_MAX_AGENTS = 4
_LINKED_FROM = 0.1  # Track-SQL's threshold for what is shown (2.2)


@dataclass
class AgentAnswerer:
    """An answerer with one agent per database."""

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
        self._agents: dict[str, SQLAgent] = {}
        self._in_use: Counter[str] = Counter()
        self._checkpoints = InMemorySaver()

    def close(self) -> None:
        """Close the agents and the example store."""
        for resource in filter(None, (*self._agents.values(), self._store)):
            resource.close()

    async def answer(self, turns: Sequence[GoldTurn], records: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """Yield the records of the turns that are not in `records`."""
        to_do = [turn for turn in turns if turn.id not in records]
        if self.history == "gold":
            for turn in to_do:
                try:
                    with self._open_conversation(turn.database) as (agent, conversation):
                        await _fill_history_with_gold(agent, conversation, turns[: turns.index(turn)])
                        record = await watch_turn(turn, _ask_turn(turn, agent, conversation))
                except TableturnError as error:
                    record = make_failure_record(turn, error)
                yield record
            return
        try:
            with self._open_conversation(turns[0].database) as (agent, conversation):
                # Turns that were answered before are taken again if a later one builds on them; replies are cached.
                for turn in turns[: turns.index(to_do[-1]) + 1]:
                    record = await watch_turn(turn, _ask_turn(turn, agent, conversation))
                    if not record.was_asked:
                        yield replace(record, id=to_do[0].id)
                        return
                    if turn.id not in records:
                        to_do.remove(turn)
                        yield record
        except TableturnError as error:
            for turn in to_do:
                yield make_failure_record(turn, error)

    @contextmanager
    def _open_conversation(self, database: str) -> Generator[tuple[SQLAgent, Conversation]]:
        """Yield the agent for a database and a new conversation, which is deleted at the end."""
        # The last in the order is the last that was used.
        agent = self._agents[database] = self._agents.pop(database, None) or self._open_agent(database)
        conversation = agent.conversation(uuid.uuid4().hex)
        self._in_use[database] += 1
        try:
            yield agent, conversation
        finally:
            self._in_use[database] -= 1
            self._checkpoints.delete_thread(conversation.thread)

    def _open_agent(self, database: str) -> SQLAgent:
        idle = [name for name in self._agents if not self._in_use[name]]
        if len(self._agents) >= _MAX_AGENTS and idle:
            self._agents.pop(idle[0]).close()
        agent = SQLAgent(
            self.dataset.locate(database),
            model=self.model,
            settings=self.settings,
            examples=self._store,
            checkpointer=self._checkpoints,
            annotator=self.annotator,
        )
        agent.resources.schemas.folder = self.annotations
        if self.settings.annotate and (self.annotator or self.model) != "offline":
            with suppress(ModelError, NotUnderstood):  # each turn goes on with what is left, and says so
                describe_whole_schema(agent.resources, self.settings)
        return agent


async def _ask_turn(turn: GoldTurn, agent: SQLAgent, conversation: Conversation) -> TurnRecord:
    """Ask a question, reply if the agent asks back, and return the record."""
    start = time.perf_counter()
    answer = await conversation.aask(turn.text, notes=turn.evidence)
    question_back = answer.text if answer.status == "needs_clarification" else ""
    if question_back and (reply := choose_reply(turn, answer, agent.resources.database.schema())):
        answer = await conversation.aask(reply)
    seconds = time.perf_counter() - start
    state = await agent.graph.aget_state({"configurable": {"thread_id": conversation.thread}})
    items = state.values.get("turn", {}).get("items", ())
    names = ("status", "rephrased", "text", "confidence", "columns", "row_count", "notes")
    return TurnRecord(
        turn.id,
        answer.sql or "",
        **{name: getattr(answer, name) for name in names},
        rows=answer.rows[:SHOWN_ROWS],
        attempts=tuple(asdict(attempt) for attempt in answer.attempts),
        usage=asdict(answer.usage),
        usage_by_node={node: asdict(usage) for node, usage in answer.usage_by_node.items()},
        seconds=round(seconds, 4),
        linked=tuple((table, column, round(p, 3)) for table, column, p in items if p >= _LINKED_FROM),
        asked_back=question_back,
        evidence=answer.record.evidence,
    )


async def _fill_history_with_gold(agent: SQLAgent, conversation: Conversation, turns: Sequence[GoldTurn]) -> None:
    """Fill a conversation's history with turns answered by their gold SQL."""
    resources, settings = agent.resources, agent.resources.settings
    past: list[PastTurn] = []

    def add_past_turn(question: str, gold: str) -> None:
        # How relevant a turn's SQL is depends on what the linker makes of it (Track-SQL equation 8).
        values = resources.tools.find_values.call(text=question, limit=max(settings.values, 10))
        history = past[-settings.history_window :] if settings.history_window else ()
        linker = resources.schemas.read(settings.annotate).linker
        items = linker.link(question, history, values, threshold=settings.link_threshold).to_state()
        past.append(PastTurn(question=question, rephrased=question, sql=gold, items=items))

    for turn in turns:
        if turn.golds:
            await asyncio.to_thread(add_past_turn, turn.text, turn.golds[0])
    if past:
        config: Any = {"configurable": {"thread_id": conversation.thread}}
        await agent.graph.aupdate_state(config, {"turns": [asdict(item) for item in past]}, as_node="respond")


def choose_reply(turn: GoldTurn, answer: Answer, schema: Schema) -> str:
    """Return a reply to the agent's question: the choice nearest to the intended meaning."""
    meaning = turn.expects.meant if turn.expects else ""
    if not meaning and turn.expected_outcome == "ask_back" and turn.golds:
        # The gold says what is meant, in plain words.
        meaning = explain(Query.of(turn.golds[0], schema.dialect, schema))
    if not meaning or not answer.choices:
        return meaning
    return max(answer.choices, key=lambda choice: fuzz.token_set_ratio(choice.lower(), meaning.lower()))


@dataclass(frozen=True)
class BaselineReply:
    """A baseline's answer to one turn."""

    sql: str  # empty if it wrote no query
    usage: Usage
    text: str = ""  # the answer in words
    queries: tuple[str, ...] = ()  # queries that it ran on the way, `sql` included; empty if it ran no other
    notes: tuple[str, ...] = ()  # what was left out of a prompt, or repaired


@dataclass
class TurnByTurnAnswerer:
    """An answerer that answers the turns of an interaction one after another."""

    dataset: Dataset
    model: BaseChatModel
    settings: Settings
    history: History

    def __post_init__(self) -> None:
        """Prepare what all turns share."""

    async def answer_turn(self, turn: GoldTurn, past: Sequence[PastTurn], database: Database) -> BaselineReply:
        """Answer one turn, given the turns before it."""
        raise NotImplementedError

    def close(self) -> None:
        """Do nothing: no database stays open."""

    async def answer(self, turns: Sequence[GoldTurn], records: Mapping[str, TurnRecord]) -> AsyncIterator[TurnRecord]:
        """Yield the records of the turns that are not in `records`."""
        past: list[PastTurn] = []
        for turn in turns:
            record = records.get(turn.id)
            if record is None:
                record = await watch_turn(turn, self._answer_and_record_turn(turn, tuple(past)))
                yield record
                if not record.was_asked and self.history == "predicted":
                    return
            past.append(PastTurn(turn.text, sql=turn.golds[0] if self.history == "gold" else record.sql))

    async def _answer_and_record_turn(self, turn: GoldTurn, past: Sequence[PastTurn]) -> TurnRecord:
        # A baseline is told the evidence with the question; agents are given it apart.
        prompt_turn = replace(turn, text=f"{turn.text}\n({turn.evidence})") if turn.evidence else turn
        start = time.perf_counter()
        result, error = PlainResult((), ()), "no query"
        attempts: list[dict[str, object]] = []
        with Database.open(self.dataset.find_file(turn.database)) as database:
            reply = await self.answer_turn(prompt_turn, past, database)
            seconds = round(time.perf_counter() - start, 4)
            for sql in reply.queries or filter(None, (reply.sql,)):
                result, error = PlainResult((), ()), None
                try:
                    result = make_plain_result(database.execute(sql, self.settings.limits))
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
