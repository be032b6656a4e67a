"""The task that explains what a query means and how it differs from the question."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..tools.database.rendering.render import render_schema
from ..tools.database.schema import Schema
from ..tools.sql import find_requested_tables
from .cut_to_budget import PromptParts
from .reply_text import find_json_object, get_field, remove_reasoning_tags
from .reply_types import Explanation
from .task import Task
from .templating import LINE_LIMIT, line

_NONE = frozenset({"", "none", "no", "no difference", "no differences", "n/a", "null", "nothing", "there are none"})


@dataclass(frozen=True)
class ExplainTask(Task[Explanation]):
    """A task that asks for the meaning of SQL and its differences from the question."""

    name: ClassVar[str] = "explain"

    question: str  # as the person put it
    rephrased: str  # self-contained
    sql: str
    schema: Schema  # the tables that the query uses are enough; they stay longest where room is short
    ranked: bool = True  # whether the schema is in order of probability, not as declared

    def parts(self) -> PromptParts:
        requested = find_requested_tables(self.schema, self.sql)
        return PromptParts(self.schema, samples=0, requested=requested, ranked=self.ranked)

    def make_values(self, parts: PromptParts) -> dict[str, object]:
        return {"schema_text": render_schema(parts.schema, "compact", samples=0)}

    def parse(self, text: str) -> Explanation:
        """Parse meaning and differences from JSON; take a reply in prose as the meaning."""
        reply = remove_reasoning_tags(text)
        record = find_json_object(reply) or {}
        meaning = get_field(record, "meaning", "explanation")
        if not meaning:
            return Explanation(line(reply, 3 * LINE_LIMIT))
        differences = get_field(record, "differences", "difference")
        return Explanation(meaning, "" if differences.lower().strip(" .") in _NONE else differences)
