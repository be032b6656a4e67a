"""What a streamed turn reports while it runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast

from langgraph.types import Overwrite, StreamMode

if TYPE_CHECKING:
    from .answer import Answer

STREAM_MODES: list[StreamMode] = ["custom", "updates", "values"]
"""What is asked of LangGraph: progress events, node updates, and the state for the answer."""


@dataclass(frozen=True)
class Event:
    """One thing that happened.

    Attributes:
        kind: `progress` (within a node), `node` (a node finished) or `answer` (the turn did).
        name: The progress event's name (`linked`, `executed`, `revising`), or the node's.
        data: The progress event's fields, or the node's state update.
        answer: With `answer`, the answer.
    """

    kind: Literal["progress", "node", "answer"]
    name: str
    data: Mapping[str, Any]
    answer: Answer | None = None


def read_events(mode: str, part: Any) -> Iterator[Event]:
    """The events in one part of LangGraph's stream."""
    if mode == "custom":
        fields = dict(part)
        yield Event("progress", str(fields.pop("event", "")), fields)
    elif mode == "updates":
        for node, update in part.items():
            if isinstance(update, Mapping):
                fields = cast("Mapping[str, Any]", update)
                yield Event("node", node, {name: _written(value) for name, value in fields.items()})


def _written(value: object) -> object:
    """What a node wrote, also where it replaced what was there."""
    return value.value if isinstance(value, Overwrite) else value
