"""The graph's state, for conversation and turn, and how records go in and out.

It holds plain JSON values only, so that any checkpointer, Studio and a person's edit of a checkpoint work; a record
read back is validated against its type.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from operator import add
from typing import Annotated, Any, TypeVar

from langgraph.graph import MessagesState
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from ..tools.errors import ConversationTooNew, TableturnError
from ..tools.validation import describe_fault
from .records import Attempt, Status, StopKind, StopReason, Turn, Usage

T = TypeVar("T")

Record = dict[str, Any]  # a record's JSON form; `agent/records.py` names the types
Update = dict[str, Any]  # what a node writes: keys of the state with their new values


def add_notes(before: list[str], more: list[str]) -> list[str]:
    """Return the notes in one list, without duplicates."""
    return list(dict.fromkeys([*before, *more]))


class AgentInput(TypedDict, total=False):
    """The input of a turn: chat messages or a bare question, and notes on it."""

    messages: list[Any]
    question: str
    evidence: str


class AgentState(MessagesState):
    """The state of the graph, which nodes read and write.

    Of the conversation: `messages` (as chat front ends want them), `turns` (the sliding window), `lessons` and
    `wordings`. Everything else is of the turn at hand and is reset when the next one starts.
    """

    version: int  # the form of this state; `upgrade` reads older ones
    turns: list[Record]  # earlier turns (`PastTurn`), oldest first, at most the window
    question: str  # where it did not come as a message
    evidence: str  # notes that come with the next question; a turn takes them when it begins
    turn: Record  # a `Turn`
    sql: str  # the query to run next: what a person edits in a checkpoint
    sql_source: str  # where that query came from
    attempts: list[Record]  # queries run so far (`Attempt`)
    drafts: Annotated[list[Record], add]  # what nodes side by side wrote (`CandidateDraft`), in any order
    notes: Annotated[list[str], add_notes]  # for the answer: what was left out, repaired, or switched off
    usage: dict[str, Record]  # node name to `Usage`
    next: str  # the node that comes next, chosen by the last one
    answer: Record | None  # the `AnswerRecord`; None until `respond` has run
    lessons: dict[str, str]  # ids of saved answers and definitions, by number in the list that was shown last
    wordings: dict[str, str]  # the question that a correction in words corrects the answer to, by the turn's question


class AgentOutput(MessagesState, total=False):
    """The output of a turn: the chat messages and the answer."""

    answer: Record | None


Upgrade = Callable[[Mapping[str, Any]], Mapping[str, Any]]
"""Returns the keys that change from one version of the state to the next; never those with a reducer."""

UPGRADES: tuple[Upgrade, ...] = (lambda state: {},)  # 0.2 wrote no version; nothing else has changed
"""By the version that they upgrade; the current one is their number."""


def upgrade(state: Mapping[str, Any], upgrades: tuple[Upgrade, ...] = UPGRADES) -> Update:
    """Return the changes that upgrade a saved state to the current version."""
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
def _make_type_adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


class _ValidatedRecord(dict[str, Any]):
    """The JSON form of a record, which also keeps the validated record.

    Copies, and what is read back from a checkpoint, are ordinary dictionaries, and are validated.
    """

    __slots__ = ("record",)

    def __init__(self, fields: Record, record: Any) -> None:
        super().__init__(fields)
        self.record = record

    def __reduce__(self) -> tuple[type[dict[str, Any]], tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def dump(value: Any) -> Record:
    """Return the JSON form of a record; copy it, never change it."""
    return _ValidatedRecord(_make_type_adapter(type(value)).dump_python(value, mode="json"), value)


def dump_fields(value: Any, names: Iterable[str]) -> Record:
    """Return some fields of a record as a dictionary, faster than `dataclasses.asdict`."""
    return _make_type_adapter(type(value)).dump_python(value, include=set(names))


def dump_all(values: Sequence[Any]) -> list[Record]:
    """Return the JSON forms of several records."""
    return [dump(value) for value in values]


def load(kind: type[T], record: Any) -> T:
    """Convert the JSON form of a record to a record of the given type."""
    if isinstance(record, _ValidatedRecord) and type(record.record) is kind:
        return record.record
    try:
        return _make_type_adapter(kind).validate_python(record)
    except ValidationError as error:
        raise TableturnError(
            f"the conversation's state holds a damaged {kind.__name__} ({describe_fault(error.errors()[0])}): "
            "start a new conversation, or fix the checkpoint that was edited"
        ) from None


def validate_records(kind: type[Any], records: Sequence[Any]) -> list[Record]:
    """Validate records of one type, and return their JSON forms."""
    return [_ValidatedRecord(record, load(kind, record)) for record in records]


def load_all(kind: type[T], records: Sequence[Any] | None) -> tuple[T, ...]:
    """Convert the JSON forms of several records to records of the given type."""
    return tuple(load(kind, record) for record in records or ())


def make_new_turn_update(question: str) -> Update:
    """Return the state update that starts a new turn with a question."""
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


def make_update(next_node: str, turn: Turn, notes: Iterable[str] = (), **more: Any) -> Update:
    """Return a state update with the turn, notes and the next node."""
    return {"turn": dump(turn), "notes": [*notes], "next": next_node, **more}


def end_turn(turn: Turn, kind: StopKind, why: str, status: Status, notes: Iterable[str] = ()) -> Update:
    """Return the update that ends the turn; if a limit ended it, add the reason to the notes."""
    return make_update(
        "respond", replace(turn, stop=StopReason(kind, why, status)), [*notes, why] if status == "capped" else notes
    )


def load_turn(state: AgentState) -> Turn:
    """Return the current turn."""
    return load(Turn, state.get("turn"))


def get_attempts(state: AgentState) -> tuple[Attempt, ...]:
    """Return the queries that the current turn has run so far."""
    return load_all(Attempt, state.get("attempts"))


def load_usage(state: AgentState) -> dict[str, Usage]:
    """Return the usage of each node in the current turn."""
    return {node: load(Usage, record) for node, record in state.get("usage", {}).items()}


def load_resumed(state: AgentState) -> Turn | None:
    """Return the current turn if a person just clarified it; None if a new turn starts."""
    return load_turn(state) if (state.get("turn") or {}).get("clarification") else None
