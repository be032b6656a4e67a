"""The agent as a LangChain tool for other agents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from .answer import Answer

if TYPE_CHECKING:
    from .sqlagent import SQLAgent

ROWS_SHOWN = 20
"""Rows in the tool's text; all of them are in its artifact."""


class Question(BaseModel):
    """The tool's argument."""

    question: str = Field(description="A self-contained question in plain language about what the database holds.")


def answering_tool(agent: SQLAgent, name: str, description: str | None) -> BaseTool:
    """A tool that asks `agent`: text for the model, the `Answer` as artifact."""

    def ask(question: str) -> tuple[str, Answer]:
        answer = agent.ask(question)
        return answer_text(answer), answer

    async def aask(question: str) -> tuple[str, Answer]:
        answer = await agent.aask(question)
        return answer_text(answer), answer

    return StructuredTool.from_function(
        func=ask,
        coroutine=aask,
        name=name,
        description=description
        or f"Answers a question from the database {agent.resources.database.name!r}. Read-only. "
        "Returns the answer, the SQL that was run, and its first rows.",
        args_schema=Question,
        response_format="content_and_artifact",
    )


def answer_text(answer: Answer) -> str:
    """An answer for a model to read: the words, the SQL, the first rows."""
    from .feedback import Bounds, result_csv
    from .records import Result

    if not answer.answered:
        choices = "".join(f"\n- {choice}" for choice in answer.choices)
        return f"{answer.status}: {answer.text}{choices}"
    rows = result_csv(Result(answer.columns, answer.rows, answer.truncated), Bounds(rows=ROWS_SHOWN))
    return f"{answer.text}\nSQL: {answer.sql}\n{rows}"
