"""Strict judging, our own default: what a careful person would call the same answer, no more and no less."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType

from ...tools.database.database import Database
from ...tools.database.table import Limits, Table
from ...tools.errors import DatabaseUnavailable, QueryError
from ...tools.results import same_result
from ..datasets import Dataset, Question
from ..official import OfficialDatabases, suite_files
from .clauses import ClauseJudge
from .cutoff import CANDIDATES, Cutoff
from .ordering import Ordering, ordering, ties
from .verdict import Verdict

_GOLD_LIMITS = Limits(seconds=30.0, rows=200_000, result_bytes=200_000_000)
_KEPT_GOLDS = 32

_BY_CHANCE = re.compile(r"\brandom(blob)?\s*\(", re.IGNORECASE)
_OTHER_RESULT = "it gives another result each time it runs"
_TRIALS = 8
"""How often a gold that calls RANDOM is run again, to see whether its result is another."""


class _Unfit(QueryError):
    """A gold that runs, but cannot be judged by."""


@dataclass(frozen=True)
class _Gold:
    table: Table
    order: Ordering
    tied: Sequence[tuple[object, ...]] | None = None
    cutoff: Cutoff | None = None

    def allows(self, table: Table) -> bool:
        if same_result(self.table, table, self.order.ordered, self.tied):
            return True
        return self.cutoff is not None and self.cutoff.allows(table)


class StrictJudge:
    """Judges by every accepted gold, on every database of the question's schema.

    Rows are multisets, columns match jointly by content, order counts only where the gold's outermost level orders and
    then up to ties, of rows tied at its LIMIT any will do, numbers have a tolerance, DISTINCT stays, NULL equals NULL
    alone; every query runs read-only and within limits. EM is the published exact set match: it has no stricter form.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._names = OfficialDatabases(dataset.database)
        self._clauses = ClauseJudge(dataset, self._names)
        self._open: tuple[Path, Database] | None = None
        self._golds: OrderedDict[tuple[Path, str], _Gold] = OrderedDict()

    def __enter__(self) -> StrictJudge:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Closes what is open."""
        self._names.close()
        self._close_database()

    def judge(self, question: Question, sql: str) -> Verdict:
        """Judges one prediction."""
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
            reason = _why(question, _Unfit(_OTHER_RESULT))
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
            return self._gold(self._dataset.database(question.database), question.golds[0]).table
        except (QueryError, DatabaseUnavailable):
            return None

    def _accepted(self, question: Question) -> dict[Path, list[_Gold]]:
        """The golds' results, by database of the question's schema.

        Raises:
            QueryError: One of them cannot be judged by.
            DatabaseUnavailable: There is no such database.
        """
        files = suite_files(self._dataset.database(question.database), question.database)
        return {file: [self._gold(file, gold) for gold in question.golds] for file in files}

    def _same(self, file: Path, sql: str, golds: list[_Gold]) -> bool:
        # One row more than any gold has tells as much as all of them.
        most = max(len(gold.table.rows) for gold in golds)
        limits = Limits(seconds=30.0, rows=most + 1, result_bytes=_GOLD_LIMITS.result_bytes)
        table = self._database(file).execute(sql, limits)
        return any(gold.allows(table) for gold in golds)

    def _gold(self, file: Path, sql: str) -> _Gold:
        key = (file, sql)
        if key not in self._golds:
            self._golds[key] = self._run_gold(file, sql)
            if len(self._golds) > _KEPT_GOLDS:
                self._golds.popitem(last=False)
        self._golds.move_to_end(key)
        return self._golds[key]

    def _run_gold(self, file: Path, sql: str) -> _Gold:
        database = self._database(file)
        table = database.execute(sql, _GOLD_LIMITS)
        if table.truncated:
            raise _Unfit(f"a result of more than {_GOLD_LIMITS.rows:,} rows is too large", "too_large")
        gold = self._ordered(database, table, sql)
        for _ in range(_TRIALS if _BY_CHANCE.search(sql) else 0):
            if not gold.allows(database.execute(sql, _GOLD_LIMITS)):
                raise _Unfit(_OTHER_RESULT)
        return gold

    @staticmethod
    def _ordered(database: Database, table: Table, sql: str) -> _Gold:
        order = ordering(sql)
        if not order.with_keys or not table.rows:
            return _Gold(table, order)
        try:
            tied = ties(table, database.execute(order.with_keys, _GOLD_LIMITS), order.keys)
            if tied is None or not order.unlimited:
                return _Gold(table, order, tied)
            most = replace(_GOLD_LIMITS, rows=len(table.rows) + CANDIDATES)
            return _Gold(table, order, tied, Cutoff.of(tied, database.execute(order.unlimited, most)))
        except QueryError:
            return _Gold(table, order)

    def _database(self, file: Path) -> Database:
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
    if isinstance(error, _Unfit):
        return f"the gold query cannot be judged by: {error}"
    return f"the gold query does not run: {question.disputed or error}"
