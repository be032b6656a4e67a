"""Judging the answers of a trial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from ...tools.database import Database, Limits, Table
from ...tools.errors import QueryError
from ..datasets import Question
from ..metrics.expected import Expected, expected
from ..runner.record import TurnRecord
from .accept import holds_value, missing_columns
from .question import TrialTurn

_LIMITS = Limits(seconds=30.0, rows=200_000, result_bytes=200_000_000)

_DID = {
    "needs_clarification": "it asked back",
    "unanswerable": "it declined",
    "failed": "it failed",
}


@dataclass(frozen=True)
class TrialVerdict:
    """What to make of one answer.

    Attributes:
        passed: Whether it is accepted; None where the model could not be asked.
        why: Why it is not accepted; empty where it is.
        broken: Whether the question is at fault: none of its own queries runs.
    """

    passed: bool | None
    why: str = ""
    broken: bool = False


class TrialJudge:
    """Judges by what each question accepts; queries run on the database as it is now.

    Args:
        place: The database.
        turns: What is accepted, by the question's id in the run.
    """

    def __init__(self, place: str | Path, turns: Mapping[str, TrialTurn]) -> None:
        self._place = place
        self._turns = turns
        self._database: Database | None = None
        self._expected = lru_cache(64)(self._run_accepted)

    def judge(self, question: Question, record: TurnRecord) -> TrialVerdict:
        """See `Judging`."""
        if not record.asked:
            return TrialVerdict(None, f"not asked: {record.text}")
        turn = self._turns[question.id]
        if turn.must == "decline":
            return _verdict("" if record.status == "unanswerable" else f"it must decline, but {_did(record)}")
        if turn.must == "ask_back":
            asked = bool(record.asked_back) or record.status == "needs_clarification"
            if not asked or not (turn.sql or turn.value is not None or turn.rows is not None or turn.columns):
                return _verdict("" if asked else f"it must ask back, but {_did(record)}")
        if not record.sql or record.status in _DID:
            return _verdict(f"{_did(record)}: {record.text}")
        try:
            table = self._open().execute(record.sql, _LIMITS)
        except QueryError as error:
            return _verdict(f"its query does not run: {error}")
        return self._accepts(turn, table)

    def close(self) -> None:
        """See `Judging`."""
        if self._database is not None:
            self._database.close()

    def _accepts(self, turn: TrialTurn, table: Table) -> TrialVerdict:
        if turn.sql:
            outcomes = [self._expected(sql) for sql in turn.sql]
            wanted = [outcome for outcome in outcomes if isinstance(outcome, Expected)]
            if not wanted:
                return TrialVerdict(False, f"the question's own query does not run: {outcomes[0]}", broken=True)
            if not any(outcome.allows(table) for outcome in wanted):
                return _verdict(_difference(wanted[0].table, table))
        if turn.quantity is not None and not holds_value(turn.quantity, table.rows):
            found = ", ".join(map(str, table.rows[0][:5])) if len(table.rows) == 1 else _rows(table)
            return _verdict(f"it must be {turn.value}, not {found}")
        if turn.count is not None and not turn.count.holds(len(table.rows), table.truncated):
            return _verdict(f"it must have {turn.count} rows, not {len(table.rows)}")
        if missing := missing_columns(turn.columns, table.columns):
            return _verdict(f"it lacks the column {missing[0]}; it has {', '.join(table.columns)}")
        return TrialVerdict(True)

    def _run_accepted(self, sql: str) -> Expected | QueryError:
        try:
            return expected(self._open(), sql)
        except QueryError as error:
            return error

    def _open(self) -> Database:
        if self._database is None:
            self._database = Database.open(self._place)
        return self._database


def _verdict(why: str) -> TrialVerdict:
    return TrialVerdict(not why, why)


def _did(record: TurnRecord) -> str:
    return _DID.get(record.status, "it answered")


def _rows(table: Table) -> str:
    return f"{len(table.rows)}{' or more' if table.truncated else ''} row{'' if len(table.rows) == 1 else 's'}"


def _difference(wanted: Table, table: Table) -> str:
    if len(wanted.rows) != len(table.rows):
        return f"it gives {_rows(table)}, not {len(wanted.rows)}"
    if len(wanted.columns) != len(table.columns):
        columns = f"{len(table.columns)} column{'' if len(table.columns) == 1 else 's'}"
        return f"it gives {columns} ({', '.join(table.columns[:6])}), not {len(wanted.columns)}"
    return "it gives other values, or another order, than the accepted query"
