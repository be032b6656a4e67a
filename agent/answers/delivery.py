"""Giving the person who asked the rows that may not leave.

What goes through the graph - prompts, state, checkpoints, traces - has marks in their place. The rows are read again
when the answer is handed over, by nothing but its SQL, and are kept nowhere.
"""

from __future__ import annotations

from dataclasses import replace

from ...tools.database import Database, Limits
from ...tools.errors import QueryError
from ..records import AnswerRecord, plain_result
from .phrasing import WITHHELD, about, headed, words_or_count


def deliver(answer: AnswerRecord, database: Database, limits: Limits) -> AnswerRecord:
    """The answer with its rows, and with words that say what they are; the same where nothing was withheld.

    Args:
        answer: As the graph gives it.
        database: Of the person who asked.
        limits: Of the query.
    """
    if not answer.withheld or answer.sql is None:
        return answer
    try:
        found = plain_result(database.execute(answer.sql, limits))
    except QueryError as error:
        why = f"No query for this question could be run: {error}"
        return replace(answer, status="failed", text=why, columns=(), rows=(), row_count=0, withheld="")
    known = about(found)
    called = headed(answer.sql, found.columns, database)
    words = [words_or_count(found, called), *known, answer.text.removeprefix(WITHHELD).strip()]
    return replace(
        answer,
        columns=found.columns,
        headings=tuple(heading.words for heading in called),
        rows=found.rows,
        row_count=found.row_count,
        truncated=found.truncated,
        text=" ".join(filter(None, words)),
        notes=(*answer.notes, *known),
        withheld="",
    )
