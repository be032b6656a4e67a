"""Strict judging, our own default: what a careful person would call the same answer, no more and no less."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from ...tools.database.database import Database
from ...tools.database.table import Limits, Table
from ...tools.errors import DatabaseUnavailable, QueryError
from ..closing import Closing
from ..datasets import Dataset, Question
from ..official import OfficialDatabases, suite_files
from .clauses import ClauseJudge
from .expected import GOLD_LIMITS, OTHER_RESULT, Expected, Unfit, expected
from .verdict import Verdict

_KEPT_GOLDS = 32

NO_GOLD = "no query answers it"
"""Why a question that is to be declined has no verdict."""


class StrictJudge(Closing):
    """Judges by every accepted gold, on every database of the question's schema.

    Rows are multisets, columns match jointly by content, order counts only where the gold's outermost level orders and
    then up to ties, of rows tied at its LIMIT any will do, numbers have a tolerance, DISTINCT stays, NULL equals NULL
    alone; every query runs read-only and within limits. EM is the published exact set match: it has no stricter form.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._names = OfficialDatabases(dataset.database)
        self._clauses = ClauseJudge(dataset, self._names)
        self._open: tuple[str | Path, Database] | None = None
        self._gold = lru_cache(_KEPT_GOLDS)(self._run_gold)

    def close(self) -> None:
        """Closes what is open."""
        self._names.close()
        self._close_database()

    def judge(self, question: Question, sql: str) -> Verdict:
        """Judges one prediction."""
        if not question.golds:
            return Verdict(question, sql, None, None, valid=False, hardness="", error=NO_GOLD)
        level = self._clauses.hardness(question)
        try:
            golds = self._accepted(question)
        except (QueryError, DatabaseUnavailable) as error:
            return Verdict(question, sql, None, None, valid=False, hardness=level, error=_why(question, error))
        matched = self._clauses.any_exact_match(question, sql)
        if not sql.strip():
            return Verdict(question, sql, False, matched, valid=False, hardness=level, error="no prediction")
        try:
            same = all(self._same(file, sql, accepted) for file, accepted in golds.items())
        except QueryError as error:
            return Verdict(question, sql, False, matched, valid=False, hardness=level, error=str(error))
        if not same and sql in question.golds:
            reason = _why(question, Unfit(OTHER_RESULT))
            return Verdict(question, sql, None, matched, valid=True, hardness=level, error=reason)
        return Verdict(question, sql, same, matched, valid=True, hardness=level)

    def unfit(self, question: Question) -> str:
        """Why a question's golds cannot be judged by; empty where they can."""
        try:
            self._accepted(question)
        except (QueryError, DatabaseUnavailable) as error:
            return _why(question, error)
        return ""

    def gold_table(self, question: Question) -> Table | None:
        """The first gold's result on the schema's first database; None where it does not run."""
        try:
            return self._gold(self._dataset.place(question.database), question.golds[0]).table
        except (QueryError, DatabaseUnavailable):
            return None

    def _accepted(self, question: Question) -> dict[str | Path, list[Expected]]:
        """The golds' results, by database of the question's schema.

        Raises:
            QueryError: One of them cannot be judged by.
            DatabaseUnavailable: There is no such database.
        """
        place = self._dataset.place(question.database)
        files = suite_files(place, question.database) if isinstance(place, Path) else [place]
        return {file: [self._gold(file, gold) for gold in question.golds] for file in files}

    def _same(self, file: str | Path, sql: str, golds: list[Expected]) -> bool:
        # One row more than any gold has tells as much as all of them.
        most = max(len(gold.table.rows) for gold in golds)
        limits = Limits(seconds=30.0, rows=most + 1, result_bytes=GOLD_LIMITS.result_bytes)
        table = self._database(file).execute(sql, limits)
        return any(gold.allows(table) for gold in golds)

    def _run_gold(self, file: str | Path, sql: str) -> Expected:
        return expected(self._database(file), sql)

    def _database(self, file: str | Path) -> Database:
        """One database is open at a time: questions come database by database."""
        if self._open is None or self._open[0] != file:
            self._close_database()
            self._open = (file, Database.open(file))
        return self._open[1]

    def _close_database(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None


def _why(question: Question, error: Exception) -> str:
    if isinstance(error, Unfit):
        return f"the gold query cannot be judged by: {error}"
    return f"the gold query does not run: {question.disputed or error}"
