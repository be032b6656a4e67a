"""Commands about an answer: its SQL, what that means, what it rests on."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from ....tools.errors import SettingsError, TableturnError
from ....tools.terminal import safe, warn
from ... import verbs
from ..display import shown_sql
from .chat import Chat, interrupted
from .rows import shown_page
from .terminal import as_before

if TYPE_CHECKING:
    from ...answers.answer import Answer


def why(chat: Chat, rest: str) -> RenderableType:
    """What an answer rests on."""
    from ...answers.why import told

    held, _ = chat.choose(rest, "explain")
    parts: list[RenderableType] = []
    for heading, lines in told(held.answer, held.why):
        parts += [Text(heading, style="bold"), Padding(Text(safe("\n".join(lines))), (0, 0, 0, 2))]
    return Group(*parts)


def sql(chat: Chat, rest: str) -> RenderableType:
    """Shows an answer's query, or runs it: as it is, edited, or another."""
    first, _, _ = rest.partition(" ")
    if not rest or first.isdecimal():
        return shown_sql(_sql(chat.choose(rest, "show")[0].answer, "show"))
    answer = chat.choose("", "run")[0].answer
    if rest == "edit":
        rest = chat.draft = _edited(chat.draft or _sql(answer, "edit"))
    with _drafted(chat), interrupted() as cancellation:
        found = chat.take(verbs.rerun(answer, "" if rest == "run" else rest, chat.resources, cancellation))
    words = Text(safe(found.text), style="bold")
    shown = [shown_sql(found.sql)] if found.sql and found.sql != answer.sql else []
    kept = [Text("/approve keeps it as the answer to the question", style="dim")] if shown else []
    return Group(*shown, *([shown_page(chat.pages)] if chat.pages and found.rows else []), words, *kept)


@contextmanager
def _drafted(chat: Chat) -> Generator[None]:
    """Says that what a person wrote in an editor is kept where it does not run."""
    try:
        yield
    except (TableturnError, KeyboardInterrupt):
        if chat.draft:
            warn("your query is kept: /sql edit opens it again")
        raise


def _sql(answer: Answer, what: str) -> str:
    if answer.sql is None:
        raise SettingsError(f"that answer has no SQL to {what}")
    return answer.sql


def _edited(text: str) -> str:
    """The text as a person leaves it in an editor.

    Raises:
        SettingsError: There is no editor or no terminal, or nothing is left of the text.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise SettingsError("there is no terminal to edit it in: /sql SELECT ... runs another query")
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "query.sql"
        path.write_text(f"{text}\n", encoding="utf-8")
        try:
            with as_before():
                subprocess.run([*shlex.split(editor), str(path)], check=True)  # noqa: S603 - the person's own editor
            edited = path.read_text(encoding="utf-8").strip()
        except subprocess.CalledProcessError as error:
            raise SettingsError(f"{editor} ended with status {error.returncode}: the query is not run") from None
        except OSError as error:
            reason = error.strerror or error
            raise SettingsError(f"cannot start {editor}, {reason}: name another editor in EDITOR") from None
        except ValueError as error:
            raise SettingsError(f"cannot run {editor}, or cannot read what it wrote: {error}") from None
    if not edited:
        raise SettingsError("the query is empty and is not run")
    return edited
