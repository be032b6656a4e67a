"""The chat model of a run: its replies kept, its failures noted, or replayed from files of predictions."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Awaitable, Mapping, Sequence
from contextlib import closing
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
from ...agent.model.errors import loop_is_gone, model_error, refuses_prompt, rejects_temperature
from ...agent.model.resolve import model_label, resolve_model
from ...agent.settings import Settings, make_settings
from ...tools.errors import ModelError, SettingsError
from ..datasets import Dataset, Question
from ..metrics import read_predictions
from .record import TurnRecord, failed, not_asked
from .spec import RunSpec

asked_about: ContextVar[str] = ContextVar("asked_about")
"""The id of the question that the current turn is about."""

repeated: ContextVar[int] = ContextVar("repeated", default=0)
"""Which of several tries at the same question the current turn is: each keeps its own replies; 0 for the only one."""


class ReplyCache(BaseCache):
    """Chat replies by prompt and model, in a file; may be used from any number of threads.

    Raises:
        SettingsError: The file cannot be used.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        try:
            self._connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None)
            self._connection.execute(
                "CREATE TABLE IF NOT EXISTS reply (prompt TEXT, model TEXT, messages TEXT, PRIMARY KEY (prompt, model))"
            )
        except sqlite3.Error as error:
            raise SettingsError(f"{path} cannot keep replies: {error}") from error

    def lookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """The replies kept for a prompt; None if there are none."""
        sql = "SELECT messages FROM reply WHERE prompt = ? AND model = ?"
        with self._lock:
            found = self._connection.execute(sql, (_asked(prompt), _model(llm_string))).fetchone()
        if found is None:
            return None
        return [ChatGeneration(message=message) for message in messages_from_dict(json.loads(found[0]))]

    def update(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        """Keeps a chat model's replies to a prompt."""
        messages = [message_to_dict(reply.message) for reply in return_val if isinstance(reply, ChatGeneration)]
        with self._lock:
            self._connection.execute(
                "INSERT OR REPLACE INTO reply VALUES (?, ?, ?)",
                (_asked(prompt), _model(llm_string), json.dumps(messages)),
            )

    def clear(self, **kwargs: Any) -> None:
        """Forgets everything."""
        with self._lock:
            self._connection.execute("DELETE FROM reply")

    def size(self) -> int:
        """How many replies are kept."""
        with self._lock:
            return self._connection.execute("SELECT count(*) FROM reply").fetchone()[0]

    def close(self) -> None:
        """Closes the file."""
        self._connection.close()


def kept_replies(path: Path) -> int:
    """How many replies a file keeps; 0 where there is none."""
    if not path.exists():
        return 0
    with closing(ReplyCache(path)) as cache:
        return cache.size()


def _asked(prompt: str) -> str:
    """A prompt without the metadata of its messages: a reply from here carries another cost than a new one."""
    messages: list[dict[str, Any]] = json.loads(prompt)
    for message in messages:
        fields: dict[str, Any] = message.get("kwargs", {})
        for name in ("id", "response_metadata", "usage_metadata"):
            fields.pop(name, None)
    return json.dumps(messages)


def _model(llm_string: str) -> str:
    """The model, and which try at the question it is asked in."""
    number = repeated.get()
    return f"{llm_string} (try {number})" if number else llm_string


@dataclass
class Requests:
    """The requests of one turn.

    Attributes:
        error: Why the model could not be asked, in one line; empty where it could.
        pending: Requests without a reply so far.
    """

    error: str = ""
    pending: set[UUID] = field(default_factory=set[UUID])


_requests: ContextVar[Requests] = ContextVar("requests")


async def watch_turn(turn: Question, take: Awaitable[TurnRecord]) -> TurnRecord:
    """Return what a turn comes to: an error is a wrong answer, and a model that could not be asked is none."""
    asked_about.set(turn.id)
    repeated.set(turn.repeat or 0)
    requests = Requests()
    token = _requests.set(requests)
    try:
        record = await take
    except Exception as error:  # noqa: BLE001 - a crash is a wrong answer, and the other questions still count
        record = failed(turn, error)
    finally:
        _requests.reset(token)
    why = requests.error
    if requests.pending and not record.sql:
        # A request that the turn broke off only counts where it came to nothing.
        why = why or "a request to the model was broken off before its reply came: try again, or allow it more time"
    return not_asked(turn, why) if why else record


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


class ReplayModel(BaseChatModel):
    """Replies with the recorded SQL of the question at hand: the first file's for a turn's first query, and so on.

    So the files play drafts that are written side by side, in the order of their numbers whichever is asked for first,
    or a draft and its revisions; the last file goes on for ever. The second try for a reply that could not be used gets
    the same file's reply again: such a draft is lost, and no other file's takes its place. A baseline has one query.

    Attributes:
        files: SQL by question id, of each file.
    """

    files: Sequence[Mapping[str, str]]

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
        number: int = ((run_manager.metadata if run_manager else None) or {}).get(QUERY_NUMBER, 0)
        predictions = self.files[min(number, len(self.files) - 1)]
        if question not in predictions:
            raise ModelError(f"the replayed predictions have none for question {question}")
        message = AIMessage(f"```sql\n{predictions[question]}\n```")
        return ChatResult(generations=[ChatGeneration(message=message)])


def is_replay(model: str | None) -> bool:
    """Whether a model's name stands for files of predictions."""
    return model is not None and model.startswith(REPLAY)


CACHE_FILE = "replies.sqlite"
"""The file in a run's folder that keeps every reply."""


def run_model(spec: RunSpec, dataset: Dataset, cache: BaseCache) -> BaseChatModel | None:
    """The model that a run's agents are given; None where the built-in translator answers.

    Every reply is kept: what was asked once is not asked again, in this run or when it is repeated.

    Args:
        spec: The run.
        dataset: The whole split, which replayed predictions must fit.
        cache: Keeps the replies.

    Raises:
        ModelError: The model is unknown or cannot be set up.
        SettingsError: Replayed predictions don't fit the dataset, or no file is named.
    """
    if spec.model is not None and is_replay(spec.model):
        files = spec.model.removeprefix(REPLAY).split(",")
        if not all(map(str.strip, files)):
            raise SettingsError(f"model {spec.model!r} lacks a file: write {REPLAY}FILE or {REPLAY}FILE,FILE")
        asked = dataset.without(spec.without).first(spec.limit)
        return ReplayModel(files=[read_predictions(Path(file), dataset, asked) for file in files])
    return kept_model(spec.model, spec.base_url, make_settings(spec.settings, preset=spec.preset), cache)


def kept_model(name: str | None, base_url: str | None, settings: Settings, cache: BaseCache) -> BaseChatModel | None:
    """A chat model whose replies are kept; None where the name, or the environment, means the built-in translator.

    Raises:
        ModelError: The model is unknown or cannot be set up.
    """
    model = resolve_model(
        name, base_url=base_url, timeout=settings.request_seconds, max_retries=settings.request_retries
    )
    if model is None:
        return None
    given = model.callbacks
    handlers = given.handlers if isinstance(given, BaseCallbackManager) else given or ()
    return model.model_copy(update={"cache": cache, "callbacks": [*handlers, Watch(model_label(model))]})
