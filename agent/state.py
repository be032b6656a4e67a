"""The graph's state: one part for the conversation and one for the turn at hand, and how records go in and come back.

It holds plain JSON values only, so that any checkpointer, Studio and a person's edit of a checkpoint work; a record
read back is validated against its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Annotated, Any, TypeVar

from langgraph.graph import MessagesState
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from ..tools.errors import ConversationTooNew, TableturnError
from ..tools.linking import PastTurn
from .records import Attempt, Turn, Usage

T = TypeVar("T")

Record = dict[str, Any]  # a record's JSON form; `agent/records.py` names the types
Update = dict[str, Any]  # what a node writes: keys of the state with their new values


def add_drafts(before: list[Record], more: list[Record]) -> list[Record]:
    """Collect what nodes that run side by side write."""
    return [*before, *more]


def add_notes(before: list[str], more: list[str]) -> list[str]:
    """Add notes, each of them once."""
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
    """

    version: int  # the form of this state; `upgrade` reads older ones
    turns: list[Record]  # earlier turns (`PastTurn`), oldest first, at most the window
    question: str  # where it did not come as a message
    evidence: str  # notes that come with the next question; a turn takes them when it begins
    turn: Record  # a `Turn`
    sql: str  # the query to run next: what a person edits in a checkpoint
    sql_source: str  # where that query came from
    attempts: list[Record]  # queries run so far (`Attempt`)
    drafts: Annotated[list[Record], add_drafts]  # what nodes side by side wrote (`CandidateDraft`), in any order
    notes: Annotated[list[str], add_notes]  # for the answer: what was left out, repaired, or switched off
    usage: dict[str, Record]  # node name to `Usage`
    next: str  # the node that comes next, chosen by the last one
    answer: Record | None  # the `AnswerRecord`; None until `respond` has run


class AgentOutput(MessagesState, total=False):
    """What a turn gives back: the chat messages and the answer."""

    answer: Record | None


Upgrade = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Returns the keys that change from one version of the state to the next; never those with a reducer."""


UPGRADES: tuple[Upgrade, ...] = (lambda state: {},)  # 0.2 wrote no version; nothing else has changed
"""By the version that they upgrade; the current one is their number."""


def upgrade(state: Mapping[str, Any], upgrades: tuple[Upgrade, ...] = UPGRADES) -> Update:
    """Return what changes in a state that an older version saved; nothing if it is of this version."""
    version = state.get("version", 0)
    if not isinstance(version, int) or version > len(upgrades):
        raise ConversationTooNew(
            f"this conversation was saved by a newer version of tableturn (state {version!r}, this one reads up to "
            f"{len(upgrades)}): install that version, or start a new conversation"
        )
    changes: Update = {}
    for step in upgrades[version:]:
        changes |= step({**state, **changes})
    return {**changes, "version": len(upgrades)} if version < len(upgrades) else {}


@lru_cache(maxsize=64)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class _Known(dict[str, Any]):
    """A record's JSON form that still knows its record: most are read by one node after another, and never written.

    Copies, and what is read back from a checkpoint, are ordinary dictionaries, and are validated.
    """

    __slots__ = ("record",)

    def __init__(self, fields: Record, record: Any) -> None:
        super().__init__(fields)
        self.record = record

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


_written: dict[type[Any], _Known] = {}
"""By type, the record that was written last, whichever turn's: what it shares is seen field by field."""


def dump(value: Any) -> Record:
    """Return the JSON form of a record; it is not to be changed, but copied.

    Node after node changes a few fields of one record: what it shares with the one before is not written again.
    """
    kind = type(value)
    before = _written.get(kind)
    changed: set[str] | None = None
    if before is not None:
        changed = {name for name in before if getattr(value, name) is not getattr(before.record, name)}
    fields = _adapter(kind).dump_python(value, mode="json", include=changed)
    known = _Known(fields if before is None else {**before, **fields}, value)
    if kind in (Turn, PastTurn, Attempt):  # large, and of values that cannot change
        _written[kind] = known
    return known


def fields_of(value: Any, names: Iterable[str]) -> Record:
    """Return some of a record's fields as `dataclasses.asdict` has them, many times as quick."""
    return _adapter(type(value)).dump_python(value, include=set(names))


def dump_all(values: Sequence[Any]) -> list[Record]:
    """Return the JSON forms of several records."""
    return [dump(value) for value in values]


def load(kind: type[T], record: Any) -> T:
    """Return the record of that type from its JSON form."""
    if isinstance(record, _Known) and type(record.record) is kind:
        return record.record
    try:
        return _adapter(kind).validate_python(record)
    except ValidationError as error:
        first = error.errors()[0]
        field_name = ".".join(map(str, first["loc"]))
        raise TableturnError(
            f"the conversation's state holds a damaged {kind.__name__} ({field_name}: {first['msg']}): "
            "start a new conversation, or fix the checkpoint that was edited"
        ) from None


def checked(kind: type[Any], records: Sequence[Any]) -> list[Record]:
    """Return the JSON forms of several records of one type, validated once for whoever loads them later."""
    return [_Known(record, load(kind, record)) for record in records]


def load_all(kind: type[T], records: Sequence[Any] | None) -> tuple[T, ...]:
    """Return several records of one type."""
    return tuple(load(kind, record) for record in records or ())


def fresh_turn(question: str) -> Update:
    """Return the turn's part of the state as it stands before the first node."""
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


def step(following: str, turn: Turn, notes: Iterable[str] = (), **more: Any) -> Update:
    """Return the update with a turn and notes, after which a node comes next."""
    return {"turn": dump(turn), "notes": [*notes], "next": following, **more}


def turn_of(state: AgentState) -> Turn:
    """Return the turn at hand."""
    return load(Turn, state.get("turn"))


def attempts_of(state: AgentState) -> tuple[Attempt, ...]:
    """Return the queries run so far."""
    return load_all(Attempt, state.get("attempts"))


def usage_of(state: AgentState) -> dict[str, Usage]:
    """Return what each node has cost so far."""
    return {node: load(Usage, record) for node, record in state.get("usage", {}).items()}


def clarified_turn(state: AgentState) -> Turn | None:
    """Return the turn at hand, where a person has just explained the question; None where a new one starts."""
    return turn_of(state) if (state.get("turn") or {}).get("clarification") else None
