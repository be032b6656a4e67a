"""The agent as a library: ask one question, hold a conversation, or hand the graph or a tool to something larger."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from langchain_core.messages import HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.types import Command, StateSnapshot

from ..tools.errors import TableturnError
from .answer import Answer, waiting
from .events import STREAM_MODES, Event, read_events
from .graph import AgentGraph, build_graph
from .learning import Saved, save_answer
from .opening import open_resources
from .records import AnswerRecord, load
from .settings import Settings, make_settings
from .state import AgentState

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langchain_core.tools import BaseTool

    from ..tools.database import Database
    from ..tools.examples import ExampleStore
    from ..tools.sandbox import SandboxLimits

INTERRUPT = "__interrupt__"
"""Where LangGraph reports interrupts among the output's values."""

STATE_KEYS = list(AgentState.__annotations__)
"""Everything that streamed node updates may show."""

RunSettings = Settings | Mapping[str, Any] | None
"""Fields that override the agent's settings for one run."""


Said = str | Mapping[str, Any]
"""What a person says: a question, the reply to what was asked back, or a decision on a query (`agent/approval.py`)."""


class SQLAgent:
    """Answers questions about one database.

    Args:
        database: A path, an SQLAlchemy-style URL, or an open `Database`.
        model: A LangChain chat model, a name such as `openai:gpt-5-mini`, `offline`, or None to choose by the
            environment (`TABLETURN_MODEL`, then an OpenAI key or base URL, else the offline translator).
        settings: `Settings`, or a mapping of the fields to change.
        preset: A paper's configuration by name, under `settings`.
        examples: An `ExampleStore`, where one is (a folder, a server's URL), or None for the built-in examples.
        embedding: Of a store given by its place: `hashed`, `chroma` or `openai:MODEL`.
        checkpointer: Any LangGraph checkpointer; None keeps conversations in memory.
        base_url: Base URL of an OpenAI-compatible server, for models given by name.
        sandbox: Limits of pandas code and how strong the boundary around it must be; None for the defaults
            and the boundary that `TABLETURN_SANDBOX` names.

    Raises:
        DatabaseUnavailable: The database cannot be used.
        ModelError: The model is unknown or cannot be set up.
        SettingsError: A setting or preset is wrong.
    """

    def __init__(
        self,
        database: str | Path | Database,
        *,
        model: str | BaseChatModel | None = None,
        settings: RunSettings = None,
        preset: str | None = None,
        examples: ExampleStore | str | Path | None = None,
        embedding: str = "hashed",
        checkpointer: BaseCheckpointSaver[Any] | None = None,
        base_url: str | None = None,
        sandbox: SandboxLimits | None = None,
    ) -> None:
        self._opened = open_resources(
            database,
            model=model,
            settings=make_settings(settings, preset=preset),
            examples=examples,
            embedding=embedding,
            base_url=base_url,
            sandbox=sandbox,
        )
        self._checkpointer: BaseCheckpointSaver[Any] = InMemorySaver() if checkpointer is None else checkpointer
        self.resources = self._opened.resources
        self.settings = self.resources.settings
        self.graph: AgentGraph = build_graph(self.resources, self._checkpointer)

    def ask(self, question: str, *, settings: RunSettings = None) -> Answer:
        """Answers one question on its own.

        An ambiguous question comes back with status `needs_clarification`; in a `conversation` it can be answered.
        """
        conversation = self.conversation()
        try:
            answer = conversation.ask(question, settings=settings)
        finally:
            self._checkpointer.delete_thread(conversation.thread)
        answer.thread = ""
        return answer

    async def aask(self, question: str, *, settings: RunSettings = None) -> Answer:
        """As `ask`, without blocking."""
        conversation = self.conversation()
        try:
            answer = await conversation.aask(question, settings=settings)
        finally:
            await self._checkpointer.adelete_thread(conversation.thread)
        answer.thread = ""
        return answer

    def conversation(self, thread: str | None = None) -> Conversation:
        """A conversation: a new one, or the one that the checkpointer holds under `thread`."""
        return Conversation(self, thread or uuid.uuid4().hex)

    def approve(self, answer: Answer, *, question: str = "", shared: bool = False) -> Saved:
        """Saves an answer that a person found right as an example of this agent's database.

        It is shown when a similar question is asked of the same database, and of no other unless it is shared. Saving
        it again changes nothing; another answer to the very same question takes the place of the earlier one.

        Args:
            answer: Of this agent, or of another on the same database.
            question: What to keep as the question; the answer's self-contained form if empty.
            shared: Show it for questions to other databases too: its question and SQL, with the values in them.

        Raises:
            ExampleRefused: It has no SQL that ran, its question does not stand alone, or it is of another database.
            SettingsError: The agent was given no store.
            ExampleStoreError: The store cannot be opened or written.
        """
        return save_answer(answer.record, self.resources, self.settings, question=question, shared=shared)

    async def aapprove(self, answer: Answer, *, question: str = "", shared: bool = False) -> Saved:
        """As `approve`, without blocking."""
        return await asyncio.to_thread(self.approve, answer, question=question, shared=shared)

    def as_tool(self, name: str = "ask_database", description: str | None = None) -> BaseTool:
        """A LangChain tool that answers a question in words and rows; its artifact is the `Answer`."""
        from .tool import answering_tool

        described = (
            f"Answers a question from the database {self.resources.database.name!r}. Read-only. "
            "Returns the answer, the SQL that was run, and its first rows."
        )
        return answering_tool(self.ask, self.aask, name, description or described)

    def close(self) -> None:
        """Closes what the agent opened; a database or store that was passed in stays open."""
        self._opened.close()

    def __enter__(self) -> SQLAgent:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Conversation:
    """Turns on one thread: each question is read in the light of the ones before it.

    Where the last turn asked back, the next words are taken as the reply to that. Where it waits for a query to be
    approved (`Settings.approve`), they are "approve", "approve and save", "reject", another query, or
    `{"action": ..., "sql": ..., "save": ...}`.

    Attributes:
        thread: Its name in the checkpointer.
    """

    def __init__(self, agent: SQLAgent, thread: str) -> None:
        self._agent = agent
        self._graph = agent.graph
        self.thread = thread

    def ask(self, question: Said, *, settings: RunSettings = None) -> Answer:
        """Takes one turn."""
        given = self._input(question, self._graph.get_state(self._config))
        output = self._graph.invoke(given, self._config, context=_context(settings), durability="exit")
        return self._answered(output) or self._asked_back(self._graph.get_state(self._config))

    async def aask(self, question: Said, *, settings: RunSettings = None) -> Answer:
        """As `ask`, without blocking."""
        given = self._input(question, await self._graph.aget_state(self._config))
        output = await self._graph.ainvoke(given, self._config, context=_context(settings), durability="exit")
        return self._answered(output) or self._asked_back(await self._graph.aget_state(self._config))

    def stream(self, question: Said, *, settings: RunSettings = None) -> Iterator[Event]:
        """Takes one turn and yields what happens: progress, each node's update, and last the answer."""
        given = self._input(question, self._graph.get_state(self._config))
        parts: Any = self._graph.stream(
            given,
            self._config,
            context=_context(settings),
            durability="exit",
            stream_mode=STREAM_MODES,
            output_keys=STATE_KEYS,
        )
        output: Any = {}
        for mode, part in parts:
            if mode == "values":
                output = part
            yield from read_events(mode, part)
        answer = self._answered(output) or self._asked_back(self._graph.get_state(self._config))
        yield Event("answer", "respond", {}, answer)

    async def astream(self, question: Said, *, settings: RunSettings = None) -> AsyncIterator[Event]:
        """As `stream`, without blocking."""
        given = self._input(question, await self._graph.aget_state(self._config))
        parts: Any = self._graph.astream(
            given,
            self._config,
            context=_context(settings),
            durability="exit",
            stream_mode=STREAM_MODES,
            output_keys=STATE_KEYS,
        )
        output: Any = {}
        async for mode, part in parts:
            if mode == "values":
                output = part
            for event in read_events(mode, part):
                yield event
        answer = self._answered(output) or self._asked_back(await self._graph.aget_state(self._config))
        yield Event("answer", "respond", {}, answer)

    def last(self) -> Answer | None:
        """The answer of the last turn that came to an end, also of an earlier process; None where there is none."""
        record = self._graph.get_state(self._config).values.get("answer")
        return Answer(load(AnswerRecord, record), self.thread) if record else None

    @property
    def _config(self) -> RunnableConfig:
        return {"configurable": {"thread_id": self.thread}}

    @staticmethod
    def _input(question: object, state: StateSnapshot) -> Any:
        """What the graph is given: a new question, or the reply to what was asked back.

        Raises:
            TableturnError: It is neither words nor fields.
        """
        if not isinstance(question, str | Mapping):
            raise TableturnError(f"a conversation is told words, or the fields of a decision, not {question!r}")
        if state.interrupts:
            return Command(resume=question)
        return {"messages": [HumanMessage(str(question))]}

    def _answered(self, output: Mapping[str, Any]) -> Answer | None:
        """The turn's answer; None where it waits for a person."""
        if output.get(INTERRUPT):
            return None
        return Answer(load(AnswerRecord, output["answer"]), self.thread)

    def _asked_back(self, state: StateSnapshot) -> Answer:
        resources = self._agent.resources
        translator = resources.translator(resources.settings)
        return Answer(waiting(state.values, state.interrupts[0].value, translator), self.thread)


def _context(settings: RunSettings) -> Settings | None:
    return None if settings is None else make_settings(settings)
