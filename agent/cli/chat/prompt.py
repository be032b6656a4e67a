"""Reading lines at a terminal: editing, history, search, completion."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import ThreadedCompleter
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.output import create_output

from ....tools.folders import state_folder
from ....tools.terminal import warn
from ...spare_threads import start
from .chat import Chat
from .completion import ChatCompleter

_WELCOME = "Ask a question; Tab completes, /help lists commands, Ctrl-D leaves."


def typed_lines(chat: Chat) -> Iterator[str]:
    """Lines until Ctrl-D; Ctrl-C clears the one that is being typed."""
    resources = chat.agent.resources
    completer = ChatCompleter(lambda: resources.schemas.schema(False), resources.values)
    session: PromptSession[str] = PromptSession(
        "> ",
        history=_history(),
        completer=ThreadedCompleter(completer),
        complete_while_typing=False,
        enable_open_in_editor=True,
        output=create_output(always_prefer_tty=True),
    )
    warn(_WELCOME)
    start(lambda: resources.values.beginning("a", 1))  # the first question, or Tab, would have to wait for the index
    while True:
        try:
            yield _plain(session.prompt())
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _history() -> History:
    """What was typed in earlier conversations, in a file that is its owner's alone."""
    path = state_folder() / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
        os.chmod(path, 0o600)
    except OSError as error:
        warn(f"tableturn: lines that you type cannot be saved in the history: {path}: {error.strerror or error}")
        return InMemoryHistory()
    return _PlainHistory(str(path))


class _PlainHistory(FileHistory):
    """A file of lines, also of those whose bytes no text stands for; a full disk costs no line."""

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        try:
            super().store_string(_plain(string))
        except OSError as error:
            warn(f"tableturn: this line cannot be saved in the history: {error.strerror or error}")


def _plain(line: str) -> str:
    return line.encode("utf-8", "replace").decode()
