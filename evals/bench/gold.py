"""Gold queries with their databases, for the benchmarks of the SQL tools."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from ...tools.database import Cell, Database, Limits, Schema
from ...tools.errors import DatabaseUnavailable, QueryError
from ..datasets import Dataset, load_dataset

_LIMITS = Limits(seconds=60.0, rows=1_000_000, result_bytes=1_000_000_000, memory_bytes=2_000_000_000)


@dataclass(frozen=True)
class Gold:
    """One gold query, met first at this question.

    Attributes:
        split: `dataset/split`.
        database: Its database's name.
        question: As asked.
        sql: As published.
    """

    split: str
    database: str
    question: str
    sql: str


class Databases:
    """A dataset's databases, each opened once."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._open: dict[str, Database | None] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Databases:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._stack.close()

    def get(self, name: str) -> Database | None:
        """A database; None if it is not there."""
        if name not in self._open:
            try:
                self._open[name] = self._stack.enter_context(Database.open(self._dataset.database(name)))
            except DatabaseUnavailable:
                self._open[name] = None
        return self._open[name]

    def schema(self, name: str) -> Schema | None:
        """A database's schema; None if it is not there."""
        database = self.get(name)
        return database.schema() if database is not None else None

    def run(self, name: str, sql: str) -> tuple[tuple[Cell, ...], ...] | QueryError:
        """A query's rows, or why there are none."""
        database = self.get(name)
        assert database is not None
        try:
            return database.execute(sql, _LIMITS).rows
        except QueryError as error:
            return error


def golds(data: Path, splits: tuple[tuple[str, str], ...], distinct: bool = True) -> Iterator[Gold]:
    """Gold queries of several splits.

    Args:
        data: The folder of benchmark data.
        splits: Pairs of a dataset's name and its split.
        distinct: Whether each query of a database comes only once.
    """
    seen: set[tuple[str, str]] = set()
    for name, split in splits:
        for question in load_dataset(name, split, data).questions:
            key = (question.database, question.golds[0])
            if not distinct or key not in seen:
                seen.add(key)
                yield Gold(f"{name}/{split}", question.database, question.text, question.golds[0])
