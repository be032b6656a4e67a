"""The task that explains what a query means and how that differs from the question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..tools.database.rendering.render import render_schema
from ..tools.database.schema import Schema
from ..tools.linking import requested_tables
from .cut_to_budget import Parts
from .reply_text import clean_reply, find_json, text_field
from .reply_types import Explanation
from .task import Task
from .templating import LINE_LIMIT, line

_NONE = frozenset({"", "none", "no", "no difference", "no differences", "n/a", "null", "nothing", "there are none"})


@dataclass(frozen=True)
class ExplainTask(Task[Explanation]):
    """A task that asks what the SQL means and how that differs from the question."""

    name: ClassVar[str] = "explain"

    question: str  # as the person put it
    rephrased: str  # self-contained
    sql: str
    schema: Schema  # the tables that the query uses are enough; they stay longest where room is short
    ranked: bool = True  # whether the schema is in order of probability, not as declared

    def parts(self) -> Parts:
        return Parts(self.schema, samples=0, requested=requested_tables(self.schema, self.sql), ranked=self.ranked)

    def context(self, shown: Parts) -> dict[str, object]:
        return {"schema_text": render_schema(shown.schema, "compact", samples=0)}

    def parse(self, text: str) -> Explanation:
        """Return meaning and differences from JSON; a reply in prose counts as the meaning."""
        reply = clean_reply(text)
        record = find_json(reply) or {}
        meaning = text_field(record, "meaning", "explanation")
        if not meaning:
            return Explanation(line(reply, 3 * LINE_LIMIT))
        differences = text_field(record, "differences", "difference")
        return Explanation(meaning, "" if differences.lower().strip(" .") in _NONE else differences)
