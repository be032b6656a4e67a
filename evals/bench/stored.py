"""Replies of a model that were stored once, so that a figure is the same wherever it is measured."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult, Generation

from ...agent.settings import Settings
from ...tools.errors import ModelError, SettingsError
from ...tools.record_files import read_lines
from ..runner.model import kept_model

UNSTORED = "a reply is not stored: pass --model, and --base-url, to ask for it"


class ReplyFile(BaseCache):
    """Replies by what was asked, whichever model said them: a JSONL file of `prompt` (a digest) and `reply`.

    Raises:
        SettingsError: The file is not in this form.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._replies: dict[str, str] = {}
        self._missed: set[str] = set()
        try:
            records = read_lines(path.read_text(encoding="utf-8")) if path.exists() else []
            for record in records:
                fields = cast("Mapping[str, object]", record)
                self._replies[str(fields["prompt"])] = str(fields["reply"])
        except (OSError, ValueError, TypeError, KeyError) as error:
            raise SettingsError(f"{path} is no file of stored replies: {error!r}") from error

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """See `BaseCache`."""
        key = _digest(prompt)
        reply = self._replies.get(key)
        if reply is None:
            self._missed.add(key)
        return None if reply is None else [ChatGeneration(message=AIMessage(reply))]

    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        """See `BaseCache`; the reply is on disk when this returns."""
        key, reply = _digest(prompt), return_val[0].text
        self._replies[key] = reply
        self._missed.discard(key)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"prompt": key, "reply": reply}) + "\n")

    @property
    def missing(self) -> int:
        """How many requests there were that have no reply, neither stored nor asked for."""
        return len(self._missed)

    def clear(self, **kwargs: Any) -> None:
        """Stored replies are not thrown away."""
        raise NotImplementedError

    async def alookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """See `BaseCache`."""
        return self.lookup(prompt, llm_string)

    async def aupdate(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        """See `BaseCache`."""
        self.update(prompt, llm_string, return_val)


class Nobody(BaseChatModel):
    """A chat model that knows stored replies only."""

    @property
    def _llm_type(self) -> str:
        return "stored"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise ModelError(UNSTORED)


def stored_model(
    replies: Path | None, model: str | None, base_url: str | None, seconds: float = 3_600
) -> BaseChatModel:
    """A chat model that says what is stored, and asks, and stores, what is not.

    Args:
        replies: The file; it is made where there is none and somebody is asked.
        model: Whom to ask; None asks nobody.
        base_url: Of an OpenAI-compatible server.
        seconds: How long one reply may take: people may answer.

    Raises:
        SettingsError: There is no file to read, or it is damaged.
        ModelError: The model cannot be set up.
    """
    if replies is None or (model is None and not replies.exists()):
        raise SettingsError("this figure needs stored replies: pass --replies FILE, and --model to have it made")
    kept = ReplyFile(replies)
    found = (
        kept_model(model, base_url, Settings(request_seconds=seconds, request_retries=0), kept)
        if model is not None
        else None
    )
    return found or Nobody(cache=kept)


def check_all_stored(model: BaseChatModel) -> None:
    """Nothing is measured where a reply is missing: a turn goes on without one, and its answer is another.

    Raises:
        ModelError: Some requests got none.
    """
    kept = model.cache
    if isinstance(kept, ReplyFile) and kept.missing:
        raise ModelError(
            f"{kept.missing} requests got no reply: pass --model, and --base-url, to ask for them, or run again; "
            "what is stored is not asked for a second time"
        )


def _digest(prompt: str) -> str:
    messages: list[dict[str, Any]] = json.loads(prompt)
    said = [(message["id"][-1], message["kwargs"]["content"]) for message in messages]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:32]
