"""Correcting SQL from what became known by running it (SQL-CRAFT 2, IC-Loop; revision chain 3.2)."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import ClassVar

from ..tools.errors import ReplyError
from .generate import GenerateTask
from .parts import Prompt
from .replies import Draft
from .task import Task


@dataclass(frozen=True)
class ReviseTask(Task[Draft]):
    """Asks for the corrected SQL, or for the same SQL where it is right.

    The prompt's form is that of `generate.style`: `craft` shows the result as CSV and leaves all judgement to the
    model; `revision` gives error, explanation and contents; the others give all that there is, `full` after the very
    text that `generate` began with.

    Attributes:
        generate: The question and what is known about it.
        sql: The attempt to look at.
        feedback: Findings in words; may be empty.
        error_kind: The class of the error that the attempt ended in; None if it ran.
        explanation: What the SQL means, and how that differs from the question.
        result_csv: The first rows of its result as CSV.
        contents: Contents of the tables and columns involved.
        code_result: What the pandas code gave, as CSV, where it disagrees or may help.
        by_draft: Whether the examples were chosen by the attempt's SQL; the form `craft` shows them then alone.
    """

    name: ClassVar[str] = "revise"

    generate: GenerateTask
    sql: str
    feedback: str
    error_kind: str | None = None
    explanation: str = ""
    result_csv: str = ""
    contents: str = ""
    code_result: str = ""
    by_draft: bool = False

    def render(self, budget: int) -> Prompt:
        """See `Task.render`."""
        style = "plain" if self.generate.style in {"credit", "track"} else self.generate.style
        return self.generate.render_as(f"revise_{style}", budget, revise=self)

    def parse(self, text: str) -> Draft:
        """The statement, and how sure its writer is where the form of the reply has a place for that.

        One that asks back or declines leaves the attempt as it is: asking once more would cost a request.
        """
        if self.generate.reply == "sql":
            return self.generate.parse(text)
        with suppress(ReplyError):
            said = replace(self.generate, reply="any").parse(text)
            if said.understood is not None and said.declines:
                return Draft(self.sql, sure=0.0, doubt=said.understood.reply)
        return replace(self.generate, reply="answer").parse(text)
