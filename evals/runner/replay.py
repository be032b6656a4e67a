"""A chat model that says what a file of predictions says: real drafts, without calling anything."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from ...tools.errors import ModelError

REPLAY = "replay:"
"""What such a model's name begins with; the file follows."""

REPLAY_SETTINGS = {
    "rephrase": "never",
    "simplify": False,
    "reason": "off",
    "feedback_explanation": False,
    "examples": "none",
}
"""A recorded query answers requests for SQL; for everything else there is nothing to replay."""

asked_about: ContextVar[str] = ContextVar("asked_about")
"""The id of the question that the current turn is about."""


class ReplayModel(BaseChatModel):
    """Replies with the recorded SQL of the question at hand, however often it is asked.

    Attributes:
        sql: By question id.
    """

    sql: Mapping[str, str]

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
        question = asked_about.get()
        if question not in self.sql:
            raise ModelError(f"the replayed predictions have none for question {question}")
        message = AIMessage(f"```sql\n{self.sql[question]}\n```")
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop)
