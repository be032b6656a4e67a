"""A chat model that says what a test tells it to: stands in for the network only."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import Field
from tableturn.agent.effects import QUERY_NUMBER, TASK

Reply = str | AIMessage | Exception


class ScriptedPrompt(str):
    """A prompt's text, and the request that it is of.

    Attributes:
        messages: Its messages.
        task: Its task, by the request's metadata.
        number: Which of the turn's queries it is for; -1 for none.
        temperature: That of the model, if it has one.
    """

    messages: Sequence[BaseMessage]
    task: str
    number: int
    temperature: float


def task_of(prompt: str) -> str:
    """Which task a prompt is of: `rephrase`, `explain`, or `sql` for all that ask for a query."""
    assert isinstance(prompt, ScriptedPrompt)
    return prompt.task if prompt.task in ("rephrase", "explain") else "sql"


def rephrased(question: str, intent: str = "answerable", **more: Any) -> str:
    """A reply to the rephrasing task."""
    return json.dumps({"rephrased": question, "simplified": question, "intent": intent, **more})


class ScriptedModel(BaseChatModel):
    """Replies by a function of the prompt's text; counts its calls and keeps the prompts."""

    script: Callable[[ScriptedPrompt], Reply]
    prompts: list[ScriptedPrompt] = Field(default_factory=list[ScriptedPrompt])
    delay: float = 0.0
    usage: tuple[int, int] | None = (10, 2)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], *, tool_choice: str | None = None, **kwargs: Any) -> ScriptedModel:
        """Return itself: its script knows the tools."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        metadata = (run_manager.metadata if run_manager else None) or {}
        prompt = ScriptedPrompt("\n".join(message.text for message in messages))
        prompt.messages, prompt.task, prompt.number = messages, metadata.get(TASK, ""), metadata.get(QUERY_NUMBER, -1)
        prompt.temperature = getattr(self, "temperature", 0.0)
        self.prompts.append(prompt)
        reply = self.script(prompt)
        if isinstance(reply, Exception):
            raise reply
        message = reply if isinstance(reply, AIMessage) else AIMessage(reply)
        if self.usage is not None:
            inward, outward = self.usage
            message.usage_metadata = UsageMetadata(
                input_tokens=inward, output_tokens=outward, total_tokens=inward + outward
            )
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        if self.delay:
            await asyncio.sleep(self.delay)
        return self._generate(messages, stop, run_manager and run_manager.get_sync())


LABELS = {"ambiguous": "Ask back", "unanswerable": "Cannot answer", "small_talk": "Small talk"}
"""How a reply that writes no SQL begins, by the turn's intent."""


def instead_of_sql(intent: str, words: str = "", choices: Sequence[str] = ()) -> str:
    """A reply that asks back or declines."""
    return "\n".join([f"{LABELS[intent]}: {words}", *(f"{n}. {choice}" for n, choice in enumerate(choices, 1))])


def writes(*statements: Reply, intent: str = "answerable") -> ScriptedModel:
    """A model that rephrases nothing and writes these statements one after the other, the last one for ever."""
    left = list(statements)

    def script(prompt: str) -> Reply:
        task = task_of(prompt)
        if task == "rephrase":
            return rephrased("Give me what was asked.", intent)
        if task == "explain":
            return json.dumps({"meaning": "It counts.", "differences": "None."})
        reply = left.pop(0) if len(left) > 1 else left[0]
        if intent in LABELS:
            return instead_of_sql(intent, "Say more.")
        return reply if isinstance(reply, Exception) else f"```sql\n{reply}\n```"

    return ScriptedModel(script=script)
