"""A doubt about a gold query, and what every kind of search for them is given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias

from sqlglot import exp

from ...tools.database import Database, Limits, Schema, Table
from ...tools.errors import DatabaseUnavailable, QueryError, SQLParseError
from ...tools.sql import regularize
from ...tools.sql.parse import parse
from ..closing import Closing
from ..datasets import Dataset, Question
from ..metrics import StrictJudge

DisputeKind = Literal["fails", "value", "text", "join", "twin", "systems", "verdict"]
"""What speaks against a gold: it does not run; it looks for a value that is not written so; it compares text where
numbers or dates are meant; the same question has another gold; systems agree on something else; a reader says so."""

_LIMITS = Limits(seconds=30.0, rows=20_000, result_bytes=100_000_000)


@dataclass(frozen=True)
class Dispute:
    """A doubt about one gold query.

    Attributes:
        question: Whose gold it is.
        kind: What speaks against it.
        evidence: In a sentence, with what was found in the data.
    """

    question: Question
    kind: DisputeKind
    evidence: str


class Search(Protocol):
    """Looks for doubts of one kind."""

    def __call__(self, golds: Golds, /) -> Iterator[Dispute]:
        """Disputes in the dataset's order."""
        ...


class Golds(Closing):
    """A dataset's gold queries with their databases."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.judge = StrictJudge(dataset)
        self._databases: dict[str, Database | None] = {}
        self._trees: list[tuple[Question, exp.Expr, Schema]] | None = None

    def close(self) -> None:
        """See `Closing`."""
        self.judge.close()
        for database in self._databases.values():
            if database is not None:
                database.close()

    def schema(self, question: Question) -> Schema | None:
        """The schema of a question's database; None if that is missing."""
        database = self._database(question.database)
        return database.schema() if database is not None else None

    def run(self, question: Question, sql: str) -> Table | QueryError | None:
        """A query's result, or why there is none; None where the database is missing."""
        database = self._database(question.database)
        if database is None:
            return None
        try:
            return database.execute(sql, _LIMITS)
        except QueryError as error:
            return error

    @property
    def trees(self) -> Sequence[tuple[Question, exp.Expr, Schema]]:
        """Golds that can be parsed, in their regular form: columns are qualified, and strings are told from names."""
        if self._trees is None:
            self._trees = list(self._parsed())
        return self._trees

    def differs(self, question: Question, sql: str) -> bool:
        """Whether a query runs and gives another result than the gold."""
        verdict = self.judge.judge(question, sql)
        return verdict.valid and verdict.ex is False

    def contradicts(self, question: Question, sql: str) -> bool:
        """Whether a query says something else than the gold: not only more or fewer columns, or rows repeated."""
        if not self.differs(question, sql):
            return False
        ours, theirs = self.run(question, question.golds[0]), self.run(question, sql)
        if not isinstance(ours, Table) or not isinstance(theirs, Table) or set(ours.rows) == set(theirs.rows):
            return False
        one, other = (set(map(frozenset, zip(*table.rows, strict=True))) for table in (ours, theirs))
        return not (one <= other or other <= one)

    def _parsed(self) -> Iterator[tuple[Question, exp.Expr, Schema]]:
        for question in self.dataset.questions:
            schema = self.schema(question)
            if schema is None:
                continue
            try:
                yield question, parse(regularize(question.golds[0], schema)).tree, schema
            except SQLParseError:
                continue

    def _database(self, name: str) -> Database | None:
        if name not in self._databases:
            try:
                self._databases[name] = Database.open(self.dataset.place(name))
            except DatabaseUnavailable:
                self._databases[name] = None
        return self._databases[name]


Predictions: TypeAlias = Mapping[str, Mapping[str, str]]
"""SQL by question id, by the system's name."""


def home(column: exp.Column, schema: Schema) -> tuple[str, str] | None:
    """The table and column that a qualified column stands for; None where that is no table of the schema."""
    select = column.find_ancestor(exp.Select)
    sources = {table.alias_or_name.lower(): table.name for table in select.find_all(exp.Table)} if select else {}
    table = schema.table(sources.get(column.table.lower(), column.table))
    found = table.column(column.name) if table is not None else None
    return (table.name, found.name) if table is not None and found is not None else None
