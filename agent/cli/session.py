"""One question at the terminal, and what a conversation there shares with it."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...tools.errors import DatabaseUnavailable, SettingsError
from ...tools.export import check_target
from ...tools.terminal import warn
from ..advice import advise
from ..settings import Settings, make_settings, read_settings
from .options import Asker
from .output import Output, put_out, show_query
from .watch import show_progress

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

    from ..answers.answer import Answer
    from ..conversation import Conversation
    from ..sqlagent import SQLAgent

ANSWERED, NOT_ANSWERED = 0, 1

OFFLINE_LINE = (
    "no model is chosen, so the built-in offline translator answers; "
    "set --model, TABLETURN_MODEL or OPENAI_API_KEY for a real one"
)


@dataclass(frozen=True)
class Choices:
    """What the command line chose."""

    db: str
    model: str | None
    base_url: str | None
    preset: str | None
    settings: Path | None
    effort: str | None
    examples: str | None
    embedding: str
    as_json: bool
    asker: Asker
    audit: Path | None
    knowledge: str | None = None
    notes: str = ""
    annotator: str | None = None


def ask_once(question: str, choices: Choices, output: Output) -> int:
    """Answers one question and says how it went as an exit code."""
    if not question.strip():
        raise SettingsError("the question is empty: put it in quotes after the options")
    output.check()
    with opened(choices, None) as agent:
        for file in filter(None, (output.file, output.chart)):
            check_target(agent.resources.database, file)
        settings = dict(output.settings)
        if output.limit is not None and output.limit > agent.settings.rows:
            settings["rows"] = output.limit
        answer = answered(agent.conversation(), question, settings or None, choices.notes)
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


@contextmanager
def opened(choices: Choices, checkpointer: BaseCheckpointSaver[Any] | None) -> Generator[SQLAgent]:
    """The agent that the command line chose; says which translator answers where nobody chose one."""
    settings = _settings(choices)
    from ...tools.examples import default_location
    from ..sqlagent import SQLAgent

    with SQLAgent(
        choices.db,
        model=choices.model,
        settings=settings,
        examples=choices.examples or default_location(),
        embedding=choices.embedding,
        checkpointer=checkpointer,
        base_url=choices.base_url,
        allow=choices.asker.allow or None,
        deny=choices.asker.deny or (),
        permissions=choices.asker.permissions,
        user=choices.asker.user,
        audit=choices.audit,
        knowledge=choices.knowledge,
        annotator=choices.annotator,
    ) as agent:
        if choices.model is None and agent.resources.translator(agent.settings).name == "offline":
            warn(f"tableturn: {OFFLINE_LINE}")
        for warning in agent.resources.database.warnings:
            warn(f"tableturn: {warning}")
        _tell_problems(agent)
        yield agent


def _tell_problems(agent: SQLAgent) -> None:
    """Says which definitions are left out, and why."""
    knowledge = advise("knowledge", agent.resources.knowledge.now, None) if agent.resources.knowledge else None
    for problem in knowledge.problems if knowledge else ():
        warn(f"tableturn: left out of the knowledge: {problem}")


def _settings(choices: Choices) -> Settings:
    given = read_settings(choices.settings) if choices.settings else {}
    if choices.effort is not None:
        given["effort"] = choices.effort
    return make_settings(given, preset=choices.preset)


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
