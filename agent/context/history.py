"""What a turn knows of the turns before it.

A conversation's turns are in its state. Where the state starts empty each time - the graph as a node of a parent graph,
which keeps only the messages - they are read from the messages instead: each answer carries its turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from langchain_core.messages import AIMessage

from ...tools.linking import PastTurn
from ..records import Turn, checked, dump, load_all
from ..resources import Run
from ..settings import Settings
from ..state import AgentState, Record

KEY = "tableturn_turn"
"""Where a message carries its turn, among its additional arguments."""

ITEMS_CARRIED = 40
"""Schema probabilities that a message carries, most probable first."""


def past_turns(state: AgentState) -> tuple[PastTurn, ...]:
    """The conversation's turns that are still known, oldest first."""
    return load_all(PastTurn, _records(state))


def known_turns(state: AgentState) -> list[Record]:
    """Their JSON forms, validated once for all nodes of the turn."""
    return checked(PastTurn, _records(state))


def _records(state: AgentState) -> list[Record]:
    if turns := state.get("turns"):
        return turns
    carried = (message.additional_kwargs.get(KEY) for message in state.get("messages", []) if message.type == "ai")
    return [dict(record) for record in carried if isinstance(record, Mapping)]


def readable_turns(state: AgentState, run: Run) -> tuple[PastTurn, ...]:
    """The turns before this one, without those that were answered under other rights than equal or narrower ones."""
    return tuple(turn for turn in past_turns(state) if run.resources.may_read(turn.rights))


def window(state: AgentState, run: Run) -> tuple[PastTurn, ...]:
    """The turns that this one sees (Track-SQL 3.1)."""
    return readable_turns(state, run)[-run.settings.history_window :] if run.settings.history_window else ()


def unread_note(state: AgentState, run: Run) -> str:
    """What to say of earlier turns that this one does not see for want of rights; empty where it sees all."""
    unread = len(past_turns(state)) - len(readable_turns(state, run))
    if not unread:
        return ""
    turns = "1 earlier turn was" if unread == 1 else f"{unread} earlier turns were"
    return f"{turns} left out: made under other permissions than these, or for somebody else"


def as_asked(turn: Turn) -> str:
    """The question in the person's words, with what they said about it since."""
    return " ".join([turn.question, *(f"({answered})" for _, answered in turn.clarified)])


def leaned_on(turn: Turn, history: tuple[PastTurn, ...]) -> str:
    """The question before, self-contained, where this one may lean on it and nothing has made it self-contained yet."""
    if turn.rephrasing.self_contained or not history:
        return ""
    return history[-1].rephrased or history[-1].question


def remember(state: AgentState, turn: PastTurn, text: str, settings: Settings) -> dict[str, Any]:
    """The update that adds a finished turn to the conversation, and its answer to the chat."""
    turns = [*known_turns(state), dump(turn)][-max(settings.history_window, 1) :]
    carried = dict(dump(replace(turn, items=turn.items[:ITEMS_CARRIED])))
    return {"turns": turns, "messages": [AIMessage(text, additional_kwargs={KEY: carried})]}
