"""Why a wrong answer is wrong, by the papers' categories, as far as a program can tell them apart."""

from __future__ import annotations

from typing import Literal

from .clauses import ClauseJudge
from .verdict import Verdict

ErrorClass = Literal["no answer", "does not run", "gold error", "DB value", "imprecise", "logic"]
"""SQL-CRAFT's table 3, with the answers that never got that far.

`gold error` is a disputed gold; `DB value` the right query with other constants; `imprecise` columns too many;
`logic` every other difference. SQL-CRAFT's `ambiguity` takes a reader, and counts as `logic` or `imprecise` here.
"""


def error_class(verdict: Verdict, clauses: ClauseJudge) -> ErrorClass | None:
    """The category of a wrong answer; None for a right one."""
    question, sql = verdict.question, verdict.sql
    if verdict.ex or not verdict.asked:
        return None
    if question.disputed or verdict.ex is None:
        return "gold error"
    if not sql:
        return "no answer"
    if not verdict.valid:
        return "does not run"
    if verdict.em:
        return "DB value"
    predicted, wanted = clauses.outputs(question, sql), clauses.outputs(question, question.golds[0])
    if predicted is not None and wanted is not None and predicted > wanted:
        others = set(clauses.differing(question, sql)) - {"select", "keywords"}
        return "logic" if others else "imprecise"
    return "logic"
