"""LangChain's own SQL agent beside ours: requests and prompt tokens of a turn, the same queries played to both."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from typing import Any

from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr
from sqlalchemy.exc import DBAPIError

from ...agent import make_settings
from ...tools.database import Database
from ...tools.linking import PastTurn
from ...tools.sql import used_items
from ..baselines.langchain_agent import LangChainAgent
from ..datasets import Dataset
from .registry import BenchOptions
from .strong import Strong, answered
from .turn_cost import ARM

_CHECKER = "sql_db_query_checker"


class ToolCaller(BaseChatModel):
    """Knows the query, and calls the agent's tools in the order that its prompt asks for, without a detour.

    Attributes:
        checks: Whether the query goes through the checker first, a request of its own, as the prompt and the tools'
            descriptions demand of the model.
    """

    checks: bool
    _sql: str = PrivateAttr(default="")
    _tables: str = PrivateAttr(default="")

    @property
    def _llm_type(self) -> str:
        return "tool-caller"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any) -> ToolCaller:
        """Itself: it knows the tools."""
        return self

    def play(self, sql: str, tables: Sequence[str]) -> None:
        """Sets the query of the turn to come, and the tables whose schema it looks at."""
        self._sql, self._tables = sql, ", ".join(tables)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        done = [message.name for message in messages if isinstance(message, ToolMessage)]
        if len(messages) == 1:  # the checker's own request
            message = AIMessage(self._sql)
        elif len(done) == len(steps := self._steps()):
            message = AIMessage("This is what the query gives.")
        else:
            name, arguments = steps[len(done)]
            message = AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{len(done)}"}])
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _steps(self) -> list[tuple[str, dict[str, str]]]:
        checked = [(_CHECKER, {"query": self._sql})] if self.checks else []
        return [
            ("sql_db_list_tables", {"tool_input": ""}),
            ("sql_db_schema", {"table_names": self._tables}),
            *checked,
            ("sql_db_query", {"query": self._sql}),
        ]


def run(options: BenchOptions) -> dict[str, object]:
    """The strong model's stored queries as replies: to our agent, and to LangChain's by the tools that it calls.

    LangChain's model is played at its best: it looks at the schema of the tables that its query reads and at no other,
    and never tries twice. `langchain` sends the query through the checker, as the prompt demands; `langchain_unchecked`
    does not. Tokens are estimated for both alike, from the texts of messages: the descriptions of tools, which a
    provider counts too, and the arguments of calls are left out. Only turns that all three end are counted;
    `langchain_failed` are those in which the toolkit cannot read the schema.
    """
    strong = Strong.load(options.folder, options.limit)
    drafts = strong.arms[ARM]
    arms = {
        "tableturn": {
            record.id: (record.calls, record.tokens[0]) for record, _ in answered(strong.asked, [drafts], {})
        },
        "langchain": play_turns(strong.asked, drafts, ToolCaller(checks=True)),
        "langchain_unchecked": play_turns(strong.asked, drafts, ToolCaller(checks=False)),
    }
    ended = set[str].intersection(*(set(arm) for arm in arms.values()))
    return {
        "n": len(ended),
        "langchain_failed": len(strong.asked.questions) - len(arms["langchain"]),
        **{name: _figures([cost for question, cost in arm.items() if question in ended]) for name, arm in arms.items()},
    }


def play_turns(asked: Dataset, drafts: Mapping[str, str], model: ToolCaller) -> dict[str, tuple[int, int]]:
    """Requests and prompt tokens of each turn, by its id; without those in which the toolkit fails on the database."""
    agent = LangChainAgent(asked, model, make_settings(), "predicted")
    found: dict[str, tuple[int, int]] = {}
    for _, turns in groupby(asked.questions, lambda question: question.interaction):
        past: list[PastTurn] = []
        for turn in turns:
            sql = drafts[turn.id]
            with Database.open(str(asked.database(turn.database))) as database, suppress(DBAPIError):
                model.play(sql, sorted(used_items(sql, database.schema()).tables))
                usage = asyncio.run(agent.take(turn, past, database)).usage
                found[turn.id] = (usage.llm_calls, usage.prompt_tokens)
            past.append(PastTurn(turn.text, sql=sql))
    return found


def _figures(turns: Sequence[tuple[int, int]]) -> dict[str, float]:
    n = max(len(turns), 1)
    return {
        "calls": round(sum(calls for calls, _ in turns) / n, 3),
        "prompt_tokens": round(sum(tokens for _, tokens in turns) / n),
    }
