"""Gold queries with their databases and what published systems predict instead, and the form of a doubt about one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from sqlglot import exp

from ....tools.database import Limits, Schema, Table
from ....tools.errors import DatabaseUnavailable, QueryError, SettingsError, SQLParseError
from ....tools.sql import regularize
from ....tools.sql.parse import parse
from ...closing import Closing
from ...datasets import Dataset, Question
from ...metrics import StrictJudge, read_predictions
from ..bench.gold import Databases

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


class Golds(Closing):
    """A dataset's gold queries with their databases."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset
        self.judge = StrictJudge(dataset)
        self._databases = Databases(dataset)
        self._trees: list[tuple[Question, exp.Expr, Schema]] | None = None

    def close(self) -> None:
        self.judge.close()
        self._databases.close()

    def schema(self, question: Question) -> Schema | None:
        """Return the schema of a question's database; None if that is missing."""
        return self._databases.schema(question.database)

    def run(self, question: Question, sql: str) -> Table | QueryError | None:
        """Return a query's result, or why there is none; None if the database is missing."""
        try:
            return self._databases.open(question.database).execute(sql, _LIMITS)
        except DatabaseUnavailable:
            return None
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


Predictions: TypeAlias = Mapping[str, Mapping[str, str]]
"""SQL by question id, by the system's name."""


def home(column: exp.Column, schema: Schema) -> tuple[str, str] | None:
    """Return the table and column that a qualified column stands for; None if that is not a table of the schema."""
    select = column.find_ancestor(exp.Select)
    sources = {table.alias_or_name.lower(): table.name for table in select.find_all(exp.Table)} if select else {}
    table = schema.table(sources.get(column.table.lower(), column.table))
    found = table.column(column.name) if table is not None else None
    return (table.name, found.name) if table is not None and found is not None else None


def published_predictions(data: Path | None, dataset: Dataset) -> Predictions:
    """Return predictions for a split by the system's name: `predictions/spider_dev/*.sql` and `predictions/multi_turn`.

    Raises:
        SettingsError: A file there does not fit the split.
    """
    if data is None:
        return {}
    place = f"{dataset.name}_{dataset.split}"
    single = sorted((data / "predictions" / place).glob("*.sql"))
    dialogues = sorted((data / "predictions" / "multi_turn").glob(f"{place}.*.json"))
    found = {path.stem: read_predictions(path, dataset) for path in single}
    return found | {path.stem.partition(".")[2]: read_dialogues(path, dataset) for path in dialogues}


def read_dialogues(path: Path, dataset: Dataset) -> dict[str, str]:
    """Return SQL by question id of the dialogues that a file has; those that it lacks are missing.

    Raises:
        SettingsError: The file cannot be read.
    """
    try:
        dialogues = json.loads(path.read_text(encoding="utf-8"))
        known = {
            (dialogue["db_id"], *(turn["question"].strip() for turn in dialogue["turns"])): dialogue["turns"]
            for dialogue in dialogues
        }
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingsError(f"predictions: {path} cannot be read: {error!r}") from error
    return {
        question.id: str(turn["prediction"])
        for turns in dataset.interactions
        for question, turn in zip(
            turns, known.get((turns[0].database, *(turn.text.strip() for turn in turns)), ()), strict=False
        )
    }
