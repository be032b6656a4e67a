"""LangChain's own SQL agent, with its toolkit, prompt and loop, on our read-only database."""

from __future__ import annotations

import sqlite3
import warnings
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from sqlalchemy import Engine, create_engine
from sqlalchemy.exc import DatabaseError
from sqlalchemy.pool import StaticPool

from ...agent import Settings
from ...agent.model import get_model_label, get_reply_usage
from ...agent.records import Usage
from ...prompts.templating import estimate_tokens
from ...tools.database import Database
from ...tools.errors import ModelError, QueryError
from ...tools.linking import PastTurn
from ..datasets import GoldTurn
from ..official.execution import decode_ignoring_errors, open_database_read_only
from ..runner.agents import BaselineReply, TurnByTurnAnswerer

with warnings.catch_warnings():
    # The package says at import that it is no longer developed; it is here as the peer that many people still run.
    warnings.simplefilter("ignore", DeprecationWarning)
    create_sql_agent: Any = import_module("langchain_community.agent_toolkits.sql.base").create_sql_agent
    SQLDatabase: Any = import_module("langchain_community.utilities").SQLDatabase


class LangChainAgent(TurnByTurnAnswerer):
    """LangChain's SQL agent as a baseline, run once per turn; the last query is the answer."""

    def __post_init__(self) -> None:
        try:
            self.model.bind_tools([])
        except NotImplementedError:
            name = get_model_label(self.model)
            raise ModelError(f"the model {name} cannot call tools, which LangChain's SQL agent needs") from None

    async def answer_turn(self, turn: GoldTurn, past: Sequence[PastTurn], database: Database) -> BaselineReply:
        """Answer one turn of a conversation by one run of LangChain's agent."""
        prompt = turn.text
        if past:
            # The agent has no memory: the earlier turns are put before the question.
            earlier = "\n".join(f"Question: {item.question}\nSQL: {item.sql or '(none)'}" for item in past)
            prompt = f"Earlier in this conversation:\n{earlier}\n\nThe question now:\n{prompt}"
        reading = create_engine(
            "sqlite://",
            creator=lambda: _open_read_only_connection(Path(database.location)),
            poolclass=StaticPool,
            isolation_level="AUTOCOMMIT",
        )
        try:
            agent = create_sql_agent(
                self.model,
                db=_GuardedDatabase(reading, database, self.settings),
                agent_type="tool-calling",
                agent_executor_kwargs={"return_intermediate_steps": True},
                stream_runnable=False,  # streamed replies pass the reply cache by
            )
            counter = _UsageCounter()
            reply = await agent.ainvoke({"input": prompt}, {"callbacks": [counter]})
        finally:
            reading.dispose()
        steps = [action for action, _ in cast("Sequence[tuple[Any, object]]", reply["intermediate_steps"])]
        inputs = [action.tool_input for action in steps if action.tool == "sql_db_query"]
        texts = [str(item.get("query", "") if isinstance(item, Mapping) else item) for item in inputs]
        return BaselineReply(texts[-1] if texts else "", counter.usage, text=str(reply["output"]), queries=tuple(texts))


def _open_read_only_connection(path: Path) -> sqlite3.Connection:
    connection = open_database_read_only(path)
    connection.text_factory = decode_ignoring_errors
    return connection


class _GuardedDatabase(SQLDatabase):
    """LangChain's database wrapper, with queries run through the read-only guard."""

    def __init__(self, reading: Engine, database: Database, settings: Settings) -> None:
        self._guard, self._limits = database, settings.limits
        super().__init__(reading)

    def _execute(self, command: Any, fetch: Any = "all", **_: Any) -> list[dict[str, Any]]:
        try:
            table = self._guard.execute(str(command), self._limits)
        except QueryError as error:
            # What the toolkit shows the model and goes on from.
            raise DatabaseError(str(command), None, error) from error
        rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
        return rows[:1] if fetch == "one" else rows


class _UsageCounter(BaseCallbackHandler):
    """A counter of model calls and tokens, including those of the query checker."""

    raise_error = True

    def __init__(self) -> None:
        self.usage = Usage()
        self._prompts: dict[UUID, int] = {}

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **_: Any
    ) -> None:
        """Estimate the prompt tokens, for models that do not report token usage."""
        self._prompts[run_id] = sum(estimate_tokens(str(message.content)) for batch in messages for message in batch)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Add the token usage of a reply."""
        prompt = self._prompts.pop(run_id, 0)
        for generation in (item for batch in response.generations for item in batch):
            if isinstance(generation, ChatGeneration) and isinstance(generation.message, AIMessage):
                self.usage += get_reply_usage(generation.message, prompt)
