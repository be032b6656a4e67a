"""The task that judges two queries, each on its own merits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, cast, get_args

from ..tools.database.quoting import get_engine_name
from ..tools.database.rendering.render import render_schema
from ..tools.database.schema import Schema
from ..tools.errors import ReplyError
from ..tools.linking import PastTurn
from ..tools.sql import find_requested_tables
from .cut_to_budget import PromptParts
from .reply_text import find_json_object, get_field, remove_reasoning_tags
from .task import Task
from .templating import line

Word = Literal["right", "wrong", "unclear"]
"""A verdict: would whoever asked accept the result as the answer?"""

Kind = Literal["context", "value", "schema", "logic", "columns", "join", "knowledge", "format"]
"""What is wrong with a query, where something is."""

_HINT = (
    'Reply with one JSON object: {"first": {"why": "...", "verdict": "right|wrong|unclear", "class": "..."}, '
    '"second": {...}}.'
)


@dataclass(frozen=True)
class JudgedQuery:
    """A query to judge, with its result."""

    sql: str
    result: str  # its first rows as CSV, or the error that it ends in
    rows: int | None  # None where it does not run
    only: str = ""  # rows that the other result lacks, as CSV; empty where that tells nothing


@dataclass(frozen=True)
class QueryVerdict:
    """The verdict on one query."""

    verdict: Word
    kind: Kind | Literal[""] = ""  # empty where nothing is wrong
    why: str = ""


@dataclass(frozen=True)
class QueryVerdictPair:
    """The verdicts on both queries."""

    first: QueryVerdict
    second: QueryVerdict


@dataclass(frozen=True)
class JudgeTask(Task[QueryVerdictPair]):
    """A task that asks whether each of two queries answers the question."""

    name: ClassVar[str] = "judge"

    question: str  # as asked
    history: tuple[PastTurn, ...]  # oldest first, with the SQL that answered each
    schema: Schema  # or the part that matters
    first: JudgedQuery
    second: JudgedQuery
    evidence: str = ""  # a hint that comes with the question
    data: tuple[tuple[str, str], ...] = ()  # each table that the queries read, with its first rows as CSV

    @property
    def engine(self) -> str:
        """The display name of the engine that runs the queries."""
        return get_engine_name(self.schema.dialect)

    def swap_queries(self) -> JudgeTask:
        """Return this task with the two queries swapped."""
        return replace(self, first=self.second, second=self.first)

    def parts(self) -> PromptParts:
        reads = find_requested_tables(self.schema, self.first.sql) | find_requested_tables(self.schema, self.second.sql)
        return PromptParts(self.schema, self.history, requested=reads, ranked=False)

    def make_values(self, parts: PromptParts) -> dict[str, object]:
        # What is merely probable is no ground for a verdict.
        return {"schema_text": render_schema(parts.schema.declared_only(), "compact", samples=parts.samples)}

    def parse(self, text: str) -> QueryVerdictPair:
        """Parse the verdicts on both queries from JSON.

        Raises:
            ReplyError: One of them is missing, or is no verdict.
        """
        record = find_json_object(remove_reasoning_tags(text)) or {}
        return QueryVerdictPair(_parse_query_verdict(record, "first"), _parse_query_verdict(record, "second"))


def _parse_query_verdict(record: dict[str, object], location: str) -> QueryVerdict:
    opinion = record.get(location)
    fields = cast("dict[str, object]", opinion) if isinstance(opinion, dict) else {}
    word = get_field(fields, "verdict").casefold()
    if word not in get_args(Word):
        raise ReplyError(f"the judge's reply has no verdict on the {location} query", "malformed", _HINT)
    kind = get_field(fields, "class", "kind").casefold()
    known_kind = kind if kind in get_args(Kind) and word != "right" else ""
    return QueryVerdict(cast("Word", word), cast("Kind", known_kind), line(get_field(fields, "why")))
