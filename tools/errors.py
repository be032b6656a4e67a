"""The errors that tableturn raises: one small hierarchy, so that a caller can catch as widely or narrowly as it likes.

Every message says what was wrong, with what, and what to do about it.
"""

from __future__ import annotations

from typing import Literal

QueryErrorKind = Literal[
    "syntax",
    "unknown_table",
    "unknown_column",
    "ambiguous_column",
    "aggregate_misuse",
    "unknown_function",
    "type_mismatch",
    "timeout",
    "too_large",
    "rejected",
    "other",
    "too_costly",
]
"""What went wrong with a query, in the terms that feedback to a model is written in."""

ReplyErrorKind = Literal["empty", "refused", "cut", "malformed"]
"""Why a reply cannot be used."""


class TableturnError(Exception):
    """Base of every error that tableturn raises on purpose."""


class DatabaseUnavailable(TableturnError):
    """The database cannot be used at all: no such file, not a database, empty, locked, or an unsupported URL."""


class QueryError(TableturnError):
    """A query did not give a result; `kind` says why."""

    kind: QueryErrorKind = "other"

    def __init__(self, message: str, kind: QueryErrorKind | None = None) -> None:
        super().__init__(message)
        if kind is not None:
            self.kind = kind


class QueryRejected(QueryError):
    """The query asked for something that is not allowed: a write, a pragma, a hidden table, a forbidden function."""

    kind: QueryErrorKind = "rejected"


class QueryFailed(QueryError):
    """The database could not run the query: it is not SQL, or it names what is not there."""


class QueryTimeout(QueryError):
    """The query ran past its time limit, or was cancelled."""

    kind: QueryErrorKind = "timeout"


class ResultTooLarge(QueryError):
    """A value, the result, or the memory needed for it passed its limit."""

    kind: QueryErrorKind = "too_large"


class QueryTooCostly(QueryError):
    """The query is expected to read more than it may, or nobody can tell how much it will; it was not run."""

    kind: QueryErrorKind = "too_costly"


class SQLParseError(TableturnError):
    """A text that should be one SQL query cannot be parsed as one."""


class ExampleStoreError(TableturnError):
    """The example store cannot be used: another version, another embedding, damaged, or unreachable."""


class ExampleRefused(TableturnError):
    """An example was not added; the message gives the reason."""


class ExportError(TableturnError):
    """A result or a chart cannot be written: where it should go, in what form, or for want of a package."""


class KnowledgeError(TableturnError):
    """A knowledge file, or a source that it extends, cannot be read or written; the message names the place."""


class SandboxUnavailable(TableturnError):
    """This kernel lacks what the sandbox needs; reasoning with code is off."""


class SettingsError(TableturnError):
    """A setting, preset or settings file is wrong."""


class ReplyError(TableturnError):
    """A model's reply holds no answer in the form that its task asked for.

    Attributes:
        kind: `empty`, `refused`, `cut` (by the output limit) or `malformed`.
        hint: One sentence for a second try, addressed to the model.
    """

    def __init__(self, message: str, kind: ReplyErrorKind = "malformed", hint: str = "") -> None:
        super().__init__(message)
        self.kind: ReplyErrorKind = kind
        self.hint = hint


class ModelError(TableturnError):
    """A model could not be reached, would not answer, or is unknown by name."""


class TurnCancelled(TableturnError):
    """A person ended the turn before its answer; the conversation stands as it did before it."""


class NothingToDecide(TableturnError):
    """A decision on a query was given where none waits for one."""


class AuditError(TableturnError):
    """A turn could not be written down where it has to be, so that its answer was not given."""


class NotUnderstood(TableturnError):
    """The offline translator cannot read a question, or parts of it; `words` names the parts.

    Attributes:
        words: The words that it could not place.
    """

    def __init__(self, message: str, words: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.words = words
