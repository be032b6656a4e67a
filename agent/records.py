"""What a turn leaves behind, as frozen data, and how it goes into the graph's state and comes back.

The state holds plain JSON values only, so that any checkpointer, Studio and a person's edit of a checkpoint work; a
record read back is validated against its type.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

from pydantic import TypeAdapter, ValidationError

from ..prompts.replies import Intent
from ..tools.database.table import Cell, Table
from ..tools.errors import TableturnError
from ..tools.sql import Sought

T = TypeVar("T")

Status = Literal["converged", "capped", "needs_clarification", "unanswerable", "failed"]
"""How a turn ended."""

AttemptSource = Literal["draft", "candidate", "merged", "revision", "edited"]
"""Where a query came from; `candidate` is a draft that was not selected."""

PlainCell = int | float | str | None
"""A value that JSON can carry: bytes are written as SQL blob literals, infinities as words."""


@dataclass(frozen=True)
class Result:
    """A query's result as the state and answers carry it.

    Attributes:
        columns: Names as the database gives them; may repeat.
        rows: Plain cells, each row as long as `columns`.
        truncated: Whether there were more rows than were fetched.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[PlainCell, ...], ...]
    truncated: bool = False

    @property
    def row_count(self) -> int:
        """Rows fetched."""
        return len(self.rows)


@dataclass(frozen=True)
class CodeResult:
    """What the pandas code of a turn gave (SQL-CRAFT 2).

    Attributes:
        result: Its rows.
        index_columns: How many of the first columns are keys that a group-by left in the index.
        sampled: Tables of which the code saw only a sample.
        labelled: Whether these are single values under labels, which could be a row for each, or one row.
    """

    result: Result
    index_columns: int = 0
    sampled: tuple[str, ...] = ()
    labelled: bool = False


@dataclass(frozen=True)
class Attempt:
    """One query that was run for a turn.

    Attributes:
        sql: The query.
        source: Where it came from.
        error: Why it gave no result; None if it ran.
        error_kind: The error's class (`unknown_column`, ...); None if it ran.
        result: Its result; None if it failed.
        findings: What static checks say about it, one sentence each.
        faults: How many of the findings are errors.
        feedback: What was fed back for the next attempt; empty if nothing was.
        confidence: The translator's own; None where it gave none.
        fit: Log-probability of its form and schema items for the question, in nats; None where it cannot be told.
        named: Names of the columns that it uses and that the question probably asks for.
        sought: Texts and numbers that it looks for, and whether the database has them.
        doubted: Whether the model, asked what the query means, found that it differs from the question.
    """

    sql: str
    source: AttemptSource = "draft"
    error: str | None = None
    error_kind: str | None = None
    result: Result | None = None
    findings: tuple[str, ...] = ()
    faults: int = 0
    feedback: str = ""
    confidence: float | None = None
    fit: float | None = None
    named: tuple[str, ...] = ()
    sought: tuple[Sought, ...] = ()
    doubted: bool = False

    @property
    def row_count(self) -> int | None:
        """Rows of its result; None if it failed."""
        return self.result.row_count if self.result else None


@dataclass(frozen=True)
class Outcome:
    """Why a turn ends without a converged query."""

    status: Status
    text: str


@dataclass(frozen=True)
class NodeUsage:
    """What one node cost in a turn, summed over its runs.

    Attributes:
        llm_calls: Requests to a model, failed and repeated ones included.
        prompt_tokens: As the model reports them, estimated where it doesn't.
        completion_tokens: Likewise.
        seconds: Wall time of the node.
    """

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: NodeUsage) -> NodeUsage:
        return NodeUsage(
            self.llm_calls + other.llm_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.seconds + other.seconds,
        )


def side_by_side(usages: Sequence[NodeUsage]) -> NodeUsage:
    """What nodes cost together that were begun at the same time: the clock goes on for all of them at once."""
    seconds = max((usage.seconds for usage in usages), default=0.0)
    return replace(sum(usages, NodeUsage()), seconds=seconds)


@dataclass(frozen=True)
class CandidateDraft:
    """One of several drafts for a question.

    Attributes:
        number: From 0.
        attempt: Its query, run and looked at; None where no query came.
        failure: Why none came.
        capped: Whether that was a budget.
        notes: For the answer.
        caveats: As the draft has them.
        usage: What it cost; its seconds are those since the drafts were begun.
        code: Pandas code, where reasoned.
        code_result: What that gave, or None.
        code_error: Why it gave none.
    """

    number: int
    attempt: Attempt | None = None
    failure: str = ""
    capped: bool = False
    notes: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    usage: NodeUsage = NodeUsage()
    code: str = ""
    code_result: CodeResult | None = None
    code_error: str = ""


@dataclass(frozen=True)
class AttemptView:
    """An attempt as an answer shows it."""

    sql: str
    error: str | None
    row_count: int | None
    feedback: str


@dataclass(frozen=True)
class AnswerRecord:
    """Everything that an answer says; see `tableturn.agent.Answer` for its fields."""

    question: str
    rephrased: str
    intent: Intent
    sql: str | None
    columns: tuple[str, ...]
    rows: tuple[tuple[PlainCell, ...], ...]
    row_count: int
    truncated: bool
    status: Status
    text: str
    confidence: float
    attempts: tuple[AttemptView, ...]
    usage: NodeUsage
    translator: str
    model: str
    notes: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    stopped: str = ""
    simplified: str = ""
    self_contained: bool = True
    database: str = ""
    usage_by_node: dict[str, NodeUsage] = field(default_factory=dict[str, NodeUsage])


def plain_cell(cell: Cell) -> PlainCell:
    """The value as JSON can carry it."""
    if isinstance(cell, bytes):
        return f"x'{base64.b16encode(cell).decode()}'"
    if isinstance(cell, float) and not math.isfinite(cell):
        return "NaN" if math.isnan(cell) else ("Infinity" if cell > 0 else "-Infinity")
    return cell


def plain_result(table: Table) -> Result:
    """A database result as the state carries it."""
    return Result(table.columns, tuple(tuple(map(plain_cell, row)) for row in table.rows), table.truncated)


@lru_cache(maxsize=64)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def dump(value: Any) -> Any:
    """The JSON form of a record."""
    return _adapter(type(value)).dump_python(value, mode="json")


def dump_all(values: Sequence[Any]) -> list[Any]:
    """The JSON forms of several records."""
    return [dump(value) for value in values]


def load(kind: type[T], record: Any) -> T:
    """The record of that type from its JSON form.

    Raises:
        TableturnError: It is not of that form, as after a faulty edit of a checkpoint.
    """
    try:
        return _adapter(kind).validate_python(record)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise TableturnError(
            f"the conversation's state holds a damaged {kind.__name__} ({place}: {first['msg']}): "
            "start a new conversation, or mend the checkpoint that was edited"
        ) from None


def load_all(kind: type[T], records: Sequence[Any] | None) -> tuple[T, ...]:
    """Several records of one type."""
    return tuple(load(kind, record) for record in records or ())
