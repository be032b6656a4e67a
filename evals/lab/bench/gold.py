"""Gold queries with their databases, for the benchmarks of the tools."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path

from ....tools.database import Cell, Database, Limits, Schema
from ....tools.errors import DatabaseUnavailable, QueryError
from ...datasets.load import ClosingContext, Dataset, GoldTurn, load_dataset

ALL_SPLITS = (
    ("spider", "train"),
    ("spider", "train_others"),
    ("spider", "dev"),
    ("sparc", "dev"),
    ("cosql", "train"),
    ("cosql", "dev"),
)
"""Every split whose databases are Spider's."""

PARTIAL = ("wta_1",)
"""Databases whose public copies lack rows, so that results on them mean nothing."""

LIMITS = Limits(seconds=60.0, rows=1_000_000, result_bytes=1_000_000_000, memory_bytes=2_000_000_000)
"""So wide that no gold query is cut."""

Rows = tuple[tuple[Cell, ...], ...]


class DatasetDatabases(ClosingContext):
    """A dataset's databases, each opened once."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self._open: dict[str, Database] = {}
        self._stack = ExitStack()

    def close(self) -> None:
        self._stack.close()

    def open(self, name: str) -> Database:
        """Return a database by name; open it on first use.

        Raises:
            DatabaseUnavailable: It is missing, or cannot be used.
        """
        if name not in self._open:
            self._open[name] = self._stack.enter_context(Database.open(self.dataset.locate(name)))
        return self._open[name]

    def get(self, name: str) -> Database | None:
        """Return a database; None if it is missing."""
        try:
            return self.open(name)
        except DatabaseUnavailable:
            return None

    def schema(self, name: str) -> Schema | None:
        """Return a database's schema; None if the database is missing."""
        database = self.get(name)
        return database.schema() if database is not None else None

    def run(self, name: str, sql: str) -> Rows | QueryError:
        """Return a query's rows, or the error if the query fails."""
        try:
            return self.open(name).execute(sql, LIMITS).rows
        except QueryError as error:
            return error


def read_golds(data: Path, splits: tuple[tuple[str, str], ...], distinct: bool = True) -> Iterator[GoldTurn]:
    """Yield the questions of several splits; if `distinct`, one question per gold query."""
    seen: set[tuple[str, str]] = set()
    for name, split in splits:
        for question in load_dataset(name, split, data).questions:
            key = (question.database, question.golds[0])
            if not distinct or key not in seen:
                seen.add(key)
                yield question


def group_golds(questions: Iterable[GoldTurn]) -> dict[str, list[str]]:
    """Return the first gold query of each question by database, repeats included."""
    queries: dict[str, list[str]] = {}
    for question in questions:
        queries.setdefault(question.database, []).extend(question.golds[:1])
    return queries


def read_gold_queries_by_file(data: Path) -> dict[Path, list[str]]:
    """Return the gold queries of `ALL_SPLITS` by database file."""
    spider, queries = load_dataset("spider", "dev", data), group_golds(read_golds(data, ALL_SPLITS, distinct=False))
    files = {root / name / f"{name}.sqlite": found for root in spider.databases for name, found in queries.items()}
    return {path: found for path, found in files.items() if path.is_file()}
