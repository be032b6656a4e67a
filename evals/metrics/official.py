"""Judging as the published evaluators do (see `evals.official`)."""

from __future__ import annotations

from ...tools.errors import DatabaseUnavailable, QueryFailed
from ..closing import Closing
from ..datasets import Dataset, Question
from ..official import OfficialDatabases, execute_both
from .bird import BirdJudge
from .clauses import ClauseJudge
from .verdict import Verdict


def official_judge(dataset: Dataset, timings: int = 0) -> OfficialJudge | BirdJudge:
    """The judge that reproduces a dataset's published evaluator.

    Args:
        dataset: BIRD has its own; all others share the test-suite evaluator.
        timings: For BIRD's R-VES; 0 leaves it out.
    """
    return BirdJudge(dataset, timings) if dataset.name == "bird" else OfficialJudge(dataset)


class OfficialJudge(Closing):
    """Judges by the first gold alone, with the official evaluator's faults.

    Where the official tool stops (a gold that it cannot read or run), the verdict has no EX and says why.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._databases = OfficialDatabases(dataset.database)
        self._clauses = ClauseJudge(dataset, self._databases)

    def close(self) -> None:
        """See `Closing`."""
        self._databases.close()

    def judge(self, question: Question, sql: str) -> Verdict:
        """Judges one prediction."""
        level = self._clauses.hardness(question)
        try:
            execution = execute_both(sql, question.golds[0], question.database, self._databases)
        except (QueryFailed, DatabaseUnavailable) as error:
            return Verdict(question, sql, None, None, valid=False, hardness=level, error=str(error))
        matched = self._clauses.exact_match(question, sql)
        return Verdict(question, sql, execution.same, matched, not execution.error, level, execution.error)
