"""The task that judges two queries, each on its own merits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, cast, get_args

from ..tools.database.quoting import engine_name
from ..tools.database.rendering.render import render_schema
from ..tools.database.schema import Schema
from ..tools.errors import ReplyError
from ..tools.linking import PastTurn, requested_tables
from .cut_to_budget import Parts
from .reply_text import clean_reply, find_json, text_field
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
class Exhibit:
    """A query to judge, with its result."""

    sql: str
    result: str  # its first rows as CSV, or the error that it ends in
    rows: int | None  # None where it does not run
    only: str = ""  # rows that the other result lacks, as CSV; empty where that tells nothing


@dataclass(frozen=True)
class Opinion:
    """The verdict on one query."""

    verdict: Word
    kind: Kind | Literal[""] = ""  # empty where nothing is wrong
    why: str = ""


@dataclass(frozen=True)
class Judgement:
    """The verdicts on both queries."""

    first: Opinion
    second: Opinion


@dataclass(frozen=True)
class JudgeTask(Task[Judgement]):
    """A task that asks of each of two queries whether it answers the question."""

    name: ClassVar[str] = "judge"

    question: str  # as asked
    history: tuple[PastTurn, ...]  # oldest first, with the SQL that answered each
    schema: Schema  # or the part that matters
    first: Exhibit
    second: Exhibit
    evidence: str = ""  # a hint that comes with the question
    data: tuple[tuple[str, str], ...] = ()  # each table that the queries read, with its first rows as CSV

    @property
    def engine(self) -> str:
        """The name of the engine that runs the queries, for people."""
        return engine_name(self.schema.dialect)

    def swap_queries(self) -> JudgeTask:
        """Return this task with the two queries swapped."""
        return replace(self, first=self.second, second=self.first)

    def parts(self) -> Parts:
        used = requested_tables(self.schema, self.first.sql) | requested_tables(self.schema, self.second.sql)
        return Parts(self.schema, self.history, requested=used, ranked=False)

    def context(self, shown: Parts) -> dict[str, object]:
        # What is merely probable is no ground for a verdict.
        return {"schema_text": render_schema(shown.schema.declared_only(), "compact", samples=shown.samples)}

    def parse(self, text: str) -> Judgement:
        """Return both opinions from JSON.

        Raises:
            ReplyError: One of them is missing, or is no verdict.
        """
        record = find_json(clean_reply(text)) or {}
        return Judgement(_read_opinion(record, "first"), _read_opinion(record, "second"))


def _read_opinion(record: dict[str, object], place: str) -> Opinion:
    opinion = record.get(place)
    fields = cast("dict[str, object]", opinion) if isinstance(opinion, dict) else {}
    word = text_field(fields, "verdict").casefold()
    if word not in get_args(Word):
        raise ReplyError(f"the judge's reply has no verdict on the {place} query", "malformed", _HINT)
    kind = text_field(fields, "class", "kind").casefold()
    known = kind if kind in get_args(Kind) and word != "right" else ""
    return Opinion(cast("Word", word), cast("Kind", known), line(text_field(fields, "why")))
