"""The errors that tableturn raises, in one small hierarchy.

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
    "locked",
]
"""What went wrong with a query, in the terms that feedback to a model is written in.

`syntax`: it is not SQL of this dialect. `unknown_table`: it names a table that is not there, or is hidden.
`unknown_column`: it names a column that is not there, or is hidden. `ambiguous_column`: a column's name could mean
several columns. `aggregate_misuse`: an aggregate is in the wrong place, or a column beside it is not in GROUP BY.
`unknown_function`: it calls a function that the database lacks. `type_mismatch`: a value has a type that does not fit.
`timeout`: it exceeded its time limit. `too_large`: a value, the result or its memory exceeded a limit. `rejected`: it
asked for what is not allowed. `other`: anything else; the message says what. `too_costly`: it was expected to read more
than it may. `locked`: another program holds a lock on what it reads.
"""

ReplyErrorKind = Literal["empty", "refused", "cut", "malformed"]
"""Why a reply cannot be used.

`empty`: it has no text. `refused`: the model declined to answer. `cut`: it ended at the output limit. `malformed`: it
is not in the form that was asked for.
"""


class TableturnError(Exception):
    """The base class of all errors that tableturn raises on purpose.

    What to do: catch this class to handle all errors of tableturn in one place.
    """


class DatabaseUnavailable(TableturnError):
    """The database cannot be used: missing, empty, locked, damaged or an unsupported URL.

    What to do: check the path, URL, server or extra that the message names, or run `tableturn doctor`.
    """


class NothingReadable(DatabaseUnavailable):
    """The database has no table that this person may read.

    What to do: have the permissions changed, or name another person.
    """


class QueryError(TableturnError):
    """A query did not give a result; `kind` says why.

    What to do: check `kind`, or catch one of the classes below.
    """

    kind: QueryErrorKind = "other"

    def __init__(self, message: str, kind: QueryErrorKind | None = None) -> None:
        super().__init__(message)
        if kind is not None:
            self.kind = kind


class QueryRejected(QueryError):
    """The query asked for something forbidden, such as a write or a hidden table.

    What to do: change the query, or the permissions if this person may read the data.
    """

    kind: QueryErrorKind = "rejected"


class QueryFailed(QueryError):
    """The database could not run the query: bad SQL, or a name that does not exist.

    What to do: change the query as the message says.
    """


class QueryTimeout(QueryError):
    """The query exceeded its time limit, or was cancelled.

    What to do: make the query smaller, or raise the setting `query_seconds`.
    """

    kind: QueryErrorKind = "timeout"


class ResultTooLarge(QueryError):
    """A value, the result, or the memory needed for it exceeded its limit.

    What to do: ask for fewer rows or columns, or raise the setting that the message names.
    """

    kind: QueryErrorKind = "too_large"


class QueryTooCostly(QueryError):
    """The query may read more than allowed, or has no cost estimate; it was not run.

    What to do: make the query smaller, or raise the setting `estimated_rows` or `estimated_rows_per_day`.
    """

    kind: QueryErrorKind = "too_costly"


class TableLocked(QueryError):
    """Another program holds a lock on a table of the query; the query itself is fine.

    What to do: ask again when the other program has finished.
    """

    kind: QueryErrorKind = "locked"


class SQLParseError(TableturnError):
    """A text that should be one SQL query cannot be parsed as one.

    What to do: write one query, in the SQL dialect of the database.
    """


class ExampleStoreError(TableturnError):
    """The example store is unusable: another version or embedding, damaged, or unreachable.

    What to do: use the embedding that the store was made with, or rebuild it with `tableturn examples reindex`.
    """


class ExampleRefused(TableturnError):
    """An example was not added; the message gives the reason.

    What to do: correct the question or its SQL, and add the example again.
    """


class ExportError(TableturnError):
    """A result or chart cannot be written: wrong place or format, or a missing package.

    What to do: choose another file or format, or install the extra that the message names.
    """


class KnowledgeError(TableturnError):
    """A knowledge file, or a source that it extends, cannot be read or written.

    What to do: correct the file at that place. `tableturn knowledge check` lists all problems in the file.
    """


class SandboxUnavailable(TableturnError):
    """This kernel lacks what the sandbox needs; reasoning with code is off.

    What to do: use Linux 5.13 or newer, or accept weaker isolation with `TABLETURN_SANDBOX`.
    """


class SettingsError(TableturnError):
    """A setting, preset or settings file is wrong.

    What to do: correct the setting that the message names.
    """


class ReplyError(TableturnError):
    """A model's reply does not contain an answer in the requested form.

    What to do: ask again, raise `max_output_tokens` if the reply was cut, or use a stronger model.

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

    What to do: check the name, key and base URL. `tableturn doctor --model NAME` tests the model.
    """


class TurnCancelled(TableturnError):
    """A person cancelled the turn; the conversation is as it was before.

    What to do: ask again.
    """


class NothingToDecide(TableturnError):
    """A decision about a query was given, but no query is waiting for a decision.

    What to do: ask a question in words.
    """


class ConversationTooNew(TableturnError):
    """A saved conversation was written by a newer version of tableturn.

    What to do: install that version or a newer one, or start a new conversation.
    """


class AuditError(TableturnError):
    """A turn could not be written to the audit trail, so its answer was not given.

    What to do: check that the audit file is writable and the disk is not full, and ask again.
    """


class NotUnderstood(TableturnError):
    """The offline translator cannot understand a question, or parts of it; `words` lists them.

    What to do: use other words, or choose a model.

    Attributes:
        words: The words that it could not place.
    """

    def __init__(self, message: str, words: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.words = words
