"""What a judge is shown of a disagreement: both queries in one form, both results, and the data that they read."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...prompts.judge import Exhibit, JudgeTask
from ...tools.database import Cell, Database, Limits, Table
from ...tools.database.quoting import quoted
from ...tools.errors import QueryError, SQLParseError
from ...tools.linking import PastTurn, requested
from ...tools.sql import regularize
from ..closing import Closing
from ..datasets import Dataset, Question
from ..official.execution import whole_operators

SHOWN_ROWS = 10
"""Rows of each result; the template says where there are more."""

_LACKED_ROWS = 4
_TABLE_ROWS = 3
_TABLES = 5
_LIMITS = Limits(seconds=30.0, rows=1_000)


@dataclass(frozen=True)
class Case:
    """An answer beside the gold query.

    Attributes:
        question: What was asked.
        sql: The answer.
        gold: What it is put beside.
    """

    question: Question
    sql: str
    gold: str


class Cases(Closing):
    """Prepares cases of a dataset for a judge."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self._turns = {turn.id: turns[:place] for turns in dataset.interactions for place, turn in enumerate(turns)}
        self._open: tuple[str | Path, Database] | None = None

    def close(self) -> None:
        """See `Closing`."""
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def task(self, case: Case) -> JudgeTask:
        """What is put to a judge, the answer first.

        Earlier turns have their gold queries: whoever asked has seen their results. All SQL is in the regular form, so
        that how it is written does not tell where it comes from.

        Raises:
            DatabaseUnavailable: There is no such database.
        """
        question = case.question
        database = self._database(question.database)
        schema = database.schema()
        history = tuple(
            PastTurn(turn.text, sql=_regular(turn.golds[0], database)) for turn in self._turns.get(question.id, ())
        )
        answer_sql, gold_sql = whole_operators(case.sql), whole_operators(case.gold)
        answer, gold = (_run(database, sql) for sql in (answer_sql, gold_sql))
        tables = sorted(requested(schema, answer_sql) | requested(schema, gold_sql))
        return JudgeTask(
            question=question.text,
            history=history,
            schema=schema,
            first=_exhibit(_regular(answer_sql, database), answer, gold),
            second=_exhibit(_regular(gold_sql, database), gold, answer),
            evidence=question.evidence,
            data=tuple((name, _preview(database, name)) for name in tables[:_TABLES]),
        )

    def _database(self, name: str) -> Database:
        """One database is open at a time: cases come database by database."""
        place = self._dataset.place(name)
        if self._open is None or self._open[0] != place:
            self.close()
            self._open = (place, Database.open(place))
        return self._open[1]


def csv_text(columns: Sequence[str], rows: Sequence[Sequence[Cell]]) -> str:
    """Rows as CSV in which text stands in quotes, so that spaces around it and numbers kept as text are seen."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC, lineterminator="\n")
    csv.writer(out, lineterminator="\n").writerow(columns)
    for row in rows:
        writer.writerow(["NULL" if cell is None else cell for cell in row])
    return out.getvalue().replace('"NULL"', "NULL")


def _exhibit(sql: str, result: Table | QueryError, other: Table | QueryError) -> Exhibit:
    if isinstance(result, QueryError):
        return Exhibit(sql, str(result), None)
    only = [] if isinstance(other, QueryError) else _lacked(result, other)
    return Exhibit(
        sql,
        csv_text(result.columns, result.rows[:SHOWN_ROWS]),
        len(result.rows),
        csv_text(result.columns, only[:_LACKED_ROWS]) if only else "",
    )


def _lacked(result: Table, other: Table) -> list[tuple[Cell, ...]]:
    """Rows that the other result lacks; none where it has other columns, or all of them are seen anyway."""
    if len(result.columns) != len(other.columns) or max(len(result.rows), len(other.rows)) <= SHOWN_ROWS:
        return []
    return list((Counter(result.rows) - Counter(other.rows)).elements())


def _run(database: Database, sql: str) -> Table | QueryError:
    try:
        return database.execute(sql, _LIMITS)
    except QueryError as error:
        return error


def _preview(database: Database, table: str) -> str:
    rows = _run(database, f"SELECT * FROM {quoted(table, database.dialect)} LIMIT {_TABLE_ROWS}")
    return "" if isinstance(rows, QueryError) else csv_text(rows.columns, rows.rows)


def _regular(sql: str, database: Database) -> str:
    try:
        return regularize(sql, database.schema())
    except SQLParseError:
        return sql
