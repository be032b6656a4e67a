"""What a turn knows of the turns before it.

A conversation's turns lie in its state. Where that starts anew each time - the graph as a node of a parent graph, which
keeps only the messages - they are read from the messages instead: each answer carries its turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import AIMessage

from ..tools.linking import PastTurn
from .records import dump, load, load_all
from .settings import Settings
from .state import AgentState

KEY = "tableturn_turn"
"""Where a message carries its turn, among its additional arguments."""

ITEMS_CARRIED = 40
"""Schema probabilities that a message carries, most probable first."""


def past_turns(state: AgentState) -> tuple[PastTurn, ...]:
    """The conversation's turns that are still known, oldest first."""
    turns = state.get("turns")
    if turns:
        return load_all(PastTurn, turns)
    carried = (message.additional_kwargs.get(KEY) for message in state.get("messages", []) if message.type == "ai")
    return tuple(load(PastTurn, record) for record in carried if isinstance(record, Mapping))


def window(state: AgentState, settings: Settings) -> tuple[PastTurn, ...]:
    """The turns that this one sees (Track-SQL 3.1)."""
    return past_turns(state)[-settings.history_window :] if settings.history_window else ()


def remember(state: AgentState, turn: PastTurn, text: str, settings: Settings) -> dict[str, Any]:
    """The update that adds a finished turn to the conversation, and its answer to the chat."""
    turns = [*past_turns(state), turn][-max(settings.history_window, 1) :]
    record = dump(turn)
    carried = record | {"items": record["items"][:ITEMS_CARRIED]}
    return {
        "turns": [dump(past) for past in turns],
        "messages": [AIMessage(text, additional_kwargs={KEY: carried})],
    }
