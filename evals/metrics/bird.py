"""BIRD's own measures: EX by sets of rows, soft F1 and the reward-based valid efficiency score (R-VES).

Kept as published: repeated rows and order don't count, column order does; soft F1 compares rows by their place.
"""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from ...tools.errors import DatabaseUnavailable, QueryFailed
from ..closing import Closing
from ..datasets import Dataset, Question
from ..official import OfficialDatabases
from ..official.execution import Rows
from .verdict import Verdict


class BirdJudge(Closing):
    """Judges by the first gold as BIRD's scripts do.

    Args:
        dataset: BIRD, or questions in its form.
        timings: How often a right prediction and its gold are timed for R-VES (published: 100); 0 leaves it out.
    """

    def __init__(self, dataset: Dataset, timings: int = 0) -> None:
        self._dataset = dataset
        self._timings = timings
        self._databases = OfficialDatabases(dataset.database, seconds=30.0)

    def close(self) -> None:
        """See `Closing`."""
        self._databases.close()

    def judge(self, question: Question, sql: str) -> Verdict:
        """Judges one prediction; its measures are `soft_f1` and, where timed, `r_ves`."""
        gold = question.golds[0]
        try:
            file = self._dataset.database(question.database)
            expected = self._databases.gold_rows(file, gold)
        except (QueryFailed, DatabaseUnavailable) as error:
            return Verdict(question, sql, None, None, valid=False, hardness=question.level, error=str(error))
        try:
            got = self._databases.rows(file, sql) if sql.strip() else None
            error = "" if got is not None else "no prediction"
        except (sqlite3.Error, ValueError, OverflowError) as failure:
            got, error = None, str(failure)
        right = got is not None and set(got) == set(expected)
        measures = {"soft_f1": 0.0 if got is None else soft_f1(got, expected)}
        if self._timings:
            measures["r_ves"] = self._efficiency(file, sql, gold) if right else 0.0
        return Verdict(question, sql, right, None, got is not None, question.level, error, measures)

    def _efficiency(self, file: Path, sql: str, gold: str) -> float:
        ratios = [self._seconds(file, gold) / self._seconds(file, sql) for _ in range(self._timings)]
        return reward(_typical(ratios)) ** 0.5

    def _seconds(self, file: Path, sql: str) -> float:
        start = time.perf_counter()
        self._databases.rows(file, sql)
        return time.perf_counter() - start


def soft_f1(predicted: Rows, gold: Rows) -> float:
    """F1 over cells: rows without repetitions are compared place by place, each as a set of its values."""
    if not predicted and not gold:
        return 1.0
    ours, theirs = list(dict.fromkeys(predicted)), list(dict.fromkeys(gold))
    matched = only_predicted = only_gold = 0.0
    for row, wanted in zip(ours, theirs, strict=False):
        matched += sum(value in wanted for value in row) / len(wanted)
        only_predicted += sum(value not in wanted for value in row) / len(wanted)
        only_gold += sum(value not in row for value in wanted) / len(wanted)
    only_predicted += max(len(ours) - len(theirs), 0)
    only_gold += max(len(theirs) - len(ours), 0)
    precision = matched / (matched + only_predicted) if matched + only_predicted else 0.0
    recall = matched / (matched + only_gold) if matched + only_gold else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def reward(ratio: float) -> float:
    """R-VES's reward for a right prediction, by how many times faster than the gold it is."""
    steps = ((2.0, 1.25), (1.0, 1.0), (0.5, 0.75), (0.25, 0.5))
    return next((gain for least, gain in steps if ratio >= least), 0.25)


def _typical(ratios: Sequence[float]) -> float:
    """The mean of what lies within three standard deviations of the mean; all, where they don't vary."""
    middle, spread = statistics.fmean(ratios), statistics.pstdev(ratios)
    return statistics.fmean([ratio for ratio in ratios if abs(ratio - middle) < 3 * spread] or ratios)
