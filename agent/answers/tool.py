"""The agent as a LangChain tool for other agents."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, Field

from ...tools.database.egress import MaskKind
from ...tools.masking import mask
from ..evidence.feedback import Bounds, result_csv
from ..records import Result
from .answer import Answer
from .basis import basis_lines

ROWS_SHOWN = 20
"""Rows in the tool's text; all of them are in its artifact."""


class Question(BaseModel):
    """The tool's argument."""

    question: str = Field(description="A self-contained question in plain language about what the database holds.")


def answering_tool(
    ask: Callable[[str], Answer],
    aask: Callable[[str], Awaitable[Answer]],
    name: str,
    description: str,
    masks: Collection[MaskKind] = (),
) -> BaseTool:
    """A tool that asks: text for the model, the `Answer` as artifact.

    Args:
        ask: Gives the answer as far as it may leave.
        aask: The same, without blocking.
        name: The tool's.
        description: For the model.
        masks: What is masked in the text.
    """

    def ask_text(question: str) -> tuple[str, Answer]:
        answer = ask(question)
        return mask(answer_text(answer), masks), answer

    async def aask_text(question: str) -> tuple[str, Answer]:
        answer = await aask(question)
        return mask(answer_text(answer), masks), answer

    return StructuredTool.from_function(
        func=ask_text,
        coroutine=aask_text,
        name=name,
        description=description,
        args_schema=Question,
        response_format="content_and_artifact",
    )


def answer_text(answer: Answer) -> str:
    """An answer for a model to read: the words, the SQL and its meaning, the first rows."""
    if not answer.answered:
        choices = "".join(f"\n- {choice}" for choice in answer.choices)
        return f"{answer.status}: {answer.text}{choices}"
    rows = result_csv(Result(answer.columns, answer.rows, answer.truncated), Bounds(rows=ROWS_SHOWN))
    meaning = f"\nMeaning: {answer.explanation}" if answer.explanation else ""
    basis = "".join(f"\n{line}" for line in basis_lines(answer))
    label = "\nRead offline, by a grammar and not by a model." if answer.translator == "offline" else ""
    sure = "".join(f"\n{said[0].upper()}{said[1:]}." for said in (answer.certainty, answer.trust) if said)
    return f"{answer.text}\nSQL: {answer.sql}{meaning}{basis}\n{rows}{sure}{label}"
