"""The graph's state: plain JSON values only, one part for the conversation and one for the turn at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any

from langgraph.graph import MessagesState
from typing_extensions import TypedDict

from ..tools.errors import ConversationTooNew
from .records import Attempt, Turn, Usage, dump, load, load_all

Record = dict[str, Any]
"""A record's JSON form; `agent/records.py` names the types."""


def add_drafts(before: list[Record], more: list[Record]) -> list[Record]:
    """Collects what nodes that run side by side write."""
    return [*before, *more]


def add_notes(before: list[str], more: list[str]) -> list[str]:
    """Adds notes, each of them once."""
    return list(dict.fromkeys([*before, *more]))


class AgentInput(TypedDict, total=False):
    """What starts a turn: chat messages, the last one a person's, or a bare question; and notes that come with it."""

    messages: list[Any]
    question: str
    evidence: str


class AgentState(MessagesState):
    """What nodes read and write.

    Of the conversation: `messages` (as chat front ends want them) and `turns` (the sliding window). Everything else is
    of the turn at hand and is reset when the next one starts.

    Attributes:
        version: The form of this state; `upgrade` reads older ones.
        turns: Earlier turns (`PastTurn`), oldest first, at most the window.
        question: The question, where it did not come as a message.
        evidence: Notes that come with the next question; a turn takes them when it begins.
        turn: A `Turn`.
        sql: The query to run next: what a person edits in a checkpoint.
        sql_source: Where that query came from.
        attempts: Queries run so far (`Attempt`).
        drafts: What nodes side by side wrote (`CandidateDraft`), in any order.
        notes: For the answer: what was left out, repaired, or switched off.
        usage: Node name to `Usage`.
        next: The node that comes next, chosen by the last one.
        answer: The `AnswerRecord`; None until `respond` has run.
    """

    version: int
    turns: list[Record]
    question: str
    evidence: str
    turn: Record
    sql: str
    sql_source: str
    attempts: list[Record]
    drafts: Annotated[list[Record], add_drafts]
    notes: Annotated[list[str], add_notes]
    usage: dict[str, Record]
    next: str
    answer: Record | None


class AgentOutput(MessagesState, total=False):
    """What a turn gives back: the chat messages and the answer."""

    answer: Record | None


Upgrade = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Returns the keys that change from one version of the state to the next; never those with a reducer."""


def _from_0_2(state: Mapping[str, Any]) -> Mapping[str, Any]:
    return {}  # 0.2 wrote no version; nothing else has changed


UPGRADES: tuple[Upgrade, ...] = (_from_0_2,)
"""By the version that they upgrade; the current one is their number."""


def upgrade(state: Mapping[str, Any], upgrades: tuple[Upgrade, ...] = UPGRADES) -> dict[str, Any]:
    """Return what changes in a state that an older version saved; nothing if it is of this version.

    Raises:
        ConversationTooNew: A newer version saved it.
    """
    version = state.get("version", 0)
    if not isinstance(version, int) or version > len(upgrades):
        raise ConversationTooNew(
            f"this conversation was saved by a newer version of tableturn (state {version!r}, this one reads up to "
            f"{len(upgrades)}): install that version, or start a new conversation"
        )
    changes: dict[str, Any] = {}
    for step in upgrades[version:]:
        changes |= step({**state, **changes})
    return {**changes, "version": len(upgrades)} if version < len(upgrades) else {}


def fresh_turn(question: str) -> dict[str, Any]:
    """The turn's part of the state as it stands before the first node."""
    return {
        "question": question,
        "evidence": "",
        "turn": dump(Turn(question)),
        "sql": "",
        "sql_source": "draft",
        "attempts": [],
        "drafts": [],
        "notes": [],
        "usage": {},
        "answer": None,
    }


def turn_of(state: AgentState) -> Turn:
    """The turn at hand.

    Raises:
        TableturnError: The state holds none that can be read.
    """
    return load(Turn, state.get("turn"))


def attempts_of(state: AgentState) -> tuple[Attempt, ...]:
    """The queries run so far."""
    return load_all(Attempt, state.get("attempts"))


def usage_of(state: AgentState) -> dict[str, Usage]:
    """What each node has cost so far."""
    return {node: load(Usage, record) for node, record in state.get("usage", {}).items()}


def clarified_turn(state: AgentState) -> Turn | None:
    """The turn at hand, where a person has just explained the question; None where a new one starts."""
    return turn_of(state) if (state.get("turn") or {}).get("clarification") else None
