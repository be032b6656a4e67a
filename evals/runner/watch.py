"""Whether a turn has an answer at all: the outcome of the requests that it made of its model."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import BaseMessage
from langchain_core.outputs import LLMResult

from ...agent.model.errors import loop_is_gone, model_error, refuses_prompt, rejects_temperature
from ...tools.errors import ModelError


@dataclass
class Requests:
    """The requests of one turn.

    Attributes:
        error: Why the model could not be asked, in one line; empty where it could.
        pending: Requests without a reply so far.
    """

    error: str = ""
    pending: set[UUID] = field(default_factory=set[UUID])

    def unanswered(self, sql: str) -> str:
        """Why the turn is no answer of the model's; empty where it is one.

        Args:
            sql: What the turn came to: a request that it broke off only counts where it came to nothing.
        """
        cut_off = "a request to the model was broken off before its reply came: try again, or allow it more time"
        return self.error or (cut_off if self.pending and not sql else "")


_requests: ContextVar[Requests] = ContextVar("requests")


@contextmanager
def watched() -> Generator[Requests]:
    """The requests that are made within it, also by tasks and threads started there."""
    requests = Requests()
    token = _requests.set(requests)
    try:
        yield requests
    finally:
        _requests.reset(token)


class Watch(BaseCallbackHandler):
    """Notes in the turn's `Requests` what becomes of each.

    Errors that the translator recovers from by itself, that are the prompt's own fault, or that mean that a replay has
    no prediction, are not noted.

    Args:
        label: The model's name.
    """

    run_inline = True

    def __init__(self, label: str) -> None:
        self._label = label

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **_: Any
    ) -> None:
        """See `BaseCallbackHandler`."""
        if requests := _requests.get(None):
            requests.pending.add(run_id)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """See `BaseCallbackHandler`."""
        if requests := _requests.get(None):
            requests.pending.discard(run_id)
            if not any(response.generations):
                requests.error = f"model {self._label} sent a reply that holds no message: check the server"

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """See `BaseCallbackHandler`."""
        requests = _requests.get(None)
        if requests is None or not isinstance(error, Exception):
            return
        requests.pending.discard(run_id)
        passing = loop_is_gone(error) or rejects_temperature(error)
        if not (passing or refuses_prompt(error) or isinstance(error, ModelError)):
            requests.error = str(model_error(self._label, error))
