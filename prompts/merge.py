"""Settling a disagreement: of the queries that several drafts came to, one more call decides or combines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .generate import GenerateTask
from .material import Material, fit
from .replies import Draft
from .task import Message, Prompt, Task
from .templating import render_messages


@dataclass(frozen=True)
class Proposal:
    """One side of a disagreement.

    Attributes:
        sql: The query.
        support: How many drafts came to its result.
        result_csv: The first rows of its result as CSV.
        feedback: What static checks say about it; may be empty.
    """

    sql: str
    support: int
    result_csv: str = ""
    feedback: str = ""


@dataclass(frozen=True)
class MergeTask(Task[Draft]):
    """Asks which of the proposals answers the question, or for a query that joins what is right in each.

    Consistency voting (CREDIT-SQL 5.2) lets the more frequent side win; here the two strongest are merged instead.

    Attributes:
        generate: The question and what is known about it.
        proposals: Queries with different results, the best supported first.
    """

    name: ClassVar[str] = "merge"

    generate: GenerateTask
    proposals: tuple[Proposal, ...]

    def render(self, budget: int) -> Prompt:
        """See `Task.render`."""
        return fit(budget, self.generate.material(), self._messages)

    def _messages(self, shown: Material, left_out: tuple[str, ...]) -> tuple[Message, ...]:
        return render_messages(
            "merge",
            merge=self,
            task=self.generate,
            shown=shown,
            schema_text=self.generate.schema_text(shown),
            left_out=left_out,
        )

    def parse(self, text: str) -> Draft:
        """The statement; see `find_sql`."""
        return self.generate.parse(text)
