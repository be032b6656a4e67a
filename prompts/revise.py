"""The tasks that correct SQL after it ran, and merge drafts (SQL-CRAFT 2)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from ..tools.errors import ReplyError
from .cut_to_budget import Prompt
from .generate import GenerateSQLTask
from .reply_types import SQLDraft, WriterComments
from .task import Task


@dataclass(frozen=True)
class ReviseSQLTask(Task[SQLDraft]):
    """A task that asks for the corrected SQL, or for the same SQL if it is right.

    The prompt's form is that of `generate.style`: `craft` shows the result as CSV and leaves all judgement to the
    model; `revision` gives error, explanation and contents; the others give all that there is, `full` after the very
    text that `generate` began with.
    """

    name: ClassVar[str] = "revise"

    generate: GenerateSQLTask
    sql: str  # the attempt to look at
    feedback: str  # findings in words
    error_kind: str | None = None  # of the error that the attempt ended in; None if it ran
    explanation: str = ""  # what the SQL means, and how that differs from the question
    result_csv: str = ""  # the first rows of its result
    contents: str = ""  # of the tables and columns involved
    code_result: str = ""  # what the pandas code gave, as CSV, where it disagrees or may help
    by_draft: bool = False  # whether examples were chosen by the attempt's SQL; the form `craft` shows them then alone

    def render(self, budget: int) -> Prompt:
        style = "plain" if self.generate.style in {"credit", "track"} else self.generate.style
        return self.generate.render_template(f"revise_{style}", budget, revise=self)

    def parse(self, text: str) -> SQLDraft:
        """Parse the corrected SQL, and the confidence if the reply's form includes one.

        One that asks back or declines leaves the attempt as it is: asking once more would cost a request.
        """
        if self.generate.reply == "sql":
            return self.generate.parse(text)
        with suppress(ReplyError):
            draft = self.generate.parse(text, "any")
            if draft.understood is not None and draft.declines:
                return SQLDraft(self.sql, comments=WriterComments(0.0, draft.understood.reply))
        return self.generate.parse(text, "answer")


@dataclass(frozen=True)
class MergeProposal:
    """One of several drafted queries with different results, with the number of its drafts."""

    sql: str
    support: int  # how many drafts came to its result
    result_csv: str = ""  # its first rows
    feedback: str = ""  # what static checks say about it


@dataclass(frozen=True)
class MergeProposalsTask(Task[SQLDraft]):
    """A task that asks which proposed query is right, or for a query that combines both.

    Consistency voting (CREDIT-SQL 5.2) lets the more frequent side win; here the two strongest are merged instead.
    """

    name: ClassVar[str] = "merge"

    generate: GenerateSQLTask
    proposals: tuple[MergeProposal, ...]  # with different results, the best supported first

    def render(self, budget: int) -> Prompt:
        return self.generate.render_template("merge", budget, merge=self)

    def parse(self, text: str) -> SQLDraft:
        return self.generate.parse(text, "sql")
