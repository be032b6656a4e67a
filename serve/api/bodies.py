"""The bodies of requests and replies; unknown fields are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from ...agent.answers.paging import ResultPage
from ..store import Thread

_Question = Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S", description="In plain language.")]
_Notes = Annotated[
    str, Field(max_length=20_000, description="What to know beside the question: a definition, a convention.")
]
_SQL = Annotated[str, Field(min_length=1, max_length=50_000, pattern=r"\S", description="One reading statement.")]


def check_storable_text(value: Any) -> Any:
    """Return a value; raise `ValueError` if a text has characters that cannot be stored."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a text must not contain the character U+0000")
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise ValueError("a text must not contain half a surrogate pair")
    return value


class StorableModel(BaseModel):
    """A pydantic model whose texts have only characters that every database can store."""

    _storable = field_validator("*")(check_storable_text)


class RequestBody(StorableModel):
    """The body of a request, without unknown fields."""

    model_config = ConfigDict(extra="forbid")


class AskBody(RequestBody):
    """The request body for a single question outside a conversation."""

    question: _Question
    notes: _Notes = ""


class Decision(RequestBody):
    """A person's decision on a query that waits for approval."""

    action: Literal["approve", "edit", "reject"]
    sql: Annotated[str, Field(max_length=50_000)] = ""
    save: bool = False
    reason: Annotated[str, Field(max_length=2_000)] = ""

    @model_validator(mode="after")
    def _check_edit_has_query(self) -> Decision:
        if self.action == "edit" and not self.sql.strip():
            raise ValueError("an edit takes the query to run instead: give `sql`")
        return self


class TurnBody(RequestBody):
    """The request body of a turn: a question, or a reply to the agent's question."""

    question: Annotated[
        Annotated[_Question, Tag("words")] | Annotated[Decision, Tag("decision")],
        Discriminator(lambda value: "words" if isinstance(value, str) else "decision"),
    ]
    notes: _Notes = ""
    approve: Annotated[bool, Field(description="Wait for approval before a query runs.")] = False
    leave: Annotated[bool, Field(description="Ask something new, and leave a query that waits for approval.")] = False


class AskAgainBody(RequestBody):
    """The request body for asking a question again."""

    approve: Annotated[
        bool | None, Field(description="Wait for approval before a query runs; as the turn did by default.")
    ] = None


class ThreadBody(RequestBody):
    """The request body with the title of a conversation."""

    title: Annotated[str, Field(max_length=200)] = ""


class RunQueryBody(RequestBody):
    """The request body with a query to run instead of a turn's own query."""

    sql: _SQL


class FeedbackBody(RequestBody):
    """The request body with a person's feedback on an answer."""

    kind: Literal["approve", "correct", "note", "down"]
    sql: Annotated[str, Field(max_length=50_000, description="With `correct`, the right query.")] = ""
    question: Annotated[str, Field(max_length=10_000, description="What to keep as the question.")] = ""
    text: Annotated[
        str, Field(max_length=2_000, description="With `note`, the definition; else what is wrong with the answer.")
    ] = ""
    number: Annotated[int, Field(ge=0, le=1_000, description="With `note`: the turn's proposal to keep, from 1.")] = 0

    @model_validator(mode="after")
    def _check_feedback_has_content(self) -> FeedbackBody:
        if self.kind == "correct" and not (self.sql.strip() or self.text.strip()):
            raise ValueError("a correction takes the right query, or what is wrong in words: give `sql` or `text`")
        if self.kind == "note" and not (self.text.strip() or self.number):
            raise ValueError("a note takes the definition, or the number of a proposal: give `text` or `number`")
        return self


class LessonBody(RequestBody):
    """The request body with the new text of a saved answer or definition."""

    text: Annotated[str, Field(min_length=1, max_length=50_000, description="The new question, SQL or meaning.")]


class SignInBody(RequestBody):
    """The request body with the server's token, which begins a browser session."""

    token: Annotated[str, Field(max_length=1_000)]


class ErrorReply(BaseModel):
    """The kind and message of an error."""

    kind: str
    message: str


class TurnReply(BaseModel):
    """A turn as the API returns it.

    `status` is `running`, `answered` (see the answer's own), `failed`, `stopped`, or `lost`: its worker is gone, and it
    can be asked again. `answer` has the keys of `tableturn ask --json`. `choices` are on offer where it asks back.
    `wording` is the question that it corrects the answer to; null if it is no correction. `page` has the answer's first
    rows as people read them, as `GET /turns/{id}/rows` gives them, and `dates` those of its basis.
    """

    id: str
    thread: str
    question: str
    status: Literal["running", "answered", "failed", "stopped", "lost"]
    begun: float
    ended: float | None
    answer: dict[str, Any] | None
    choices: list[str]
    error: ErrorReply | None
    feedback: dict[str, Any] | None
    wording: str | None
    page: ResultPage | None
    dates: dict[str, str]


@dataclass(frozen=True)
class ThreadWithTurns(Thread):
    """A conversation with its turns, oldest first."""

    turns: list[TurnReply]
