"""The records of a turn, as frozen data; `agent/state.py` puts them into the graph's state."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import chain
from typing import Literal, TypeVar, cast

from ..prompts.reply_types import Intent, Rephrasing, WriterComments
from ..tools.basis.basis import Basis
from ..tools.database.estimate import Estimate
from ..tools.database.session import Rights
from ..tools.database.table import Cell, PlainCell, Table, Withheld, convert_cell
from ..tools.examples.example import Example
from ..tools.formats import ColumnFormat
from ..tools.knowledge.entry import Entry
from ..tools.labels import IN_ENGLISH, Labels
from ..tools.ledger.ledger import Ledger
from ..tools.linking.linked import PastTurn
from ..tools.readings import Agreement, Outcome
from ..tools.sql import SearchedLiteral
from ..tools.values.match import ValueMatch

T = TypeVar("T")

Status = Literal["converged", "capped", "needs_clarification", "unanswerable", "failed"]
"""How a turn ended.

`converged`: there is an answer, and nothing asks for another attempt. `capped`: there is an answer, the best one when a
limit ended the attempts. `needs_clarification`: the turn waits for a person, who was asked back or has a query to
approve. `unanswerable`: the database cannot answer it, or it was not a question. `failed`: no query ran, or
the model could not be asked; the answer's text says why.
"""

StopKind = Literal[
    "gate", "same_sql", "same_result", "cycle", "attempts", "budget", "edited", "declined", "asked", "error", "schema"
]
"""Why a turn made no further attempt.

`gate`: the query passed every check. `same_sql`: a revision gave the SQL of the attempt before it. `same_result`: a
revision gave the result of the attempt before it. `cycle`: a revision gave the SQL or the result of an earlier attempt.
`attempts`: the settings allow no more. `budget`: calls, tokens or time ran out. `edited`: a person wrote the query.
`declined`: the agent declined the question, or a person the query. `asked`: the turn waits for a person. `error`: the
model or its reply was of no use, or a table is locked. `schema`: it was asked which tables there are.
"""

AttemptSource = Literal["draft", "candidate", "merged", "revision", "edited", "verified"]
"""Where a query came from; `candidate` is a draft that was not selected, `verified` a query that a person approved."""


@dataclass(frozen=True)
class PlainResult:
    """The result of a query with plain cells, as stored in the state and in answers."""

    columns: tuple[str, ...]  # names as the database gives them; may repeat
    rows: tuple[tuple[PlainCell, ...], ...]  # plain cells, each row as long as `columns`
    truncated: bool = False  # whether there were more rows than were fetched
    withheld: Withheld = ""  # whether cells, or all of it, may not leave and are not here; see `tools.masked_database`
    notes: tuple[str, ...] = ()  # what the engine remarks on it

    @property
    def row_count(self) -> int:
        """The number of rows that were fetched."""
        return len(self.rows)


@dataclass(frozen=True)
class CodeResult:
    """The result of a turn's pandas code (SQL-CRAFT 2)."""

    result: PlainResult
    index_columns: int = 0  # how many of the first columns are keys that a group-by left in the index
    sampled: tuple[str, ...] = ()  # tables of which the code saw only a sample
    labelled: bool = False  # whether these are single values under labels, which could be a row for each, or one row


@dataclass(frozen=True)
class CodeRun:
    """Pandas code and its result or error."""

    code: str
    result: CodeResult | None = None  # None if it failed or was not run
    error: str = ""  # empty if it gave a result or was not run


@dataclass(frozen=True)
class QueryComplexity:
    """The complexity of a query: unexpected tables and columns, joins, nested queries."""

    unexpected: float  # tables and columns that the linker did not expect: 1 - p, added up
    joins: int
    nested: int  # queries within it


