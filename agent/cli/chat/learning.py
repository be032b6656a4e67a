"""Commands that teach the agent: examples, corrections, notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ....tools.errors import SettingsError
from .chat import Chat

if TYPE_CHECKING:
    from ....tools.knowledge import Entry
    from ...answers.learning import Saved


def approve(chat: Chat, rest: str) -> str:
    """Saves an answer."""
    return _approved(chat, rest, shared=False)


def share(chat: Chat, rest: str) -> str:
    """Saves an answer for every database."""
    return _approved(chat, rest, shared=True)


def _approved(chat: Chat, rest: str, *, shared: bool) -> str:
    answer, question = chat.chosen(rest, "approve")
    return _told(chat, chat.agent.approve(answer, question=question, shared=shared))


def correct(chat: Chat, rest: str) -> str:
    """Puts another query in an answer's place."""
    answer, sql = chat.chosen(rest, "correct")
    if not sql.strip():
        raise SettingsError("there is no query after /correct: write the right one there")
    found = chat.agent.correct(answer, sql.strip())
    chat.take(found.answer)
    chat.offered = found.proposals
    return "\n".join([found.answer.text, _told(chat, found.saved), *_offers(chat)])


def note(chat: Chat, rest: str) -> str:
    """Remembers a note."""
    return _noted(chat.agent.note(rest))


def accept(chat: Chat, number: str) -> str:
    """Remembers what was offered."""
    offered = chat.offered or (chat.held[-1].answer.proposals if chat.held else ())
    if not number.isdecimal() or not 1 <= int(number) <= len(offered):
        raise SettingsError(f"nothing is offered under {number or 'no number'}: /correct offers what it suggests")
    return _noted(chat.agent.remember(offered[int(number) - 1]))


def forget(chat: Chat, rest: str) -> str:
    """Takes a definition or an example out."""
    return f"forgot {chat.agent.forget(rest)}"


def _offers(chat: Chat) -> list[str]:
    if not chat.offered:
        return []
    lines = [f"  {number}. {entry.line}" for number, entry in enumerate(chat.offered, 1)]
    return ["this could be remembered, with /accept N:", *lines]


def _noted(entry: Entry) -> str:
    return f"remembered in {entry.source}: {entry.line}"


def _told(chat: Chat, saved: Saved) -> str:
    resources = chat.agent.resources
    whose = "every database" if saved.example.shared else f"{resources.database.name} alone"
    if not saved.new:
        return f"that is an example already ({saved.id})"
    told = f"saved {saved.example.question!r} as an example for {whose} ({saved.id})"
    if saved.replaced:
        told += ", in place of an earlier answer to it"
    if not resources.translator(chat.agent.settings).reads_examples:
        told += "; the offline translator reads no examples, a model will"
    return told
