"""One question at the terminal, and what a conversation there shares with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...tools.errors import DatabaseUnavailable, SettingsError
from ...tools.export import check_target
from ...tools.terminal import warn
from ..options import AgentOptions
from .output import Output, put_out, show_query
from .watch import show_progress

if TYPE_CHECKING:
    from ..answers.answer import Answer
    from ..conversation import Conversation

ANSWERED, NOT_ANSWERED = 0, 1


def ask_once(question: str, options: AgentOptions, output: Output, notes: str = "") -> int:
    """Answers one question and says how it went as an exit code."""
    if not question.strip():
        raise SettingsError("the question is empty: put it in quotes after the options")
    output.check()
    with options.open_agent() as agent:
        for file in filter(None, (output.file, output.chart)):
            check_target(agent.resources.database, file)
        settings = dict(output.settings)
        if output.limit is not None and output.limit > agent.settings.rows:
            settings["rows"] = output.limit
        answer = answered(agent.conversation(), question, settings or None, notes)
        done = (show_query if output.dry_run else put_out)(answer, agent, output)
        return ANSWERED if done else NOT_ANSWERED


def write_sample(path: Path) -> None:
    """Writes the sample database, never over another file."""
    from ...tools.sample import build_sample

    if path.exists():
        raise SettingsError(f"{path} exists already: name a new file, or remove it first")
    try:
        build_sample(path)
    except (OSError, sqlite3.Error) as error:
        raise DatabaseUnavailable(f"cannot write the sample database to {path}: {error}") from None
    warn(f"Wrote {path}. Try: tableturn ask --db {path} 'How many stores are there?'")


def answered(
    conversation: Conversation, question: str, settings: Mapping[str, Any] | None = None, notes: str = ""
) -> Answer:
    """Takes a turn, showing what happens on a terminal."""
    answer: Answer | None = None
    with show_progress() as progress, closing(conversation.stream(question, settings=settings, notes=notes)) as events:
        for event in events:
            progress(event)
            answer = event.answer or answer
    assert answer is not None
    return answer
