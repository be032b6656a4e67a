"""Asking a past answer's question again, where it stood in its conversation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ...tools.linking import PastTurn
from .history import PastAnswer

if TYPE_CHECKING:
    from ...agent import SQLAgent


class Asking:
    """Asks an agent; a turn of a conversation sees the turns before it as they were answered.

    Args:
        agent: Of the new state.
        history: All past answers, those of a conversation in their order.
    """

    def __init__(self, agent: SQLAgent, history: Sequence[PastAnswer]) -> None:
        self._agent = agent
        self._history = history

    def __call__(self, past: PastAnswer) -> tuple[str, str]:
        """See `Ask`."""
        conversation = self._agent.conversation()
        if earlier := self._earlier(past):
            config: Any = {"configurable": {"thread_id": conversation.thread}}
            self._agent.graph.update_state(config, {"turns": earlier}, as_node="respond")
        answer = conversation.ask(past.question)
        return answer.sql or "" if answer.answered else "", answer.status

    def _earlier(self, past: PastAnswer) -> list[dict[str, Any]]:
        if not past.thread:
            return []
        turns = [other for other in self._history if _conversation(other) == _conversation(past)]
        before = turns[: turns.index(past)]
        return [asdict(PastTurn(turn.question, turn.question, turn.sql)) for turn in before if turn.sql]


def _conversation(past: PastAnswer) -> tuple[str, str]:
    """The file or folder, and the thread in it."""
    return past.source.rpartition(":")[0], past.thread
