"""Commands about the conversation: taking turns back, asking again, what is kept, what it cost."""

from __future__ import annotations

from dataclasses import dataclass

from ....tools.errors import SettingsError
from ...conversations import kept_threads
from .chat import Chat


@dataclass(frozen=True)
class Ask:
    """A question to ask now."""

    question: str


def retry(chat: Chat, rest: str) -> Ask:
    """Asks the last question again, as if it had not been asked yet."""
    words = chat.lost
    if not words and any(held.asked for held in chat.held):
        words = chat.undo()
    if not words:
        raise SettingsError("there is no question in this session to ask again")
    return Ask(words)


def undo(chat: Chat, rest: str) -> str:
    """Takes the last turn back."""
    words = chat.undo()
    return f"taken back: {words}" if words else "the last turn was taken back"


def reset(chat: Chat, rest: str) -> str:
    """Begins anew."""
    chat.conversation.reset()
    chat.held.clear()
    chat.close()
    chat.offered, chat.lost, chat.draft = (), "", ""
    return "all turns are forgotten: the next question stands alone"


def threads(chat: Chat, rest: str) -> str:
    """Lists kept conversations."""
    kept = kept_threads(chat.checkpoints, chat.agent.resources.database.location)
    if not kept and chat.kept:
        return "no conversation with this database is kept yet; this one is from its first turn on"
    if not kept:
        return "no conversation with this database is kept: tableturn chat --thread NAME keeps one"
    lines = [f"  {thread.name}  (last used {thread.used:%Y-%m-%d %H:%M})" for thread in kept]
    return "\n".join(["kept conversations, to go on with by tableturn chat --thread NAME:", *lines])


def cost(chat: Chat, rest: str) -> str:
    """What it cost."""
    return chat.cost.told
