"""Settling a disagreement: of the queries that several drafts came to, one more call decides or combines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .generate import GenerateTask
from .parts import Prompt
from .replies import Draft
from .task import Task


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
        return self.generate.render_as("merge", budget, merge=self)

    def parse(self, text: str) -> Draft:
        """The statement; see `find_sql`."""
        return self.generate.statement(text)
