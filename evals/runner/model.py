"""The chat model of a run: its replies are cached, its failures noted, or files of predictions replayed."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Awaitable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import UUID

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.callbacks import BaseCallbackHandler, BaseCallbackManager, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, ChatResult, Generation, LLMResult

from ...agent.effects import QUERY_NUMBER
from ...agent.model.replies import loop_is_gone, model_error, refuses_prompt, rejects_temperature
from ...agent.model.resolve import model_label, resolve_model
from ...agent.settings import Settings
from ...tools.errors import ModelError, SettingsError
from ..datasets import Dataset, Question, read_predictions
from .record import RunSpec, TurnRecord, failed, not_asked

CACHE_FILE = "replies.sqlite"
"""The file in a run's folder that keeps every reply."""

_question: ContextVar[Question] = ContextVar("question")
"""The question that the current turn is about; each of several tries at it keeps its own replies."""


class ReplyCache(BaseCache):
    """Chat replies by prompt and model, in a file; may be used from any number of threads."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS reply (prompt TEXT, model TEXT, messages TEXT, PRIMARY KEY (prompt, model))"
            )
        except sqlite3.Error as error:
            raise SettingsError(f"{path} cannot keep replies: {error}") from error

    def _execute(self, sql: str, *values: str) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(sql, values).fetchall()

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """Return the replies kept for a prompt; None if there are none."""
        found = self._execute("SELECT messages FROM reply WHERE prompt = ? AND model = ?", *_key(prompt, llm_string))
        return [ChatGeneration(message=one) for one in messages_from_dict(json.loads(found[0][0]))] if found else None

    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        """Keep a chat model's replies to a prompt."""
        messages = [message_to_dict(reply.message) for reply in return_val if isinstance(reply, ChatGeneration)]
        sql = "INSERT OR REPLACE INTO reply VALUES (?, ?, ?)"
        self._execute(sql, *_key(prompt, llm_string), json.dumps(messages))

    def clear(self, **kwargs: Any) -> None:
        """Forget everything."""
        self._execute("DELETE FROM reply")

    def size(self) -> int:
        """Return how many replies are kept."""
        return self._execute("SELECT count(*) FROM reply")[0][0]

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def _key(prompt: str, llm_string: str) -> tuple[str, str]:
    """Return what a reply is found by: the prompt, and the model with the number of the try at the question."""
    messages: list[dict[str, Any]] = json.loads(prompt)
    for message in messages:
        # A message that comes from the cache carries another cost than a new one.
        for name in ("id", "response_metadata", "usage_metadata"):
            message.get("kwargs", {}).pop(name, None)
    question = _question.get(None)
    attempt = f" (try {question.repeat})" if question and question.repeat else ""
    return json.dumps(messages), llm_string + attempt


@dataclass
class _Requests:
    """The requests of one turn."""

    error: str = ""  # why the model could not be asked, in one line; empty if it could
    pending: set[UUID] = field(default_factory=set[UUID])  # those without a reply so far


_requests: ContextVar[_Requests] = ContextVar("requests")


async def watch_turn(turn: Question, take: Awaitable[TurnRecord]) -> TurnRecord:
    """Return a turn's record: an error is a wrong answer, and a model that could not be asked is none."""
    _question.set(turn)
    requests = _Requests()
    token = _requests.set(requests)
    try:
        record = await take
    except Exception as error:  # noqa: BLE001 - a crash is a wrong answer, and the other questions still count
        record = failed(turn, error)
    finally:
        _requests.reset(token)
    why = requests.error
    if requests.pending and not record.sql:
        # A request that the turn broke off counts only if it came to nothing.
        why = why or "a request to the model was broken off before its reply came: try again, or allow it more time"
    return not_asked(turn, why) if why else record


class RequestWatch(BaseCallbackHandler):
    """Notes what becomes of the requests of the turn at hand, to the model of a name.

    Errors that the translator recovers from, that are the prompt's own fault, or that mean that a replay has no
    prediction, are not noted.
    """

    run_inline = True

    def __init__(self, label: str) -> None:
        self._label = label

    def on_chat_model_start(
        self, serialized: dict[str, Any], messages: list[list[BaseMessage]], *, run_id: UUID, **_: Any
    ) -> None:
        """Note that a request begins."""
        if requests := _requests.get(None):
            requests.pending.add(run_id)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """Note a reply, which may hold no message."""
        if requests := _requests.get(None):
            requests.pending.discard(run_id)
            if not any(response.generations):
                requests.error = f"model {self._label} sent a reply that holds no message: check the server"

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """Note why a request failed."""
        requests = _requests.get(None)
        if requests is None or not isinstance(error, Exception):
            return
        requests.pending.discard(run_id)
        passing = loop_is_gone(error) or rejects_temperature(error)
        if not (passing or refuses_prompt(error) or isinstance(error, ModelError)):
            requests.error = str(model_error(self._label, error))


REPLAY = "replay:"
"""The prefix of a model's name that is followed by files of predictions, with commas between them."""


def is_replay(model: str | None) -> bool:
    """Whether a model's name stands for files of predictions."""
    return model is not None and model.startswith(REPLAY)


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


class ReplayModel(BaseChatModel):
    """Replies with the recorded SQL of the question at hand: the first file's for a turn's first query, and so on.

    So the files play drafts that are written side by side, in the order of their numbers whichever is asked for first,
    or a draft and its revisions; the last file goes on for ever. The second try for a reply that could not be used gets
    the same file's reply again: such a draft is lost, and no other file's takes its place. A baseline has one query.
    """

    files: Sequence[Mapping[str, str]]  # of each, SQL by question id

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
        question = _question.get().id
        number: int = ((run_manager.metadata if run_manager else None) or {}).get(QUERY_NUMBER, 0)
        predictions = self.files[min(number, len(self.files) - 1)]
        if question not in predictions:
            raise ModelError(f"the replayed predictions have none for question {question}")
        message = AIMessage(f"```sql\n{predictions[question]}\n```")
        return ChatResult(generations=[ChatGeneration(message=message)])


def replay_model(spec: RunSpec, dataset: Dataset) -> ReplayModel:
    """Return the model that replays the files that a run names, for the whole split or for what is asked."""
    files = str(spec.model).removeprefix(REPLAY).split(",")
    if not all(map(str.strip, files)):
        raise SettingsError(f"model {spec.model!r} lacks a file: write {REPLAY}FILE or {REPLAY}FILE,FILE")
    asked = dataset.without(spec.without).first(spec.limit)
    return ReplayModel(files=[read_predictions(Path(file), dataset, asked) for file in files])


def kept_model(name: str | None, base_url: str | None, settings: Settings, cache: BaseCache) -> BaseChatModel | None:
    """Return a chat model whose replies are cached; None if the name, or the environment, means the offline translator.

    What was asked once is not asked again, in this run or when it is repeated.
    """
    model = resolve_model(
        name, base_url=base_url, timeout=settings.request_seconds, max_retries=settings.request_retries
    )
    if model is None:
        return None
    given = model.callbacks
    handlers = given.handlers if isinstance(given, BaseCallbackManager) else given or ()
    return model.model_copy(update={"cache": cache, "callbacks": [*handlers, RequestWatch(model_label(model))]})