@dataclass(frozen=True)
class Attempt:
    """A query that was run for a turn, with the result or the error."""

    sql: str
    source: AttemptSource = "draft"
    error: str | None = None  # None if it ran
    error_kind: str | None = None  # its class (`unknown_column`, ...)
    result: PlainResult | None = None
    findings: tuple[str, ...] = ()  # of static checks, a sentence each
    feedback: str = ""  # fed back for the next attempt
    confidence: float | None = None  # the translator's own; None where it gave none
    comments: WriterComments = field(default_factory=WriterComments)  # of its writer
    fit: float | None = None  # log-probability of its form and schema items for the question; only of several drafts
    literals: tuple[SearchedLiteral, ...] = ()  # what it compares with, and whether the database has that
    differences: str = ""  # from the question, by the model's explanation
    dialect: str = "sqlite"  # by sqlglot's name
    estimate: Estimate | None = None  # what the engine expected of it; None where that may not leave
    reach: QueryComplexity | None = None  # None where it cannot be read
    never: tuple[str, ...] = ()  # conditions of it that no row can fulfil, each with the reason
    misread: tuple[str, ...] = ()  # double-quoted names of no column, which SQLite reads as texts

    @property
    def row_count(self) -> int | None:
        """The number of rows in the result; None if the query failed or the number is withheld."""
        return self.result.row_count if self.result and self.result.withheld != "all" else None


@dataclass(frozen=True)
class StopReason:
    """The reason why a turn ends, and the status of the answer."""

    kind: StopKind
    why: str  # in words, for the answer
    status: Status  # of the answer, if its attempts bear it out


@dataclass(frozen=True)
class RevisionFeedback:
    """The feedback to a model for revising a query; empty parts are left out."""

    problems: str = ""  # the execution error and the static findings (revision chain 3.2.1 (1), SQL-CRAFT 2)
    explanation: str = ""  # what the SQL means and how that differs from the question (revision chain 3.2.1 (2))
    contents: str = ""  # values of the columns involved, those the question mentions first (revision chain 3.2.1 (3))
    result: str = ""  # the result as CSV (SQL-CRAFT 2, IC-Loop)
    code: str = ""  # the pandas code's result, where it differs from the SQL's

    @property
    def text(self) -> str:
        """All parts of the feedback as one text."""
        return "\n".join(filter(None, (self.problems, self.explanation, self.contents, self.result, self.code)))


@dataclass(frozen=True)
class Usage:
    """The cost of requests to a model: calls, tokens and time.

    Attributes:
        llm_calls: Requests to a model, including failed and repeated ones.
        prompt_tokens: Tokens of the prompts, as the model reports them, otherwise estimated.
        completion_tokens: Tokens of the replies, as the model reports them, otherwise estimated.
        seconds: Wall time of the node or turn.
    """

    llm_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return add_usages((self, other))

    @property
    def tokens(self) -> int:
        """The number of prompt and completion tokens together."""
        return self.prompt_tokens + self.completion_tokens


def add_usages(usages: Collection[Usage]) -> Usage:
    """Return the sum of the usages of consecutive requests."""
    return Usage(*(sum(values) for values in zip(*(vars(usage).values() for usage in usages), strict=True)))


def combine_parallel_usage(usages: Sequence[Usage]) -> Usage:
    """Return the usage of parallel nodes: the sum of calls and tokens, the longest time."""
    return replace(add_usages(usages), seconds=max((usage.seconds for usage in usages), default=0.0))


@dataclass(frozen=True)
class CandidateDraft:
    """One of several draft queries for a question."""

    number: int  # from 0
    attempt: Attempt | None = None  # its query, run and checked; None where there is no query
    stop: StopReason | None = None  # why there is none
    notes: tuple[str, ...] = ()
    caveats: tuple[str, ...] = ()
    usage: Usage = Usage()  # what it cost; its seconds count from when the drafts were started
    code: CodeRun | None = None  # pandas code, where the draft was reasoned in code
    understood: Rephrasing | None = None  # how its reply understood the question; None where it does not say


@dataclass(frozen=True)
class Readings:
    """The results of other possible readings of a question.

    Attributes:
        line: What other readings would change, in one line; empty if they change nothing.
        tried: The readings that were run.
        agreement: How many were run, and how many of them gave the same result.
    """

    line: str = ""
    tried: tuple[Outcome, ...] = ()
    agreement: Agreement = field(default_factory=Agreement)


