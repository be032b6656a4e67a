"""Events of a streamed turn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from langchain_core.messages import AIMessageChunk
from langgraph.types import Overwrite, StreamMode

from ...prompts.find_sql import find_partial_sql
from ..advice import call_with_fallback
from ..effects import TASK
from .answer import Answer
from .render import render_answer

STREAM_MODES: list[StreamMode] = ["custom", "updates", "values", "messages"]
"""What is asked of LangGraph: progress events, node updates, the state for the answer, and replies as they come."""

EventKind = Literal[
    "reading",
    "linked",
    "sql_delta",
    "sql",
    "rows",
    "early_answer",
    "note",
    "clarify",
    "error",
    "progress",
    "node",
    "answer",
]
"""What an event reports.

For people who watch, in this order: `reading` (the turn begins), `linked` (tables were found), `sql_delta` (a piece of
a query, while a model writes it), `sql` (a query is about to run), `rows` (it has run), `early_answer` (the answer
while its rows are counted: `answer` replaces its words and confidence), `note`, `clarify` (the turn asks back) and
finally `answer`. If the turn fails in a stream that cannot raise an error, `error` takes its place. For programs that
look inside: `progress` (within a node) and `node` (a node finished).
"""

EARLY: EventKind = "early_answer"

_WRITING_NODES = frozenset({"generate", "revise"})
"""Nodes of which there is one at a time, whose replies are this turn's SQL."""

_LONGEST_REPLY = 20_000
"""Characters of a reply that are told piece by piece; what is longer comes whole, once it is there."""


@dataclass(frozen=True)
class Event:
    """An event in the stream of a turn.

    Attributes:
        kind: One of `EventKind`.
        name: The node that sent it, or the progress event's name (`linked`, `executing`, `executed`, `revising`).
        data: The content, by kind. `reading`: question. `linked`: tables. `sql_delta`: text, draft (a number from 1;
            pieces with the same number belong to one draft). `sql`: sql. `rows`: sql, columns, row_count, error.
            `early_answer`: answer, choices, page, dates, as JSON. `note`: text. `clarify`: question, choices.
            `error`: kind, message. `node`: the node's state update.
        answer: The answer, if the kind is `answer`.
    """

    kind: EventKind
    name: str
    data: Mapping[str, Any]
    answer: Answer | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the event as plain JSON values."""
        if self.answer is not None:
            return {"event": self.kind, **render_answer(self.answer)}
        return {"event": self.kind, **self.data}


class EventReader:
    """A converter of LangGraph's stream into the events of one turn."""

    def __init__(self, *, deltas: bool) -> None:
        self._deltas = deltas
        self._past_notes: set[str] = set()
        self._sql = ""
        self._draft = 0
        self._reply_id: str | None = None
        self._reply, self._prefix = "", ""

    def read(self, mode: str, part: Any) -> Iterator[Event]:
        """Yield the events in one part of LangGraph's stream."""
        if mode == "custom":
            fields = dict(part)
            name = str(fields.pop("event", ""))
            yield Event("progress", name, fields)
            if name == "linked":
                yield Event("linked", "link", {"tables": fields["tables"]})
            elif name == "executing":
                self._sql = fields["sql"]
                yield Event("sql", "execute", {"sql": self._sql})
            elif name == "executed":
                yield Event("rows", "execute", {key: fields[key] for key in ("sql", "columns", "row_count", "error")})
        elif mode == "updates":
            for node, update in part.items():
                if isinstance(update, Mapping):
                    updates = cast("Mapping[str, Any]", update).items()
                    fields = {name: value.value if isinstance(value, Overwrite) else value for name, value in updates}
                    yield Event("node", node, fields)
                    yield from self._yield_note_events(node, fields.get("notes") or ())
        elif mode == "messages" and self._deltas:
            message, metadata = part
            node = str(metadata.get("langgraph_node", ""))
            if isinstance(message, AIMessageChunk) and metadata.get(TASK) and node in _WRITING_NODES:
                yield from self._yield_sql_delta(message, node)

    def end(self, answer: Answer) -> Iterator[Event]:
        """Yield the events that are still missing at the end of a turn, the answer last."""
        if answer.sql and answer.sql != self._sql:
            yield Event("sql", "respond", {"sql": answer.sql})
            if answer.answered:
                rows = {"sql": answer.sql, "columns": list(answer.columns), "row_count": answer.row_count}
                yield Event("rows", "respond", {**rows, "error": None})
        yield from self._yield_note_events("respond", answer.notes)
        if answer.status == "needs_clarification":
            yield Event("clarify", "clarify", {"question": answer.text, "choices": list(answer.choices)})
        yield Event("answer", "respond", {}, answer)

    def _yield_note_events(self, node: str, notes: Any) -> Iterator[Event]:
        """Yield one event for each note that was not reported yet."""
        for note in notes:
            if note not in self._past_notes:
                self._past_notes.add(note)
                yield Event("note", node, {"text": note})

    def _yield_sql_delta(self, message: AIMessageChunk, node: str) -> Iterator[Event]:
        """Yield the new piece of SQL in a model's reply, while the reply is written."""
        if message.id != self._reply_id:
            self._reply_id, self._reply, self._prefix = message.id, "", ""
            self._draft += 1
        self._reply += message.text
        if len(self._reply) > _LONGEST_REPLY:
            return
        sql = call_with_fallback("phrasing", lambda: find_partial_sql(self._reply), "")
        if len(sql) > len(self._prefix) and sql.startswith(self._prefix):
            text, self._prefix = sql[len(self._prefix) :], sql
            yield Event("sql_delta", node, {"text": text, "draft": self._draft})
