"""Replies that a run keeps, so that what was asked once is not asked again.

langchain-core's interface over one SQLite table; langchain-community's own cache no longer reads back what it wrote
with today's langchain-core.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from langchain_core.caches import RETURN_VAL_TYPE, BaseCache
from langchain_core.messages import message_to_dict, messages_from_dict
from langchain_core.outputs import ChatGeneration, Generation

from ...tools.errors import SettingsError

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

    async def alookup(self, prompt: str, llm_string: str) -> RETURN_VAL_TYPE | None:
        """As `lookup`; one indexed read is too short to leave the loop for."""
        return self.lookup(prompt, llm_string)

    async def aupdate(self, prompt: str, llm_string: str, return_val: Sequence[Generation]) -> None:
        """As `update`."""
        self.update(prompt, llm_string, return_val)

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
