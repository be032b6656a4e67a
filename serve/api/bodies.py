"""The bodies of requests and replies; unknown fields are refused."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag, field_validator, model_validator

from ..store import Thread

_Question = Annotated[str, Field(min_length=1, max_length=10_000, pattern=r"\S", description="In plain language.")]
_Notes = Annotated[
    str, Field(max_length=20_000, description="What to know beside the question: a definition, a convention.")
]
_SQL = Annotated[str, Field(min_length=1, max_length=50_000, pattern=r"\S", description="One reading statement.")]


def check_storable(value: Any) -> Any:
    """Return the value; raise an error if a store cannot keep its characters."""
    if isinstance(value, str):
        if "\0" in value:
            raise ValueError("a text must not have the character U+0000 in it")
        if any("\ud800" <= character <= "\udfff" for character in value):
            raise ValueError("a text must not have half a surrogate pair in it")
    return value


class Storable(BaseModel):
    """A model whose texts every store can keep."""

    _storable = field_validator("*")(check_storable)


class Body(Storable):
    """A request's body."""

    model_config = ConfigDict(extra="forbid")


class AskBody(Body):
    """A single question."""

    question: _Question
    notes: _Notes = ""


class Decision(Body):
    """A person's decision on a query that waits for approval."""

    action: Literal["approve", "edit", "reject"]
    sql: Annotated[str, Field(max_length=50_000)] = ""
    save: bool = False
    reason: Annotated[str, Field(max_length=2_000)] = ""

    @model_validator(mode="after")
    def _has_its_query(self) -> Decision:
        if self.action == "edit" and not self.sql.strip():
            raise ValueError("an edit takes the query to run instead: give `sql`")
        return self


class TurnBody(Body):
    """A question in a conversation, or a reply to the agent's question."""

    question: Annotated[
        Annotated[_Question, Tag("words")] | Annotated[Decision, Tag("decision")],
        Discriminator(lambda given: "words" if isinstance(given, str) else "decision"),
    ]
    notes: _Notes = ""
    approve: Annotated[bool, Field(description="Wait for approval before a query runs.")] = False
    leave: Annotated[bool, Field(description="Ask something new, and leave a query that waits for approval.")] = False


class AgainBody(Body):
    """The options of asking again."""

    approve: Annotated[
        bool | None, Field(description="Wait for approval before a query runs; as the turn did by default.")
    ] = None


class ThreadBody(Body):
    """A conversation's name."""

    title: Annotated[str, Field(max_length=200)] = ""


class RunBody(Body):
    """A query to run in place of a turn's."""

    sql: _SQL


class FeedbackBody(Body):
    """A person's feedback on an answer."""

    kind: Literal["approve", "correct", "note", "down"]
    sql: Annotated[str, Field(max_length=50_000, description="With `correct`, the right query.")] = ""
    question: Annotated[str, Field(max_length=10_000, description="What to keep as the question.")] = ""
    text: Annotated[
        str, Field(max_length=2_000, description="With `note`, the definition; else what is wrong with the answer.")
    ] = ""
    number: Annotated[int, Field(ge=0, le=1_000, description="With `note`: the turn's proposal to keep, from 1.")] = 0

    @model_validator(mode="after")
    def _has_its_words(self) -> FeedbackBody:
        if self.kind == "correct" and not (self.sql.strip() or self.text.strip()):
            raise ValueError("a correction takes the right query, or what is wrong in words: give `sql` or `text`")
        if self.kind == "note" and not (self.text.strip() or self.number):
            raise ValueError("a note takes the definition, or the number of a proposal: give `text` or `number`")
        return self


class LessonBody(Body):
    """What replaces a part of a lesson."""

    text: Annotated[str, Field(min_length=1, max_length=50_000, description="The new question, SQL or meaning.")]


class TokenBody(Body):
    """The server's token, for a session."""

    token: Annotated[str, Field(max_length=1_000)]


class ErrorReply(BaseModel):
    """An error."""

    kind: str
    message: str


class TurnReply(BaseModel):
    """A turn.

    `status` is `running`, `answered` (see the answer's own), `failed`, `stopped`, or `lost`: its worker is gone, and it
    can be asked again. `answer` has the keys of `tableturn ask --json`. `choices` are on offer where it asks back.
    `wording` is the question that it corrects the answer to; null if it is no correction.
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


@dataclass(frozen=True)
class ThreadWithTurns(Thread):
    """A conversation with its turns, oldest first."""

    turns: list[TurnReply]
