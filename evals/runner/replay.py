"""A chat model that says what files of predictions say: real drafts, without calling anything."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from pydantic import PrivateAttr

from ...agent.effects import QUERY_NUMBER
from ...tools.errors import ModelError

REPLAY = "replay:"
"""What such a model's name begins with; the files follow, with commas between them."""

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

asked_about: ContextVar[str] = ContextVar("asked_about")
"""The id of the question that the current turn is about."""


class ReplayModel(BaseChatModel):
    """Replies with the recorded SQL of the question at hand: the first file's for a turn's first query, and so on.

    So the files play drafts that are written side by side, in the order of their numbers whichever is asked for first,
    or a draft and its revisions; the last file goes on for ever. The second try for a reply that could not be used gets
    the same file's reply again: such a draft is lost, and no other file's takes its place. Outside the agent each
    request counts as a further query.

    Attributes:
        files: SQL by question id, of each file.
    """

    files: Sequence[Mapping[str, str]]
    _asked: Counter[str] = PrivateAttr(default_factory=Counter[str])
    _lock: threading.Lock = PrivateAttr(default_factory=threading.Lock)

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
        metadata = (run_manager.metadata if run_manager else None) or {}
        number = metadata.get(QUERY_NUMBER)
        if number is None:
            with self._lock:
                number = self._asked[question]
                self._asked[question] += 1
        predictions = self.files[min(number, len(self.files) - 1)]
        if question not in predictions:
            raise ModelError(f"the replayed predictions have none for question {question}")
        message = AIMessage(f"```sql\n{predictions[question]}\n```")
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return self._generate(messages, stop, run_manager and run_manager.get_sync())