@dataclass(frozen=True)
class OfferedReading:
    """An interpretation of the question that a person may choose, with its query."""

    words: str
    matter: str
    sql: str


@dataclass(frozen=True)
class Turn:
    """The data of the current turn; a new turn starts with only the question."""

    question: str  # without its words about a picture
    clarification: tuple[str, str] | None = None  # what was asked back, and the reply, until `rephrase` has read it
    clarifications: int = 0  # times this turn has asked back
    clarified: tuple[tuple[str, str], ...] = ()  # all that was asked back, with the replies, in order
    understood: bool = False  # whether a request of its own has made it so, before the SQL is asked for
    rephrasing: Rephrasing = field(default_factory=lambda: Rephrasing("", ""))  # as asked until a reply says more
    values: tuple[ValueMatch, ...] = ()  # database values that the question mentions, the surest first
    carried: tuple[ValueMatch, ...] = ()  # database values that the question mentions only with the turn before
    items: tuple[tuple[str, str | None, float], ...] = ()  # the linker's probabilities, most probable first
    shown: tuple[tuple[str, tuple[str, ...]], ...] = ()  # to the model, most probable first
    marked: tuple[tuple[str, str], ...] = ()  # items that earlier turns used; no column for the table itself
    all_columns: tuple[tuple[str, int], ...] = ()  # tables asked for whole, and where to say so
    base: PastTurn | None = None  # the past turn whose SQL is edited
    examples: tuple[Example, ...] = ()
    code: CodeRun | None = None  # pandas code, where the turn is reasoned in it
    confidence: float | None = None  # the translator's own in the query to run next
    comments: WriterComments = field(default_factory=WriterComments)  # of the writer of that query
    caveats: tuple[str, ...] = ()  # what the answer must say about that query, one sentence each
    feedback: RevisionFeedback = RevisionFeedback()  # what the next revision is told
    written: str = ""  # the query as it was written; where the state's `sql` differs, a person edited it
    approve: bool = False  # whether queries wait for approval, also when the turn is resumed with other settings
    candidates: int = 1  # how many drafts are written side by side
    candidate: int = 0  # the number of the draft that a `candidate` node writes, from 0
    started_at: float = 0.0  # when the drafts side by side were started, in Unix time
    to_save: tuple[str, ...] = ()  # queries approved with the wish to save the answer
    stop: StopReason | None = None  # why the turn ends; None while it goes on
    rights: Rights | None = None  # under which rights it was begun; None in older conversations
    asked: str = ""  # with them, where there are any
    evidence: str = ""  # notes that came with the question
    knowledge: tuple[Entry, ...] = ()  # definitions that the question needs, most specific first
    unknown: tuple[str, ...] = ()  # words of the question that nothing explains and a person was asked about, in order
    offered: tuple[OfferedReading, ...] = ()  # readings that a person was asked to choose among, with their queries
    sent: tuple[str, ...] = ()  # queries that were sent before that, for the audit trail's line on asking back

    @property
    def code_result(self) -> CodeResult | None:
        """The result of the pandas code, if it ran."""
        return self.code.result if self.code else None


@dataclass(frozen=True)
class AttemptView:
    """An attempt as shown in an answer.

    Attributes:
        sql: The query.
        error: Why the query gave no result; None if it ran.
        row_count: The number of rows in its result; None if it failed, or if even that number may not be sent to a
            model.
        feedback: What was fed back for the next attempt; empty if nothing was.
    """

    sql: str
    error: str | None
    row_count: int | None
    feedback: str

    @property
    def came(self) -> str:
        """The outcome of the query in words: the number of rows, or `ran`."""
        return self.tell_outcome(IN_ENGLISH)

    def tell_outcome(self, labels: Labels) -> str:
        """Return the outcome of the query in the words of the labels."""
        if self.error:
            return labels.say("query_failed", error=labels.say_error(self.error).rstrip("."))
        return labels.say("query_ran") if self.row_count is None else labels.say("rows", self.row_count)


