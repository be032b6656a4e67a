"""Reading lines at a terminal, with editing, history, completion and typing ahead."""

from __future__ import annotations

import re
import sys
import termios
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.output import create_output

from ....tools.database import Schema
from ....tools.errors import SettingsError, TableturnError
from ....tools.folders import make_private_file, state_folder
from ....tools.terminal import sanitize_text, warn
from ....tools.values import ValueIndex
from ...effects import start_in_thread
from .chat import ChatSession
from .commands import BY_NAME

_INPUT, _LOCAL = 0, 3  # places in what `tcgetattr` gives
_before: Any = None  # how the terminal was before the conversation


@contextmanager
def buffer_typed_keys() -> Generator[None]:
    """Save keys typed while the context is open for the next prompt, without showing the keys."""
    global _before
    _before = termios.tcgetattr(sys.stdin)
    now = termios.tcgetattr(sys.stdin)
    now[_INPUT] &= ~termios.ICRNL
    now[_LOCAL] = now[_LOCAL] & ~(termios.ICANON | termios.ECHO) | termios.NOFLSH
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, now)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, _before)


@contextmanager
def restore_terminal_mode() -> Generator[None]:
    """Restore the terminal's original mode while the context is open, for another program."""
    now = termios.tcgetattr(sys.stdin)
    termios.tcsetattr(sys.stdin, termios.TCSADRAIN, _before)
    try:
        yield
    finally:
        termios.tcsetattr(sys.stdin, termios.TCSADRAIN, now)


_MAX_COMPLETIONS = 30  # completions of a kind
_WORDS = 4  # words of a value that may have been typed
_SHORTEST = 2  # characters from which values are looked for

_WORD = re.compile(r"[^\s,;()\"'?]+$")


class ChatCompleter(Completer):
    """A completer of table names, column names and values that the person may read."""

    def __init__(self, schema: Callable[[], Schema], values: ValueIndex) -> None:
        self._schema = schema
        self._values = values
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Yield completions for the text before the cursor; none if a lookup fails."""
        text = document.text_before_cursor.lstrip()
        try:
            if text[:1] != "/":
                yield from self._complete_names_and_values(text)
                return
            name, blank, argument = text.partition(" ")
            if not blank:
                yield from _complete_command_names(name)
            elif name in BY_NAME:
                yield from self._complete_command_argument(BY_NAME[name].completes, argument, complete_event)
        except (TableturnError, OSError):
            return

    def _complete_command_argument(self, kind: str, args: str, event: CompleteEvent) -> Iterator[Completion]:
        if kind == "files":
            yield from self._paths.get_completions(Document(args, len(args)), event)
        elif kind == "commands":
            yield from _complete_command_names(f"/{args.lstrip('/')}", len(args))
        elif kind in ("tables", "columns"):
            yield from self._complete_names(args, columns=kind == "columns", tables=kind == "tables", dotted=True)
        else:
            yield from self._complete_names_and_values(args)

    def _complete_names_and_values(self, text: str) -> Iterator[Completion]:
        match = _WORD.search(text)
        if match is None:
            return
        yield from self._complete_names(match[0], columns=True, tables=True)
        offers: set[str] = set()
        # A value could begin with any of the last few words, the longest run first.
        starts = [match.start() for match in re.finditer(r"[^\s,;()\"'?]+", text)]
        for start in starts[-_WORDS:] if text[-1:].strip() or len(starts) > 1 else ():
            prefix = text[start:]
            if len(prefix) < _SHORTEST or len(offers) >= _MAX_COMPLETIONS:
                continue
            for table, column, value in self._values.find_values_with_prefix(prefix, _MAX_COMPLETIONS):
                if value not in offers and sanitize_text(value) == value and "\n" not in value:
                    offers.add(value)
                    yield Completion(value, -len(prefix), display_meta=f"{table}.{column}")

    def _complete_names(self, begun: str, *, columns: bool, tables: bool, dotted: bool = False) -> Iterator[Completion]:
        schema, low = self._schema(), begun.lower()
        metas: dict[str, str] = {}
        for table in schema.tables:
            if tables and _has_part_with_prefix(table.name, low):
                metas.setdefault(table.name, "table")
            for column in table.columns if columns else ():
                full_name = f"{table.name}.{column.name}"
                if (dotted or "." in low) and full_name.lower().startswith(low):
                    metas.setdefault(full_name, "column")
                elif _has_part_with_prefix(column.name, low):
                    metas.setdefault(full_name if dotted else column.name, f"column of {table.name}")
        for name, meta in list(metas.items())[:_MAX_COMPLETIONS]:
            if sanitize_text(name) == name:
                yield Completion(name, -len(begun), display_meta=meta)


def _complete_command_names(prefix: str, width: int | None = None) -> Iterator[Completion]:
    for name, command in BY_NAME.items():
        if name.startswith(prefix):
            text = name if width is None else name[1:]
            yield Completion(text, -(len(prefix) if width is None else width), display=name, display_meta=command.about)


def _has_part_with_prefix(name: str, prefix: str) -> bool:
    """Whether a name, or a part of the name, begins with `prefix`."""
    lowered = name.lower()
    return lowered.startswith(prefix) or any(part.startswith(prefix) for part in re.split(r"[_\s]+", lowered) if prefix)


_WELCOME = "Ask a question; Tab completes, /help lists commands, Ctrl-D leaves."


def read_lines(chat: ChatSession) -> Iterator[str]:
    """Yield the lines typed at the prompt until Ctrl-D; Ctrl-C clears the current line."""
    resources = chat.agent.resources
    completer = ChatCompleter(lambda: resources.schemas.read(False).schema, resources.values)
    session: PromptSession[str] = PromptSession(
        "> ",
        history=_open_input_history(),
        completer=ThreadedCompleter(completer),
        complete_while_typing=False,
        enable_open_in_editor=True,
        output=create_output(always_prefer_tty=True),
    )
    chat.edit_line = partial(_edit_text_at_prompt, session)
    warn(_WELCOME)
    start_in_thread(
        lambda: resources.values.find_values_with_prefix("a", 1)
    )  # the first question, or Tab, would have to wait for the index
    while True:
        try:
            yield _replace_surrogates(session.prompt())
        except KeyboardInterrupt:
            continue
        except EOFError:
            return


def _edit_text_at_prompt(session: PromptSession[str], prompt: str, text: str) -> str:
    """Show a text at a prompt for editing, and return the edited text."""
    editor: PromptSession[str] = PromptSession(output=session.output)
    try:
        return _replace_surrogates(editor.prompt(prompt, default=text)).strip() or text
    except (KeyboardInterrupt, EOFError):
        raise SettingsError("nothing was saved") from None


def _open_input_history() -> History:
    """Return the history of typed lines, from a file that only the owner can read."""
    path = state_folder() / "history"
    try:
        make_private_file(path)
    except OSError as error:
        warn(f"tableturn: lines that you type cannot be saved in the history: {path}: {error.strerror or error}")
        return InMemoryHistory()
    return _RobustFileHistory(str(path))


class _RobustFileHistory(FileHistory):
    """A history file that accepts any bytes and survives a full disk."""

    def load_history_strings(self) -> Iterable[str]:
        try:
            return list(super().load_history_strings())
        except OSError:
            return []

    def store_string(self, string: str) -> None:
        try:
            super().store_string(_replace_surrogates(string))
        except OSError as error:
            warn(f"tableturn: this line cannot be saved in the history: {error.strerror or error}")


def _replace_surrogates(line: str) -> str:
    return line.encode("utf-8", "replace").decode()
