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
"""What went wrong with a query, in the terms that feedback to a model is written in.

`syntax`: it is not SQL of this dialect. `unknown_table`: it names a table that is not there, or is hidden.
`unknown_column`: it names a column that is not there, or is hidden. `ambiguous_column`: a column's name stands for
several. `aggregate_misuse`: an aggregate stands where none may, or a column beside one without being grouped by.
`unknown_function`: it calls a function that the database lacks. `type_mismatch`: a value has a type that does not fit.
`timeout`: it ran past its time. `too_large`: a value, the result or the memory for it passed its limit. `rejected`: it
asked for what is not allowed. `other`: anything else; the message says what. `too_costly`: it was expected to read more
than it may.
"""

ReplyErrorKind = Literal["empty", "refused", "cut", "malformed"]
"""Why a reply cannot be used.

`empty`: nothing was said. `refused`: the model would not answer. `cut`: it ended at the output limit. `malformed`: it
has another form than was asked for.
"""


class TableturnError(Exception):
    """Base of every error that tableturn raises on purpose.

    What to do: catch it where any of them is handled alike, and show its message.
    """


class DatabaseUnavailable(TableturnError):
    """The database cannot be used at all: no such file, not a database, empty, locked, or an unsupported URL.

    What to do: check the path or URL, the server and the extra that the message names; `tableturn doctor` looks too.
    """


class QueryError(TableturnError):
    """A query did not give a result; `kind` says why.

    What to do: read `kind`, or catch one of the classes below.
    """

    kind: QueryErrorKind = "other"

    def __init__(self, message: str, kind: QueryErrorKind | None = None) -> None:
        super().__init__(message)
        if kind is not None:
            self.kind = kind


class QueryRejected(QueryError):
    """The query asked for something that is not allowed: a write, a pragma, a hidden table, a forbidden function.

    What to do: ask for what may be read, or change the permissions.
    """

    kind: QueryErrorKind = "rejected"


class QueryFailed(QueryError):
    """The database could not run the query: it is not SQL, or it names something that does not exist.

    What to do: change the query as the message says.
    """


class QueryTimeout(QueryError):
    """The query exceeded its time limit, or was cancelled.

    What to do: narrow the query, or raise the setting `query_seconds`.
    """

    kind: QueryErrorKind = "timeout"


class ResultTooLarge(QueryError):
    """A value, the result, or the memory needed for it exceeded its limit.

    What to do: ask for fewer rows or columns, or raise the setting that the message names.
    """

    kind: QueryErrorKind = "too_large"


class QueryTooCostly(QueryError):
    """The query is expected to read more than it may, or its cost cannot be estimated; it was not run.

    What to do: narrow the query, or raise `estimated_rows` or `estimated_rows_per_day`.
    """

    kind: QueryErrorKind = "too_costly"


class SQLParseError(TableturnError):
    """A text that should be one SQL query cannot be parsed as one.

    What to do: give one query in the dialect of the database.
    """


class ExampleStoreError(TableturnError):
    """The example store cannot be used: another version, another embedding, damaged, or unreachable.

    What to do: name the embedding that it was made with, or rebuild it with `tableturn examples reindex`.
    """


class ExampleRefused(TableturnError):
    """An example was not added; the message gives the reason.

    What to do: correct the question or its SQL, and add it again.
    """


class ExportError(TableturnError):
    """A result or a chart cannot be written: the place or the format is wrong, or a package is missing.

    What to do: choose another file or form, or install the extra that the message names.
    """


class KnowledgeError(TableturnError):
    """A knowledge file, or a source that it extends, cannot be read or written; the message names the place.

    What to do: correct the file at that place; `tableturn knowledge check` looks through all of it.
    """


class SandboxUnavailable(TableturnError):
    """This kernel lacks what the sandbox needs; reasoning with code is off.

    What to do: use Linux 5.13 or newer, or accept less with `TABLETURN_SANDBOX` (docs/sandbox.md).
    """


class SettingsError(TableturnError):
    """A setting, preset or settings file is wrong.

    What to do: correct the field that the message names; docs/settings.md lists them all.
    """


class ReplyError(TableturnError):
    """A model's reply has no answer in the form that its task asked for.

    What to do: ask again, raise `max_output_tokens` where the reply was cut, or choose a stronger model.

    Attributes:
        kind: `empty`, `refused`, `cut` (by the output limit) or `malformed`.
        hint: One sentence for a second try, addressed to the model.
    """

    def __init__(self, message: str, kind: ReplyErrorKind = "malformed", hint: str = "") -> None:
        super().__init__(message)
        self.kind: ReplyErrorKind = kind
        self.hint = hint


class ModelError(TableturnError):
    """A model could not be reached, would not answer, or is unknown by name.

    What to do: check the name, key and base URL; `tableturn doctor --model NAME` asks it for one word.
    """


class TurnCancelled(TableturnError):
    """A person cancelled the turn before its answer; the conversation is as it was before the turn.

    What to do: ask again.
    """


class NothingToDecide(TableturnError):
    """A decision on a query was given where none waits for one."""


class AuditError(TableturnError):
    """A turn could not be written to the audit trail, so its answer was not given.

    What to do: make room, or make the file of `audit` writable, and ask again.
    """


class NotUnderstood(TableturnError):
    """The offline translator cannot read a question, or parts of it; `words` names the parts.

    What to do: say it in other words, or name a model.

    Attributes:
        words: The words that it could not place.
    """

    def __init__(self, message: str, words: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.words = words