@dataclass(frozen=True)
class UsedKnowledge:
    """A definition that an answer is based on.

    Attributes:
        kind: `term`, `metric`, `column`, `table`, `join` or `convention`.
        name: The name of what is defined.
        text: The definition.
        sql: Its SQL; empty if it has none.
        author: Who wrote it.
        added: The time it was added, in ISO 8601.
    """

    kind: str
    name: str
    text: str
    sql: str = ""
    author: str = ""
    added: str = ""

    @property
    def line(self) -> str:
        """The definition in one line."""
        return f"{self.kind} {self.name}: {self.text or self.sql}"


NoteKind = Literal["", "cut", "saved", "explained"]
"""What a note is about, for programs.

`cut`: the result has more rows. `saved`: whether the answer was saved as an example. `explained`: a word was explained
in the turn, and can be kept. Empty: anything else.
"""


@dataclass(frozen=True)
class Note:
    """A remark on an answer for its readers."""

    text: str
    kind: NoteKind = ""


@dataclass(frozen=True)
class AnswerSentence:
    """A sentence for an answer, written by a model with placeholders for cells.

    Attributes:
        say: The sentence with places for cells, which `SQLAgent.deliver` fills.
        rest: What the answer's text says after its first sentence.
    """

    say: str
    rest: str = ""


@dataclass(frozen=True, kw_only=True)
class AnswerRecord:
    """The data of an answer; see `tableturn.agent.Answer` for the fields."""

    question: str
    rephrased: str
    intent: Intent
    sql: str | None
    columns: tuple[str, ...] = ()
    rows: tuple[tuple[PlainCell, ...], ...] = ()
    row_count: int = 0
    truncated: bool = False
    status: Status
    text: str
    confidence: float = 0.0
    attempts: tuple[AttemptView, ...] = ()
    usage: Usage
    translator: str
    model: str
    notes: tuple[str, ...] = ()
    noted: tuple[Note, ...] = ()  # those of the notes that have a kind
    choices: tuple[str, ...] = ()
    stopped: str = ""
    simplified: str = ""
    self_contained: bool = True
    follow_up: bool = False  # whether the question followed earlier turns
    database: str = ""
    usage_by_node: dict[str, Usage] = field(default_factory=dict[str, Usage])
    stop_kind: StopKind | None = None
    explanation: str = ""
    rights: Rights | None = None
    withheld: Withheld = ""
    estimate: Estimate | None = None
    headings: tuple[str, ...] = ()
    formats: tuple[ColumnFormat, ...] = ()
    used_knowledge: tuple[UsedKnowledge, ...] = ()
    proposals: tuple[Entry, ...] = ()
    confidence_reason: str = ""
    trusted: bool | None = None
    trust_reason: str = ""
    evidence: dict[str, float] = field(default_factory=dict[str, float])
    basis: Basis | None = None
    readings: Readings = Readings()
    sentence: AnswerSentence | None = None
    ledger: Ledger | None = None
    locale: str | None = None


_PLAIN = frozenset({int, str, bool, type(None)})  # types of cells that are as they are; most results have no others


def make_plain_result(table: Table) -> PlainResult:
    """Convert a database result for the graph's state; large integers become text."""
    is_plain = _PLAIN.issuperset(map(type, chain.from_iterable(table.rows)))
    if is_plain and not any(map(_is_too_large, chain.from_iterable(table.rows))):
        rows = cast("tuple[tuple[PlainCell, ...], ...]", table.rows)
    else:
        # An integer may have more digits than Python writes.
        rows = tuple(
            tuple(str(Decimal(cast("int", cell))) if _is_too_large(cell) else convert_cell(cell) for cell in row)
            for row in table.rows
        )
    return PlainResult(table.columns, rows, table.truncated, table.withheld, table.notes)


def _is_too_large(cell: Cell) -> bool:
    """Whether a cell is an integer of more than the 64 bits that checkpoints hold."""
    return isinstance(cell, int) and not -(2**63) <= cell < 2**64
